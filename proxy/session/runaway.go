package session

import (
	"slices"
	"time"

	"hindsight/store"
)

// paused is the word for a scope that gains too many sessions.
const paused = "paused"

// burst is the time in which a scope's sessions are counted.
const burst = time.Hour

// maxBursts is how many scopes are counted at a time, those that began a session
// last.
const maxBursts = 1 << 10

// arrivals are the last sessions that a user's scope gained or would have
// gained, oldest first and as many as are allowed in an hour.
type arrivals struct {
	owner  store.Owner // tenant and user
	at     []time.Time
	paused bool
}

// full says whether one more session is one too many.
func (a *arrivals) full(limit int, now time.Time) bool {
	return len(a.at) >= limit && now.Sub(a.at[len(a.at)-limit]) < burst
}

// add counts one.
func (a *arrivals) add(limit int, now time.Time) {
	if len(a.at) >= limit {
		a.at = slices.Delete(a.at, 0, len(a.at)-limit+1)
	}
	a.at = append(a.at, now)
}

// runaway turns memory off for a request that would begin one session too many
// in its user's scope: a load test, an evaluation or a loop, whose sessions are
// nobody's conversations and would all be reflected. Sessions that have begun go
// on. What is refused counts too, so the pause ends when fewer come, not because
// none are recorded.
func (k *Tracker) runaway(t *Turn, begun bool) {
	limit := k.cfg.PerHour
	if limit <= 0 || begun || t.Child || t.Off != "" {
		return
	}
	now := k.cfg.Now()
	k.mu.Lock()
	a := k.arrivalsOf(t.Owner)
	was := a.paused
	a.paused = a.full(limit, now)
	refused := a.paused
	if refused && !t.Retry {
		a.add(limit, now)
	}
	k.mu.Unlock()
	if !refused {
		return
	}
	if !was {
		k.log.Warn("a scope is paused: it gains too many sessions; send Hindsight-Memory: off with load tests and evaluations, or raise HINDSIGHT_SESSION_PER_HOUR",
			"tenant", t.Owner.Tenant, "scope", string(t.Owner.Scope()), "an_hour", limit)
	}
	t.Off, t.Session, t.Exchange = paused, "", ""
	k.leave(t.work)
}

// gained counts a session that an upstream has accepted. The caller holds mu.
func (k *Tracker) gained(t *Turn, now time.Time) {
	if k.cfg.PerHour > 0 && !t.Child {
		k.arrivalsOf(t.Owner).add(k.cfg.PerHour, now)
	}
}

// arrivalsOf finds the count of an owner's scope. The caller holds mu.
func (k *Tracker) arrivalsOf(o store.Owner) *arrivals {
	o.Agent = "" // it is one user, whichever agent serves them
	a, ok := k.bursts.get(o)
	if !ok {
		a = &arrivals{owner: o}
		k.bursts.put(o, a)
	}
	return a
}

// Paused lists the scopes of a tenant that gain too many sessions now.
func (k *Tracker) Paused(tenant string) []store.Scope {
	now := k.cfg.Now()
	out := []store.Scope{}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.bursts.each(func(a *arrivals) bool {
		if a.owner.Tenant == tenant && a.paused && a.full(k.cfg.PerHour, now) {
			out = append(out, a.owner.Scope())
		}
		return true
	})
	slices.Sort(out)
	return out
}
