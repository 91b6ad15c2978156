package hreflect

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/cenkalti/backoff/v5"

	"hindsight/reflect/extract"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// failed decides what becomes of a job whose work ended with an error: later
// again, or a dead letter.
func (r *Runner) failed(ctx context.Context, j store.Job, err error) error {
	var a *attempt
	if errors.As(err, &a) {
		j.Answered += a.answers
	}
	after, again := r.again(j, err)
	r.log.Warn("reflection failed", "job", j.ID, "attempt", j.Attempts, "again", again, "after", after, "error", err)
	if again {
		return r.store.RetryJob(ctx, j, r.cfg.Now().Add(after), err.Error())
	}
	r.met.dead.Inc()
	if j.Consolidates() {
		return r.store.BuryJob(ctx, j, err.Error()) // nothing has changed, and rules write nothing here
	}
	return r.giveUp(ctx, j, err.Error())
}

// again says whether a job is worth another attempt, and when.
func (r *Runner) again(j store.Job, err error) (after time.Duration, again bool) {
	after = delay(r.cfg.Backoff, r.cfg.MaxBackoff, j.Attempts)
	var e *llm.Error
	if errors.As(err, &e) {
		after = max(after, e.After)
		// A caller's credential may be refused today and renewed tomorrow; a
		// configured one has to be mended by a person.
		borrowed := r.cfg.Key == "" && r.cfg.Base == "" && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden)
		if e.Kind == llm.Permanent && !borrowed {
			return 0, false
		}
	}
	return after, j.Attempts < r.cfg.Attempts
}

// delay is the wait after the nth attempt: exponential with jitter.
func delay(first, most time.Duration, n int) time.Duration {
	b := &backoff.ExponentialBackOff{InitialInterval: first, RandomizationFactor: 0.5, Multiplier: 2, MaxInterval: most}
	b.Reset()
	d := b.NextBackOff()
	for i := 1; i < min(n, 30); i++ {
		d = b.NextBackOff()
	}
	return d
}

// giveUp makes a job a dead letter with its reason for a person to see. The
// session gets what rules can find, so that it goes on from there; where even
// that can't be had, its cursor stays.
func (r *Runner) giveUp(ctx context.Context, j store.Job, reason string) error {
	err := r.guarded(func() error {
		v, err := r.review(ctx, j)
		if err != nil {
			return err
		}
		return r.apply(ctx, j, v, v.rules(), extract.RulesVersion, reason)
	})
	if err == nil {
		return nil
	}
	r.trouble("write what rules found", err)
	return r.store.BuryJob(ctx, j, reason)
}
