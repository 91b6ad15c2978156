package console

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"hindsight/store"
)

// The spans that charts can show, and how many samples each keeps: an hour at
// the sampling interval of 15 s, a day at 24 times that.
const (
	kept   = 241
	coarse = 24
)

// past is the bounded history of the metrics: some 200 KB, gone with the process.
type past struct {
	from  prometheus.Gatherer
	every time.Duration
	now   func() time.Time

	mu    sync.Mutex
	taken int
	fine  []sample // the last hour
	wide  []sample // the last day
}

// sample is what the metrics said at a time. A counter goes by its name and the
// values of its labels: hindsight_recalls_total/injected.
type sample struct {
	at      time.Time
	values  map[string]float64
	buckets map[string][]bucket // of histograms, cumulative
}

type bucket struct{ upTo, count float64 }

func newPast(from prometheus.Gatherer, every time.Duration, now func() time.Time) *past {
	return &past{from: from, every: every, now: now}
}

// sample takes one.
func (p *past) sample() {
	s, ok := p.look()
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fine = keep(p.fine, s)
	if p.taken%coarse == 0 {
		p.wide = keep(p.wide, s)
	}
	p.taken++
}

func keep(all []sample, s sample) []sample {
	if len(all) >= kept {
		all = append(all[:0:0], all[len(all)-kept+1:]...)
	}
	return append(all, s)
}

// samples are those of the last hour or, wide, of the last day, up to now.
func (p *past) samples(wide bool) []sample {
	s, ok := p.look()
	p.mu.Lock()
	defer p.mu.Unlock()
	all := p.fine
	if wide {
		all = p.wide
	}
	all = append([]sample(nil), all...)
	if ok && (len(all) == 0 || s.at.After(all[len(all)-1].at)) {
		all = append(all, s)
	}
	return all
}

// span is how long the samples of a chart reach back at most.
func (p *past) span(wide bool) time.Duration {
	if wide {
		return (kept - 1) * coarse * p.every
	}
	return (kept - 1) * p.every
}

// look reads the metrics as they are.
func (p *past) look() (sample, bool) {
	s := sample{at: p.now(), values: map[string]float64{}, buckets: map[string][]bucket{}}
	if p.from == nil {
		return s, false
	}
	families, _ := p.from.Gather() // what could be gathered is there beside the error
	for _, f := range families {
		name := f.GetName()
		if !watched(name) {
			continue
		}
		for _, m := range f.GetMetric() {
			id := name
			for _, l := range m.GetLabel() {
				id += "/" + l.GetValue()
			}
			s.values[id] = m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetHistogram().GetSampleSum()
			if h := m.GetHistogram(); h != nil {
				s.buckets[id] = cumulative(h)
			}
		}
	}
	return s, len(s.values) > 0
}

func cumulative(h *dto.Histogram) []bucket {
	var out []bucket
	for _, b := range h.GetBucket() {
		out = append(out, bucket{b.GetUpperBound(), float64(b.GetCumulativeCount())})
	}
	return append(out, bucket{math.Inf(1), float64(h.GetSampleCount())})
}

// watched says whether the charts are made of a metric.
func watched(name string) bool {
	switch strings.TrimPrefix(name, store.Product+"_") {
	case "requests_total", "recalls_total", "recall_seconds", "added_seconds",
		"injected_tokens_total", "carried_tokens", "upstream_prompt_tokens_total", "upstream_cached_tokens_total",
		"reflection_jobs", "store_on":
		return true
	}
	return false
}

// perMinute is how fast a counter has grown between two samples; NaN where it
// can't be said, as after a restart of what counts.
func perMinute(a, b sample, ids ...string) float64 {
	n := 0.0
	for _, id := range ids {
		n += b.values[id] - a.values[id]
	}
	minutes := b.at.Sub(a.at).Minutes()
	if minutes <= 0 || n < 0 {
		return math.NaN()
	}
	return n / minutes
}

// quantile is that of what a histogram observed between two samples, NaN of
// nothing. Inside a bucket it is taken as evenly spread, as PromQL does.
func quantile(q float64, a, b sample, id string) float64 {
	now, before := b.buckets[id], a.buckets[id]
	if len(now) == 0 {
		return math.NaN()
	}
	seen := func(i int) float64 {
		if len(before) == len(now) {
			return now[i].count - before[i].count
		}
		return now[i].count
	}
	all := seen(len(now) - 1)
	if all <= 0 {
		return math.NaN()
	}
	rank, low, under := q*all, 0.0, 0.0
	for i, n := range now {
		if c := seen(i); c >= rank {
			if math.IsInf(n.upTo, 1) {
				return low
			}
			return low + (n.upTo-low)*(rank-under)/(c-under)
		}
		low, under = n.upTo, seen(i)
	}
	return low
}
