package admin

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"hindsight/proxy/admin/trial"
	"hindsight/store"
)

const (
	// countEvery is how often all memories and sessions are counted for /metrics.
	countEvery = time.Minute
	// countShare bounds what counting takes of the time: a large store is counted
	// less often.
	countShare = 50
	// countSlow is from when on counting is too slow to be done while somebody
	// waits: they get the last count.
	countSlow = 50 * time.Millisecond
)

// count is what a tenant's memories and sessions come to at a time.
type count struct {
	figures store.Figures
	trials  store.Trials
	at      time.Time
	took    time.Duration
}

// keeper counts, and remembers what is slow to count.
type keeper struct {
	store Counter
	now   func() time.Time

	mu   sync.Mutex
	last map[string]count

	ages, trialSessions, trialMean, trialDifference *prometheus.GaugeVec
}

// newKeeper has no label whose values grow: groups of ages, two groups of
// sessions, four figures, three bounds.
func newKeeper(st Counter, now func() time.Time, reg prometheus.Registerer) *keeper {
	with := promauto.With(reg)
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		return with.NewGaugeVec(prometheus.GaugeOpts{Name: store.Product + "_" + name, Help: help}, labels)
	}
	return &keeper{
		store: st, now: now, last: map[string]count{},
		ages:            gauge("memories_by_age", "Live memories by age in days: up to so many, and not in a younger group.", "days"),
		trialSessions:   gauge("trial_sessions", "Sessions that are compared, with memory and held out.", "group"),
		trialMean:       gauge("trial_mean", "Mean of a figure per session, with memory and held out.", "group", "figure"),
		trialDifference: gauge("trial_difference", "Mean with memory less the mean held out, and its 95 % confidence bounds.", "figure", "bound"),
	}
}

// of counts a tenant, or says what it came to when it was last counted.
func (k *keeper) of(ctx context.Context, tenant string) (count, error) {
	k.mu.Lock()
	c, ok := k.last[tenant]
	k.mu.Unlock()
	if ok && c.took > countSlow && k.now().Sub(c.at) < 2*max(countEvery, countShare*c.took) {
		return c, nil
	}
	return k.count(ctx, tenant)
}

func (k *keeper) count(ctx context.Context, tenant string) (c count, err error) {
	began := time.Now()
	if c.figures, err = k.store.Figures(ctx, tenant); err != nil {
		return c, err
	}
	if c.trials, err = k.store.Trials(ctx, tenant); err != nil {
		return c, err
	}
	c.at, c.took = k.now(), time.Since(began)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last[tenant] = c
	return c, nil
}

// run counts all tenants again and again until ctx ends.
func (k *keeper) run(ctx context.Context, tenants func(context.Context) ([]store.Tenant, error), fault func(error)) {
	for {
		took, err := k.all(ctx, tenants)
		if err != nil && ctx.Err() == nil {
			fault(err)
		}
		wait := max(countEvery, countShare*took)
		if took == 0 {
			wait = 2 * time.Second // the store is opening, or nothing has come yet
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
	}
}

// all counts every tenant once, for /metrics together.
func (k *keeper) all(ctx context.Context, tenants func(context.Context) ([]store.Tenant, error)) (took time.Duration, err error) {
	list, err := tenants(ctx)
	if err != nil {
		return 0, err
	}
	ages := map[int]int{}
	var both store.Trials
	counted := map[string]bool{}
	for _, t := range list {
		c, err := k.count(ctx, t.ID)
		if err != nil {
			return took, err
		}
		took += c.took
		counted[t.ID] = true
		for _, g := range c.figures.Ages {
			ages[g.Days] += g.Memories
		}
		both.With.Join(c.trials.With)
		both.Without.Join(c.trials.Without)
	}
	k.mu.Lock()
	for t := range k.last {
		if !counted[t] {
			delete(k.last, t)
		}
	}
	k.mu.Unlock()
	for _, days := range store.AgeGroups() {
		name := "older"
		if days > 0 {
			name = strconv.Itoa(days)
		}
		k.ages.WithLabelValues(name).Set(float64(ages[days]))
	}
	k.show(both)
	return took, nil
}

// show puts a comparison into the gauges; without sessions there are none.
func (k *keeper) show(t store.Trials) {
	if t.With.Turns.N+t.Without.Turns.N == 0 {
		return
	}
	c := trial.Compare(t)
	with, without := string(store.TrialWith), string(store.TrialWithout)
	k.trialSessions.WithLabelValues(with).Set(float64(c.With))
	k.trialSessions.WithLabelValues(without).Set(float64(c.Without))
	for _, f := range c.Figures {
		k.trialMean.WithLabelValues(with, f.Name).Set(f.With)
		k.trialMean.WithLabelValues(without, f.Name).Set(f.Without)
		k.trialDifference.WithLabelValues(f.Name, "mean").Set(f.Difference)
		if f.Low != nil {
			k.trialDifference.WithLabelValues(f.Name, "low").Set(*f.Low)
			k.trialDifference.WithLabelValues(f.Name, "high").Set(*f.High)
		}
	}
}
