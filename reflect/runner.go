// Package hreflect turns closed sessions into memories, in the background:
// each session's new part is looked back at at least once and takes effect
// exactly once.
//
// Call [New], then [Runner.Run] in a goroutine of its own until the process
// ends. Run finds sessions that are due (idle, or long), queues them, claims
// jobs with a lease and works them with few workers. The queue is the store's:
// [Runner.Wake] only says that it is worth looking now. What a session taught
// is decided by extract, what becomes of it by lifecycle; this package owns
// the time, the calls and the failures:
//
//   - a call that may succeed later is retried with exponential backoff, one
//     that can't, or has failed too often, ends as a dead letter, and the
//     session gets what rules can find;
//   - a 429 lets every job of that credential rest for as long as the provider
//     asks, and so do figures of its rate that run short, whoever was told them
//     ([Runner.Answered]);
//   - a tenant's reflection costs a share of what the tenant sends through us
//     ([Runner.Sent]); beyond it, rules do;
//   - without a credential a job waits for the caller's next request, and after
//     a week gets what rules can find;
//   - small sessions of one owner that have gone idle share one call;
//   - where nothing is new, nobody is asked.
//
// It isn't on the request path and knows nothing of it.
package hreflect

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// Runner works the reflection queue.
type Runner struct {
	cfg   Config
	store Store
	creds Credentials
	model Model
	log   *slog.Logger
	met   *metrics
	claim string // names this runner in the leases that it holds
	wake  chan struct{}
	heard chan asked // what users ask for, to be done at once

	// settle lets one job at a time compare with a person's memories and write.
	// Model calls are made outside it.
	settle settling
	gate   *gate

	rests    rests
	budget   *budget
	familiar familiar // what writes are compared with
}

// New makes a runner. The error names every field of cfg that can't be used.
func New(cfg Config, st Store, creds Credentials, model Model) (*Runner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	return &Runner{
		cfg: cfg, store: st, creds: creds, model: model, log: cfg.Log,
		met: newMetrics(cfg.Reg), claim: rand.Text(), gate: newGate(cfg.Busy), wake: make(chan struct{}, 1), budget: newBudget(cfg, st),
		heard: make(chan asked, heardAtOnce), familiar: familiar{store: st},
	}, nil
}

// wakeGap is the shortest time between two looks that [Runner.Wake] asks for.
const wakeGap = 200 * time.Millisecond

// Wake makes the runner look at the queue now, and for sessions that are due,
// which it does at most five times a second. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Run works until ctx ends and returns when every worker has stopped. A job
// that was being worked then is given back, or its lease expires.
func (r *Runner) Run(ctx context.Context) {
	var workers sync.WaitGroup
	defer workers.Wait()
	workers.Go(func() { r.listen(ctx) })
	tick := time.NewTicker(r.cfg.Tick)
	defer tick.Stop()
	free := make(chan struct{}, r.cfg.Workers)
	busy := 0
	start := func() {
		for busy < r.cfg.Workers && ctx.Err() == nil {
			j, ok, err := r.store.Claim(ctx, r.claim, r.cfg.Lease)
			if err != nil {
				r.trouble("claim a reflection", err)
				return
			}
			if !ok {
				return
			}
			// Its mates at once: the next worker would take one of them alone.
			jobs := append([]store.Job{j}, r.mates(ctx, j)...)
			busy++
			workers.Go(func() {
				r.work(ctx, jobs)
				free <- struct{}{}
			})
		}
	}
	workers.Go(func() { r.promoteAll(ctx) })
	more := r.look(ctx)
	start()
	soon := time.NewTimer(wakeGap) // a look that was put off
	defer soon.Stop()
	looked, putOff := time.Now(), false
	for {
		look := false
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			look = true
		case <-r.wake:
			if more && busy == r.cfg.Workers {
				continue // more would only wait in the queue
			}
			if since := time.Since(looked); since >= wakeGap {
				look = true
			} else if !putOff {
				putOff = true
				soon.Reset(wakeGap - since)
			}
		case <-soon.C:
			look = putOff
		case <-free:
			busy--
		}
		if look {
			more = r.look(ctx)
			looked, putOff = time.Now(), false
		}
		start()
		if more && !putOff && busy < r.cfg.Workers { // the queue has run dry, and there are sessions for it
			putOff = true
			soon.Reset(wakeGap)
		}
	}
}

// queuedAtOnce bounds the sessions that one look queues.
const queuedAtOnce = 128

// look queues the sessions that have been due for longest and takes back jobs
// whose credential has come. It says whether there are more that are due.
func (r *Runner) look(ctx context.Context) (more bool) {
	now := r.cfg.Now()
	if err := r.budget.save(ctx, now); err != nil {
		r.trouble("note what tenants sent", err)
	}
	due, err := r.store.Due(ctx, now.Add(-r.cfg.Idle), r.cfg.Tick, r.cfg.Tokens)
	if err != nil {
		r.trouble("find due sessions", err)
		return false
	}
	more = len(due) > queuedAtOnce
	var queue []store.Due
	for _, s := range due[:min(len(due), queuedAtOnce)] {
		trigger := store.TriggerTokens
		switch {
		case s.State == store.Closed:
			trigger = store.TriggerExplicit
		case s.LastSeen.Before(now.Add(-r.cfg.Idle)):
			trigger = store.TriggerIdle
		}
		queue = append(queue, store.Due{Owner: s.Owner, Session: s.ID, Trigger: trigger})
	}
	if err := r.store.EnqueueDue(ctx, queue); err != nil {
		r.trouble("queue sessions", err)
		return false
	}
	if r.cfg.Key != "" || r.cfg.Base != "" {
		return more // nobody waits for a caller's credential
	}
	waiting, err := r.store.Jobs(ctx, store.WaitingForKey)
	if err != nil {
		r.trouble("list waiting reflections", err)
		return more
	}
	for _, j := range waiting {
		_, value, ok := r.creds.Credential(j.Session)
		if !ok || !r.rests.resting(llm.Endpoint{Value: value}, now).IsZero() {
			continue
		}
		if _, err := r.store.Requeue(ctx, j.ID); err != nil {
			r.trouble("wake a waiting reflection", err)
		}
	}
	return more
}

// trouble notes that the store didn't do something. The next tick tries again;
// while memory is off that is no news.
func (r *Runner) trouble(what string, err error) {
	if off := (*store.Off)(nil); errors.As(err, &off) || errors.Is(err, context.Canceled) {
		r.log.Debug("reflection waits", "doing", what, "error", err)
		return
	}
	r.log.Warn("reflection is in trouble", "doing", what, "error", err)
}
