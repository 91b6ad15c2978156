package embedding

import (
	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// workerMetrics of one worker.
type workerMetrics struct {
	inUse    prometheus.Gauge
	memories *prometheus.CounterVec
}

func newWorkerMetrics(reg prometheus.Registerer) *workerMetrics {
	m := &workerMetrics{
		inUse: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: store.Product + "_vectors_in_use", Help: "1 while recall goes by vectors too, 0 while by words alone.",
		}),
		memories: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: store.Product + "_memories_embedded_total", Help: "Memories by what became of their embedding: embedded, refused.",
		}, []string{"result"}),
	}
	if reg != nil {
		reg.MustRegister(m.inUse, m.memories)
	}
	return m
}

func (m *workerMetrics) on(is bool) {
	m.inUse.Set(0)
	if is {
		m.inUse.Set(1)
	}
}

func (m *workerMetrics) embedded(n int) { m.memories.WithLabelValues("embedded").Add(float64(n)) }
func (m *workerMetrics) refused()       { m.memories.WithLabelValues("refused").Inc() }
