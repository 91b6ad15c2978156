package badgerdb

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// metrics of the store. Labels are closed sets: 4 kinds of items, 4 reasons to
// drop them, 4 states of a job.
type metrics struct {
	journalled prometheus.Counter
	dropped    *prometheus.CounterVec
	lag        prometheus.Gauge
	commit     prometheus.Histogram
	free       prometheus.Gauge
	lost       prometheus.Counter
}

func newMetrics(reg prometheus.Registerer, s *Store) (*metrics, error) {
	m := &metrics{
		journalled: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hindsight_journal_exchanges_total", Help: "Ended exchanges that are on disk."}),
		dropped: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "hindsight_journal_dropped_total", Help: "What was handed over and not recorded."}, []string{"kind", "reason"}),
		lag: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hindsight_journal_lag_seconds", Help: "From handing over to being on disk, of the oldest item in the last commit."}),
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "hindsight_journal_commit_seconds", Help: "Length of a group commit.", Buckets: prometheus.ExponentialBuckets(0.001, 2, 12)}),
		free: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "hindsight_store_free_bytes", Help: "Free space under the data directory."}),
		lost: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "hindsight_store_lost_total", Help: "Times that an opening of the directory found committed data to be lost by damage."}),
	}
	// From the start, so that the first drop is an increase too.
	for _, kind := range []string{itemBegin, itemFinish, itemLedger, itemWhy} {
		for _, reason := range []string{dropFull, dropOff, dropSpace, dropOther} {
			m.dropped.WithLabelValues(kind, reason)
		}
	}
	if reg == nil {
		return m, nil
	}
	all := []prometheus.Collector{m.journalled, m.dropped, m.lag, m.commit, m.free, m.lost,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "hindsight_journal_queue_bytes", Help: "What waits to be written."},
			func() float64 { return float64(s.journal.waiting()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "hindsight_store_on", Help: "1 while the store can be used, 0.5 while nothing is recorded, else 0."},
			func() float64 {
				switch on, reason := s.State(); {
				case !on:
					return 0
				case reason != "":
					return 0.5
				}
				return 1
			}),
	}
	if s.cfg.Share {
		all = append(all,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "hindsight_outbox_depth", Help: "Changes that wait to be delivered to the shared memory."},
				func() float64 { n, _ := s.OutboxDepth(); return float64(n) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "hindsight_outbox_lag_seconds", Help: "Since when the oldest of them waits."},
				func() float64 {
					if _, oldest := s.OutboxDepth(); !oldest.IsZero() {
						return s.now().Sub(oldest).Seconds()
					}
					return 0
				}))
	}
	for _, state := range []store.JobState{store.Queued, store.Running, store.WaitingForKey, store.Dead} {
		labels := prometheus.Labels{"state": string(state)}
		all = append(all,
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "hindsight_reflection_jobs", Help: "Jobs in the reflection queue.", ConstLabels: labels},
				func() float64 { n, _ := s.jobsIn(state); return float64(n) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: "hindsight_reflection_oldest_seconds", Help: "Age of the oldest job in the reflection queue.", ConstLabels: labels},
				func() float64 { _, age := s.jobsIn(state); return age.Seconds() }))
	}
	var errs []error
	for _, c := range all {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

// jobsIn counts the jobs in a state and tells the age of the oldest.
func (s *Store) jobsIn(state store.JobState) (n int, age time.Duration) {
	now := s.now()
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, j := range s.mem.jobs {
		if j.State == state {
			n++
			age = max(age, now.Sub(j.Created))
		}
	}
	return n, age
}

func (m *metrics) drop(kind, reason string) { m.dropped.WithLabelValues(kind, reason).Inc() }

func (m *metrics) committed(start, oldest time.Time) {
	now := time.Now()
	m.commit.Observe(now.Sub(start).Seconds())
	m.lag.Set(now.Sub(oldest).Seconds())
}
