package hreflect

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// metrics of reflection; the queue's depth and age are the store's. Labels are
// words of this program: kinds of error, changes, reasons, some thirty in all.
type metrics struct {
	calls   *prometheus.CounterVec
	seconds prometheus.Histogram
	tokens  *prometheus.CounterVec
	dead    prometheus.Counter
	unasked *prometheus.CounterVec
	written *prometheus.CounterVec
	dropped *prometheus.CounterVec
	verdict *prometheus.CounterVec
	asked   *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: store.Product + "_reflect_" + name, Help: help}, labels)
	}
	m := &metrics{
		calls:   counter("calls_total", "Model calls.", "result"),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: store.Product + "_reflect_call_seconds", Help: "Time of a model call.", Buckets: prometheus.ExponentialBuckets(0.25, 2, 11)}),
		tokens:  counter("tokens_total", "Tokens of model calls by the server's count.", "direction"),
		dead:    prometheus.NewCounter(prometheus.CounterOpts{Name: store.Product + "_reflect_dead_letters_total", Help: "Reflections that were given up."}),
		unasked: counter("unasked_total", "Sessions that got what rules find because no model could be asked.", "reason"),
		written: counter("memories_total", "What became of statements: new, revised (a memory's fuller form), superseded (what no longer holds), duplicate (known already, its evidence joined).", "change"),
		dropped: counter("dropped_total", "Statements that reflection threw away.", "reason"),
		verdict: counter("verdicts_total", "What reflection said of injected memories.", "verdict"),
		asked:   counter("asked_total", "What users asked for in a conversation: memories noted and forgotten at once, and requests to forget everything, which the command line does.", "what"),
	}
	if reg != nil {
		reg.MustRegister(m.calls, m.seconds, m.tokens, m.dead, m.unasked, m.written, m.dropped, m.verdict, m.asked)
	}
	return m
}

func (m *metrics) called(err error, took time.Duration, a llm.Answer) {
	result := "ok"
	var e *llm.Error
	if errors.As(err, &e) {
		result = string(e.Kind)
	} else if err != nil {
		result = "error"
	}
	m.calls.WithLabelValues(result).Inc()
	m.seconds.Observe(took.Seconds())
	m.tokens.WithLabelValues("input").Add(float64(a.Input))
	m.tokens.WithLabelValues("output").Add(float64(a.Output))
}

func (m *metrics) applied(out store.Outcome, done store.Job) {
	for _, x := range out.Memories {
		switch {
		case x.State == store.Superseded:
			m.written.WithLabelValues("superseded").Inc()
		case x.Revision == 0:
			m.written.WithLabelValues("new").Inc()
		}
	}
	m.written.WithLabelValues("revised").Add(float64(out.Revised))
	m.written.WithLabelValues("duplicate").Add(float64(out.Merged))
	for _, d := range done.Dropped {
		m.dropped.WithLabelValues(d.Reason).Inc()
	}
	for _, v := range out.Verdicts {
		m.verdict.WithLabelValues(v.Verdict).Inc()
	}
}
