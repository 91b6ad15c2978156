package main

import (
	"bytes"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	tracing "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// TestTraces has a real collector's endpoint receive what a request leaves: nothing
// by default, and its spans where traces are on.
func TestTraces(t *testing.T) {
	var mu sync.Mutex
	spans := map[string]*tracing.Span{}
	var raw []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		var got collector.ExportTraceServiceRequest
		if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(b, &got) != nil {
			t.Errorf("%s %v", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()
		raw = append(raw, b...)
		for _, rs := range got.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				for _, s := range ss.Spans {
					spans[s.Name] = s
				}
			}
		}
	}))
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	off := newWorld(t)
	off.send(`{"model":"m1","messages":[{"role":"user","content":"Hello there."}]}`)
	off.stop()
	if len(raw) > 0 {
		t.Errorf("nobody asked for traces, and %d bytes came", len(raw))
	}
	w := newWorld(t, "HINDSIGHT_TRACES=otlp")
	w.remember("local", `"text":"The staging database listens on port 5433.","type":"user_fact"`)
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	r := w.send(`{"model":"m1","messages":[{"role":"user","content":"Which port does the staging database listen on?"}]}`,
		"Traceparent: "+parent)
	if got := w.last().header.Get("Traceparent"); got != parent {
		t.Errorf("the upstream got the parent %q", got)
	}
	w.close(r.session())
	w.stop()
	mu.Lock()
	defer mu.Unlock()
	root := spans["chat"]
	if root == nil || spans["identify"] == nil || spans["recall"] == nil || spans["reflect memories"] == nil {
		t.Fatalf("the spans are %v", spans)
	}
	if string(root.ParentSpanId) != "\xb7\xad\x6b\x71\x69\x20\x33\x31" || string(spans["recall"].ParentSpanId) != string(root.SpanId) {
		t.Errorf("the request's parent is %x, recall's %x", root.ParentSpanId, spans["recall"].ParentSpanId)
	}
	if root.EndTimeUnixNano <= root.StartTimeUnixNano || root.Status.GetCode() == tracing.Status_STATUS_CODE_ERROR || !strings.Contains(root.String(), "injected") {
		t.Errorf("%v", root)
	}
	for _, private := range []string{"5433", "staging", "sk-test", "local"} {
		if strings.Contains(string(raw), private) {
			t.Errorf("the traces hold %q", private)
		}
	}
}

// TestTracesErrors has what goes wrong with traces told in our log, once, without
// keys and without what the collector answered.
func TestTracesErrors(t *testing.T) {
	refuse := true
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if refuse {
			http.Error(w, "the collector's words", http.StatusForbidden)
		}
	}))
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "a-secret-key")
	var std, ours bytes.Buffer
	log.SetOutput(&std)
	defer log.SetOutput(os.Stderr)
	traces, err := newTraces(true, slog.New(slog.NewTextHandler(&ours, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range 4 {
		refuse = n < 2
		_, s := traces.tracer.Start(t.Context(), "chat")
		s.End()
		if err := traces.provider.ForceFlush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	traces.close()
	if std.Len() > 0 {
		t.Errorf("the standard log has %q", &std)
	}
	got := ours.String()
	for _, once := range []string{"level=WARN msg=\"traces are lost", "level=INFO msg=\"traces are taken again", "doing=\"parse headers\""} {
		if strings.Count(got, once) != 1 {
			t.Errorf("%q isn't there once:\n%s", once, got)
		}
	}
	for _, private := range []string{"a-secret-key", "collector's words", srv.URL} {
		if strings.Contains(got, private) {
			t.Errorf("the log holds %q:\n%s", private, got)
		}
	}
}
