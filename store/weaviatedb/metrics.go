package weaviatedb

import "github.com/prometheus/client_golang/prometheus"

// metrics have one label of a dozen values: the name of a call.
type metrics struct {
	seconds *prometheus.HistogramVec
	errors  *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer, d *DB) *metrics {
	m := &metrics{
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "hindsight_weaviate_seconds", Help: "How long calls to Weaviate took.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10},
		}, []string{"call"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hindsight_weaviate_errors_total", Help: "Calls to Weaviate that failed."}, []string{"call"}),
	}
	if reg == nil {
		return m
	}
	up := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "hindsight_weaviate_up", Help: "1 while the shared memory can be used."}, func() float64 {
		if on, _ := d.State(); on {
			return 1
		}
		return 0
	})
	reg.MustRegister(m.seconds, m.errors, up)
	return m
}
