package main

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"hindsight/inject"
	"hindsight/proxy"
	"hindsight/proxy/dialect"
	"hindsight/proxy/session"
	hreflect "hindsight/reflect"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// traces makes OpenTelemetry spans of requests and of reflection's model calls;
// nil where they are off, and then nothing is wrapped. A request's spans are
// made when it has ended, out of times that were noted on the way: they cost it
// nothing. They hold ids of ours, names of models and counts, never a text, a
// user or a key.
type traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	log      *slog.Logger
}

// newTraces sends spans where the variables of OpenTelemetry say
// (OTEL_EXPORTER_OTLP_ENDPOINT, _HEADERS, OTEL_TRACES_SAMPLER …).
func newTraces(on bool, log *slog.Logger) (*traces, error) {
	if !on {
		return nil, nil
	}
	reportTo(log)
	exporter, err := otlptracehttp.New(context.Background())
	if err != nil {
		return nil, fmt.Errorf("export traces: %w", err)
	}
	return exportTraces(exporter, log)
}

func exportTraces(exporter sdktrace.SpanExporter, log *slog.Logger) (*traces, error) {
	named, err := resource.Merge(resource.NewSchemaless(
		attribute.String("service.name", store.Product), attribute.String("service.version", thisBuild().Version),
	), resource.Environment())
	if err != nil {
		return nil, fmt.Errorf("name the traces: %w", err)
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(&told{SpanExporter: exporter, log: log}), sdktrace.WithResource(named))
	return &traces{provider: p, tracer: p.Tracer(store.Product), log: log}, nil
}

// close sends what is left.
func (t *traces) close() {
	if t == nil {
		return
	}
	// Its own time: everything else has ended.
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last traces weren't taken", "error", err)
	}
}

// memory wraps what the proxy asks.
func (t *traces) memory(m proxy.Memory) proxy.Memory {
	if t == nil {
		return m
	}
	r := &tracedRequests{Tracker: m.Tracker, traces: t}
	m.Tracker, m.Planner = r, tracedPlanner{m.Planner, r}
	return m
}

// model wraps what reflection asks.
func (t *traces) model(m hreflect.Model) hreflect.Model {
	if t == nil {
		return m
	}
	return tracedModel{m, t.tracer}
}

// stretch is a piece of time.
type stretch struct{ from, to time.Time }

func since(from time.Time) stretch { return stretch{from, time.Now()} }

// tracedRequests notes when a request's parts began and ended, between its
// identification and its end.
type tracedRequests struct {
	proxy.Tracker
	traces *traces
	open   sync.Map // *session.Turn: *openRequest
	plans  sync.Map // exchange id: stretch
}

type openRequest struct {
	parent   context.Context // whose trace the client's request belongs to
	dialect  string
	identify stretch
	mu       sync.Mutex
	answered time.Time // when the answer's headers came
	status   inject.Status
}

var _ proxy.Tracker = (*tracedRequests)(nil)

// Identify notes the request, if it is one of a memory route.
func (r *tracedRequests) Identify(ctx context.Context, in session.Incoming) *session.Turn {
	began := time.Now()
	t := r.Tracker.Identify(ctx, in)
	if t != nil && in.Dialect != "" {
		r.open.Store(t, &openRequest{
			parent:  propagation.TraceContext{}.Extract(context.Background(), propagation.HeaderCarrier(in.Header)),
			dialect: in.Dialect, identify: since(began),
		})
	}
	return t
}

// Begin notes that an answer has begun.
func (r *tracedRequests) Begin(t *session.Turn, plan inject.Plan) *store.Exchange {
	if v, ok := r.open.Load(t); ok {
		o := v.(*openRequest)
		o.mu.Lock()
		o.answered, o.status = time.Now(), plan.Status
		o.mu.Unlock()
	}
	return r.Tracker.Begin(t, plan)
}

// Finish makes the request's spans.
func (r *tracedRequests) Finish(t *session.Turn, a dialect.Answer, end session.End) *store.Exchange {
	plan, planned := r.plans.LoadAndDelete(t.Exchange)
	if v, ok := r.open.LoadAndDelete(t); ok {
		o := v.(*openRequest)
		o.mu.Lock()
		defer o.mu.Unlock()
		if end.At.IsZero() {
			end.At = time.Now()
		}
		ctx, s := r.traces.tracer.Start(o.parent, o.dialect, trace.WithTimestamp(t.Received), trace.WithSpanKind(trace.SpanKindServer))
		r.child(ctx, "identify", o.identify)
		if planned {
			r.child(ctx, "recall", plan.(stretch))
		}
		if !o.answered.IsZero() {
			s.AddEvent("answer begins", trace.WithTimestamp(o.answered))
		}
		s.SetAttributes(
			attribute.Int("http.response.status_code", end.HTTP), attribute.String("gen_ai.request.model", t.Model),
			attribute.Int("gen_ai.usage.input_tokens", a.Usage.Input), attribute.Int("gen_ai.usage.output_tokens", a.Usage.Output),
			attribute.String("hindsight.exchange", t.Exchange), attribute.String("hindsight.session", t.Session),
			attribute.String("hindsight.end", string(end.Status)), attribute.String("hindsight.status", string(o.status)), attribute.String("hindsight.off", t.Off),
		)
		if end.Status != store.Complete {
			s.SetStatus(codes.Error, string(end.Status))
		}
		s.End(trace.WithTimestamp(end.At))
	}
	return r.Tracker.Finish(t, a, end)
}

func (r *tracedRequests) child(ctx context.Context, name string, at stretch) {
	_, s := r.traces.tracer.Start(ctx, name, trace.WithTimestamp(at.from))
	s.End(trace.WithTimestamp(at.to))
}

// tracedPlanner notes how long recall took.
type tracedPlanner struct {
	proxy.Planner
	requests *tracedRequests
}

// Plan plans.
func (p tracedPlanner) Plan(ctx context.Context, c inject.Conversation) inject.Plan {
	began := time.Now()
	plan := p.Planner.Plan(ctx, c)
	p.requests.plans.Store(c.Exchange, since(began))
	return plan
}

// AtOnce plans without waiting.
func (p tracedPlanner) AtOnce(c inject.Conversation, late bool) (inject.Plan, bool) {
	began := time.Now()
	plan, ok := p.Planner.AtOnce(c, late)
	if ok {
		p.requests.plans.Store(c.Exchange, since(began))
	}
	return plan, ok
}

// tracedModel makes a span of each model call.
type tracedModel struct {
	hreflect.Model
	tracer trace.Tracer
}

// Ask asks.
func (m tracedModel) Ask(ctx context.Context, e llm.Endpoint, q llm.Request) (llm.Answer, error) {
	ctx, s := m.tracer.Start(ctx, "reflect "+strings.TrimPrefix(q.Name, store.Product+"_"), trace.WithSpanKind(trace.SpanKindClient))
	defer s.End()
	a, err := m.Model.Ask(ctx, e, q)
	s.SetAttributes(attribute.String("gen_ai.request.model", e.Model),
		attribute.Int("gen_ai.usage.input_tokens", a.Input), attribute.Int("gen_ai.usage.output_tokens", a.Output))
	if err != nil {
		s.SetStatus(codes.Error, "the call failed") // the error may quote an answer
	}
	return a, err
}
