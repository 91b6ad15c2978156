package index

import (
	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// metrics of one index. The label `from` says what a scope was loaded from:
// snapshot, or memories, which were analysed.
type metrics struct {
	loads *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, x *Index) *metrics {
	m := &metrics{loads: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: store.Product + "_index_loads_total", Help: "Scopes loaded for a search, by what from: snapshot, memories.",
	}, []string{"from"})}
	for _, from := range []string{"snapshot", "memories"} {
		m.loads.WithLabelValues(from)
	}
	gauge := func(name, help string, value func() int) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: store.Product + name, Help: help}, func() float64 {
			x.mu.Lock()
			defer x.mu.Unlock()
			return float64(value())
		})
	}
	if reg != nil {
		reg.MustRegister(m.loads,
			gauge("_index_bytes", "Estimated bytes of all scopes that are loaded.", func() int { return x.used }),
			gauge("_index_scopes", "Scopes that are loaded.", func() int { return len(x.slots) }))
	}
	return m
}
