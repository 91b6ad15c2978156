package session

import (
	"context"

	"hindsight/proxy/session/clients"
	"hindsight/store"
)

// How a session was found, for the metric.
const (
	byRetry    = "retry"
	bySignal   = "signal"
	byResponse = "response"
	byCacheKey = "cache_key"
	byGrowth   = "growth"
	byAnchor   = "anchor"
	byChain    = "chain"
	byNothing  = "new"
)

// ways are all of them.
var ways = []string{byRetry, bySignal, byResponse, byCacheKey, byGrowth, byAnchor, byChain, byNothing}

// locate finds the request's session, joins it and gives the exchange its id.
func (k *Tracker) locate(ctx context.Context, t *Turn, in Incoming, sig signals, r *reading) error {
	w := t.work
	body := w.body

	k.mu.Lock()
	a := k.retried(body, retryCount(in.Header) > 0, t.Received)
	if a != nil {
		w.attempt, w.try = k.try(a, body, a.session, t.Received)
		w.grown, w.heard = a.grown, a.heard
	}
	k.mu.Unlock()

	if k.cfg.Others != nil && a == nil {
		if err := k.consult(ctx, t, sig, r); err != nil {
			return err
		}
	}
	l, how, err := k.find(ctx, t, sig, r)
	if err == nil && how == bySignal {
		k.inSession(t, in, l, r)
	}
	if err != nil || t.Side {
		k.leave(w)
		return err
	}
	k.mu.Lock()
	if w.live == nil {
		k.join(w, l)
	}
	l = w.live
	if l.external == "" && !l.begun {
		switch {
		case how == byCacheKey:
			l.external = sig.cacheKey
		case sig.external != l.id:
			l.external = sig.external
		}
	}
	if l.parent == "" && sig.child {
		l.parent = t.Parent
	}
	if w.attempt == nil {
		w.attempt, w.try = k.try(nil, body, l.id, t.Received)
		w.attempt.grown, w.attempt.continues, w.attempt.heard = w.grown, l.answered, w.heard
	}
	begun := l.begun
	t.Session, t.External, t.Parent, t.Exchange = l.id, l.external, l.parent, w.attempt.exchange
	k.mu.Unlock()
	t.begins = how == byNothing
	t.Child, t.Retry = sig.child || t.Parent != "", a != nil
	k.m.found[how].Inc()
	if err := k.crowded(ctx, t, l); err != nil {
		return err
	}
	k.runaway(t, begun)
	return nil
}

// join counts a request in a session, which stays in memory from now on until
// the request has ended. The caller holds mu.
func (k *Tracker) join(w *work, l *live) {
	if now, ok := k.live.get(l.id); ok {
		l = now // it was pushed out and has been loaded again
	} else {
		k.live.put(l.id, l)
	}
	w.live = l
	l.flying++
}

// leave undoes what a request that isn't tracked after all has joined.
func (k *Tracker) leave(w *work) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.live != nil {
		w.live.flying--
		w.live = nil
	}
	if w.attempt != nil {
		w.attempt.over(w.try, false, k.cfg.Now())
		w.attempt = nil
	}
}

// inSession asks the one rule for side calls that looks at the session.
func (k *Tracker) inSession(t *Turn, in Incoming, l *live, r *reading) {
	k.mu.Lock()
	facts := clients.SessionFacts{
		Explicit: true, HadTools: l.tools, OtherSystem: l.begun && l.system != (store.Hash{}) && l.system != r.system,
	}
	k.mu.Unlock()
	if rule := k.rules.SideCallInSession(in.Req, facts); rule != "" {
		k.aside(t, rule)
	}
}

// crowded turns memory off for a nameless request that opens one session too
// many: so many at once aren't one person's.
func (k *Tracker) crowded(ctx context.Context, t *Turn, l *live) error {
	w := t.work
	if !w.implied {
		return nil
	}
	k.mu.Lock()
	fresh := !l.begun
	n := k.openCount(t.Owner.Tenant, t.Received)
	k.mu.Unlock()
	if !fresh {
		return nil
	}
	stored, err := k.st.OpenSessions(ctx, t.Owner)
	if err == nil && max(n, stored) >= MaxImplied {
		k.endImplied(w.tenantFacts[1], tooMany)
		t.Off, t.Session, t.Exchange = noUser, "", ""
	}
	if err != nil || t.Off != "" {
		k.leave(w)
	}
	return err
}
