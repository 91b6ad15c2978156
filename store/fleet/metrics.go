package fleet

import "github.com/prometheus/client_golang/prometheus"

// metrics of a Fleet. No label has more values than there are words for it in
// this package.
type metrics struct {
	delivered *prometheus.CounterVec // by kind
	failed    prometheus.Counter
	mended    prometheus.Counter
	fetched   *prometheus.CounterVec // by result
	searched  *prometheus.CounterVec // by where
	dropped   prometheus.Counter
	mirrored  prometheus.Gauge
	bytes     prometheus.Gauge
}

func newMetrics(reg prometheus.Registerer) *metrics {
	m := &metrics{
		delivered: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hindsight_fleet_delivered_total", Help: "Changes that the shared memory has taken."}, []string{"kind"}),
		failed:    prometheus.NewCounter(prometheus.CounterOpts{Name: "hindsight_fleet_delivery_failures_total", Help: "Deliveries that failed and are tried again."}),
		mended:    prometheus.NewCounter(prometheus.CounterOpts{Name: "hindsight_fleet_mended_total", Help: "Memories that the shared memory had lost sight of after an interruption, and that were put there again."}),
		fetched:   prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hindsight_fleet_conversations_total", Help: "Conversations that were looked for in the shared memory, by what came of it: found, unknown, late or away."}, []string{"result"}),
		searched:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "hindsight_fleet_recalls_total", Help: "Recalls by where they looked: copy, shared, or old (the copy, because the shared memory is away)."}, []string{"where"}),
		dropped:   prometheus.NewCounter(prometheus.CounterOpts{Name: "hindsight_fleet_dropped_scopes_total", Help: "Scopes that left the local copy to make room."}),
		mirrored:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "hindsight_fleet_copied_scopes", Help: "Scopes that are held here and followed."}),
		bytes:     prometheus.NewGauge(prometheus.GaugeOpts{Name: "hindsight_fleet_copied_bytes", Help: "About what they take."}),
	}
	if reg != nil {
		reg.MustRegister(m.delivered, m.failed, m.mended, m.fetched, m.searched, m.dropped, m.mirrored, m.bytes)
	}
	return m
}
