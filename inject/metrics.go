package inject

import (
	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// metrics of injection. Labels are closed sets: a recall's result (injected,
// none, deadline, store), the four reasons for which what was found need not be
// said, and whether a prefix was kept or changed.
type metrics struct {
	recalls  *prometheus.CounterVec
	degraded prometheus.Counter
	injected prometheus.Counter
	carried  prometheus.Histogram
	seconds  prometheus.Histogram
	spared   *prometheus.CounterVec
	saved    prometheus.Counter
	prefix   *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		recalls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: store.Product + "_recalls_total", Help: "Recalls by result: injected, none, deadline, store.",
		}, []string{"result"}),
		degraded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: store.Product + "_recalls_by_words_total", Help: "Recalls that went by words alone because the question's vector was late or missing.",
		}),
		injected: prometheus.NewCounter(prometheus.CounterOpts{
			Name: store.Product + "_injected_tokens_total", Help: "Estimated tokens of newly injected blocks.",
		}),
		carried: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: store.Product + "_carried_tokens", Help: "Estimated tokens of all blocks in a request that carries any.",
			Buckets: []float64{50, 100, 200, 400, 800, 1600, 2400},
		}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: store.Product + "_recall_seconds", Help: "Time of one recall, search and choice.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .15, .25},
		}),
		spared: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: store.Product + "_recall_spared_total", Help: "Memories that passed the gate and weren't injected because they were said already: duplicate, subject_merged, already_said, evidence_present.",
		}, []string{"reason"}),
		saved: prometheus.NewCounter(prometheus.CounterOpts{
			Name: store.Product + "_recall_spared_tokens_total", Help: "Estimated tokens of the texts of those memories.",
		}),
		prefix: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: store.Product + "_prefix_total", Help: "Requests whose earlier messages had got blocks, by whether all of them stand there again (kept) or not (changed).",
		}, []string{"result"}),
	}
	if reg != nil {
		reg.MustRegister(m.recalls, m.degraded, m.injected, m.carried, m.seconds, m.spared, m.saved, m.prefix)
	}
	return m
}
