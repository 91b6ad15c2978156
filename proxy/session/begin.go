package session

import (
	"strings"

	"hindsight/inject"
	"hindsight/store"
)

// Begin takes note that an upstream has accepted the request (2xx headers) with
// this plan's blocks in it. The record that it returns is the exchange so far;
// nil means that nothing is to be recorded. Call it at most once for a Turn,
// before Finish.
func (k *Tracker) Begin(t *Turn, plan inject.Plan) *store.Exchange {
	w := t.work
	k.accept(t)
	if w.live == nil || w.void || !t.Mode.Records() {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l := w.live
	x := &w.record
	*x = store.Exchange{
		ID: t.Exchange, Session: t.Session, Owner: t.Owner, Started: t.Received,
		Zone: t.Zone.String(), Dialect: w.dialect, Path: w.path, Model: strings.Clone(t.Model),
		System: w.system, Sent: w.sent, Cred: w.shown.hash, Injected: plan.New,
		SessionInfo: store.SessionInfo{ExternalID: l.external, Parent: l.parent, Trial: t.Trial},
	}
	for _, b := range plan.Blocks {
		if !b.Fresh {
			x.Replayed++
		}
	}
	for _, hash := range w.echoed {
		if _, ok := l.echoed[hash]; !ok {
			note(&l.echoed, hash, struct{}{})
			x.Echoed = append(x.Echoed, hash)
		}
	}
	l.claim(t, x)
	return x // and don't change it any more
}

// accept settles, once, what a 2xx answer settles: facts about the tenant, the
// session's existence, the credential.
func (k *Tracker) accept(t *Turn) {
	w := t.work
	k.mu.Lock()
	again := w.begun
	w.begun = true
	k.mu.Unlock()
	if again || w.tenantFacts[0] == "" && !w.claims && w.live == nil {
		return
	}
	void := !k.accepted(t)
	if k.enter(t, void) {
		k.endImplied(w.tenantFacts[1], tooMany)
	}
}

// enter makes the session of an accepted request exist, and says whether it is
// one too many for the implied user.
func (k *Tracker) enter(t *Turn, void bool) (crowded bool) {
	w, now := t.work, k.cfg.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	w.void = void
	l := w.live
	if l == nil || void {
		return false
	}
	if !l.begun {
		k.gained(t, now)
	}
	l.begun, l.seen = true, now
	l.system, l.tools = w.system, w.tools
	k.dropCredentials(now)
	k.hold(t, now)
	return w.implied && k.openCount(t.Owner.Tenant, now) >= MaxImplied
}

// claim decides which of the request's messages are new to the session, makes
// them places of it and events of the exchange. A message that another
// exchange has brought in the meantime isn't new; one that an earlier try of
// this exchange has brought is. The caller holds Tracker.mu.
func (l *live) claim(t *Turn, x *store.Exchange) {
	w := t.work
	x.Turn = l.turns
	if p, ok := l.places[w.lastUser]; ok {
		x.Turn = p.turn
	}
	for _, c := range w.fresh {
		p, ok := l.places[c.key]
		if ok && p.exchange != t.Exchange {
			continue
		}
		if !ok {
			p = place{turn: x.Turn, exchange: t.Exchange}
			if c.human {
				l.turns++
				p.turn = l.turns
			}
			l.places[c.key] = p
		}
		x.Turn = max(x.Turn, p.turn)
		c.event.Turn = p.turn
		x.Events = append(x.Events, c.event)
		x.Places = append(x.Places, store.Place{Key: c.key, Turn: p.turn})
	}
	x.Tokens = tokens(x.Events)
}
