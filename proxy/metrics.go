package proxy

import (
	"github.com/prometheus/client_golang/prometheus"

	"hindsight/proxy/dialect"
	"hindsight/store"
)

// metrics are the proxy's. Labels are closed lists: two routes, five classes of
// answers, the contract's reason words and "panic".
type metrics struct {
	requests     [2][6]prometheus.Counter // by route and class
	failOpens    *prometheus.CounterVec
	added        prometheus.Histogram
	cleanRetries prometheus.Counter
	inflight     prometheus.Gauge
	gone         prometheus.Counter
	prompt       prometheus.Counter
	cached       prometheus.Counter
	completion   prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) *metrics {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: store.Product + "_requests_total", Help: "Answered requests by route (memory, other) and class of the answer's status.",
	}, []string{"route", "code"})
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: store.Product + "_" + name, Help: help})
	}
	m := &metrics{
		failOpens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: store.Product + "_fail_open_total", Help: "Requests that memory had to let go by, and the reason.",
		}, []string{"reason"}),
		added: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    store.Product + "_added_seconds",
			Help:    "Time from a memory route's headers to its forwarding, the reading of the body included.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .2, .5},
		}),
		cleanRetries: counter("clean_retries_total", "Requests sent again without a block after the upstream refused them."),
		inflight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: store.Product + "_inflight", Help: "Requests that are being answered.",
		}),
		gone:       counter("client_gone_total", "Requests whose client left before the answer's end."),
		prompt:     counter("upstream_prompt_tokens_total", "Prompt tokens as reported by the upstream."),
		cached:     counter("upstream_cached_tokens_total", "Cached prompt tokens as reported by the upstream."),
		completion: counter("upstream_completion_tokens_total", "Completion tokens as reported by the upstream."),
	}
	for i, route := range []string{"other", "memory"} {
		for class, code := range []string{"none", "1xx", "2xx", "3xx", "4xx", "5xx"} {
			m.requests[i][class] = requests.WithLabelValues(route, code)
		}
	}
	m.failOpens.WithLabelValues("panic") // from the start: its first is an alert
	if reg != nil {
		reg.MustRegister(requests, m.failOpens, m.added, m.cleanRetries, m.inflight, m.gone, m.prompt, m.cached, m.completion)
	}
	return m
}

func (m *metrics) request(memory bool, code int) {
	class := code / 100
	if class < 1 || class > 5 {
		class = 0
	}
	route := 0
	if memory {
		route = 1
	}
	m.requests[route][class].Inc()
}

// holds reports how full the room is.
func (m *metrics) holds(reg prometheus.Registerer, r *room) {
	if reg == nil {
		return
	}
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: store.Product + "_held_bytes", Help: "Bytes of request bodies and copies of answers that are held.",
	}, func() float64 { return float64(r.held.Load()) }))
}

func (m *metrics) failOpen(reason string) { m.failOpens.WithLabelValues(reason).Inc() }

func (m *metrics) usage(u dialect.Usage) {
	m.prompt.Add(float64(max(u.Input, 0)))
	m.cached.Add(float64(max(u.Cached, 0)))
	m.completion.Add(float64(max(u.Output, 0)))
}
