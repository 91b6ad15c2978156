package session

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"hindsight/store"
)

// metrics has no label whose values a caller chooses: signals are named by the
// tables, the rest are words of this package.
type metrics struct {
	refused *prometheus.CounterVec        // by signal
	found   map[string]prometheus.Counter // by how
	side    *prometheus.CounterVec        // by rule
	zones   prometheus.Counter
}

func newMetrics(reg prometheus.Registerer) metrics {
	with := promauto.With(reg)
	found := with.NewCounterVec(prometheus.CounterOpts{
		Name: store.Product + "_session_requests_total",
		Help: "Requests with memory by how their session was found.",
	}, []string{"by"})
	m := metrics{
		found: map[string]prometheus.Counter{},
		refused: with.NewCounterVec(prometheus.CounterOpts{
			Name: store.Product + "_identity_signals_refused_total",
			Help: "Values that should name a user or session and can't: unexpanded templates, wrong lengths.",
		}, []string{"signal"}),
		side: with.NewCounterVec(prometheus.CounterOpts{
			Name: store.Product + "_side_calls_total",
			Help: "Requests about a conversation, by the rule that told them.",
		}, []string{"rule"}),
		zones: with.NewCounter(prometheus.CounterOpts{
			Name: store.Product + "_time_zones_refused_total",
			Help: "Time zones in headers that aren't IANA names.",
		}),
	}
	for _, how := range ways { // looking one up for each request costs
		m.found[how] = found.WithLabelValues(how)
	}
	return m
}

// refuse counts a refused signal and names it in the log, without its value.
func (k *Tracker) refuse(signal string) {
	k.m.refused.WithLabelValues(signal).Inc()
	k.log.Debug("refused an identity signal", "signal", signal)
}
