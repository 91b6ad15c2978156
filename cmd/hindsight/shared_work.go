package main

import (
	"context"
	"slices"
	"time"

	hreflect "hindsight/reflect"
	"hindsight/store"
	"hindsight/store/fleet"
)

// work is the store of reflection: where sidecars share a memory, they agree
// who reflects for a user.
func (s *shared) work(l learned, may func(*store.Session) bool) hreflect.Store {
	if s == nil {
		return l
	}
	return agreed{l, s.fleet, may}
}

// agreed gives out work that no other sidecar does. may says whether this one
// could do a session's: who holds its caller's credential comes first.
type agreed struct {
	learned
	fleet *fleet.Fleet
	may   func(*store.Session) bool
}

var (
	_ hreflect.Store   = agreed{}
	_ hreflect.Sharing = agreed{}
)

// putOff is how long a job rests that another sidecar's lease covers, and
// claimsTried how many such are passed over at a time.
const (
	putOff      = 2 * time.Second
	claimsTried = 64
)

// Due lists the sessions of users for whom this sidecar reflects now, as all
// sidecars together know them: one that was spoken in elsewhere isn't idle.
func (a agreed) Due(ctx context.Context, idleBefore time.Time, wait time.Duration, tokens int) ([]store.Session, error) {
	due, err := a.learned.Due(ctx, idleBefore, wait, tokens)
	if due = slices.DeleteFunc(due, func(s store.Session) bool { return !a.may(&s) }); err != nil || len(due) == 0 {
		return due, err
	}
	mine := a.fleet.Take(ctx, due)
	if due, err = a.learned.Due(ctx, idleBefore, wait, tokens); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(due, func(s store.Session) bool { return !mine(s.Owner) || !a.may(&s) }), nil
}

// Claim takes the oldest job that no lease of another keeps from being done.
func (a agreed) Claim(ctx context.Context, claim string, lease time.Duration) (store.Job, bool, error) {
	for range claimsTried {
		j, ok, err := a.learned.Claim(ctx, claim, lease)
		if err != nil || !ok {
			return j, ok, err
		}
		if a.fleet.Holds(j.Owner) {
			a.fleet.Began(j.Owner)
			return j, true, nil
		}
		mine := a.fleet.Take(ctx, []store.Session{{ID: j.Session, Owner: j.Owner}})(j.Owner)
		// What was read for it may say that another has done it.
		now, err := a.Job(ctx, j.ID)
		if err != nil {
			return store.Job{}, false, err
		}
		if now.State != store.Running || now.Claim != claim {
			continue
		}
		if mine {
			a.fleet.Began(j.Owner)
			return now, true, nil
		}
		if err := a.PutJobBack(ctx, now, time.Now().Add(putOff)); err != nil {
			return store.Job{}, false, err
		}
	}
	return store.Job{}, false, nil
}

// ClaimBeside implements hreflect.Queue.
func (a agreed) ClaimBeside(ctx context.Context, j store.Job, lease time.Duration, tokens, most int) ([]store.Job, error) {
	out, err := a.learned.ClaimBeside(ctx, j, lease, tokens, most)
	for range out {
		a.fleet.Began(j.Owner)
	}
	return out, err
}

// The ends of a claim.

// Apply implements hreflect.Verdicts.
func (a agreed) Apply(ctx context.Context, j store.Job, out store.Outcome) (store.Job, error) {
	done, err := a.learned.Apply(ctx, j, out)
	if err == nil {
		a.fleet.Ended(j.Owner)
	}
	return done, err
}

// RetryJob implements hreflect.Verdicts.
func (a agreed) RetryJob(ctx context.Context, j store.Job, at time.Time, reason string) error {
	defer a.fleet.Ended(j.Owner)
	return a.learned.RetryJob(ctx, j, at, reason)
}

// BuryJob implements hreflect.Verdicts.
func (a agreed) BuryJob(ctx context.Context, j store.Job, reason string) error {
	defer a.fleet.Ended(j.Owner)
	return a.learned.BuryJob(ctx, j, reason)
}

// WaitForKey implements hreflect.Verdicts.
func (a agreed) WaitForKey(ctx context.Context, j store.Job, until time.Time, reason string) error {
	defer a.fleet.Ended(j.Owner)
	return a.learned.WaitForKey(ctx, j, until, reason)
}

// mayReflect says whether this process could reflect a session now: it has a key
// of its own or the caller's, or nobody can have the caller's any more.
func (s *stack) mayReflect(idle time.Duration) func(*store.Session) bool {
	cfg := s.cfg
	if cfg.Reflect.Model == hreflect.RulesModel || cfg.Upstream.Key != "" || cfg.Reflect.Base != nil {
		return func(*store.Session) bool { return true }
	}
	held := lent{s.tracker, s.store}
	now := time.Now
	if cfg.Now != nil {
		now = cfg.Now
	}
	return func(x *store.Session) bool {
		if now().Sub(x.LastSeen) > idle+credentialLife {
			return true
		}
		_, _, ok := held.Credential(x.ID)
		return ok
	}
}

// credentialLife is how long a caller's credential is held after its last
// request, with a margin.
const credentialLife = 11 * time.Minute
