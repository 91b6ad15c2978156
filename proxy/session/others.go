package session

import (
	"context"
	"slices"

	"hindsight/store"
)

// Others are the processes that serve the same people beside this one. Fetch
// reads what they have recorded of a conversation into the store, found by keys
// of anchors or, where it is known, by the session's id, and returns the sessions
// of which something may be new. It takes no longer than a share of what ctx
// leaves.
type Others interface {
	Fetch(ctx context.Context, o store.Owner, session string, keys []store.Hash) []string
}

// consult asks the others about a conversation with earlier turns whose newest
// isn't known here. The error is the store's.
func (k *Tracker) consult(ctx context.Context, t *Turn, sig signals, r *reading) error {
	h := t.work.hasher
	session := ""
	if sig.external != "" {
		session = h.explicitID(sig.external)
		if isOwnID(sig.external) {
			session = sig.external
		}
	}
	newest, all := k.earlier(h, sig, r)
	if len(newest) == 0 && (session == "" || !kept(r.req)) {
		return nil
	}
	found, err := k.lookUp(ctx, h, newest)
	if err != nil {
		return err
	}
	for _, anchors := range found {
		if slices.ContainsFunc(anchors, func(a store.Anchor) bool { return session == "" || a.Session == session }) {
			return nil
		}
	}
	for _, id := range k.cfg.Others.Fetch(ctx, t.Owner, session, all) {
		if err := k.renew(ctx, h, id); err != nil {
			return err
		}
	}
	return nil
}

// earlier are the keys under which whoever has served the newest of a request's
// earlier turns knows it, and those of a few turns before as well.
func (k *Tracker) earlier(h *hasher, sig signals, r *reading) (newest, all []store.Hash) {
	models := r.models[max(0, len(r.models)-secondStep):]
	for i := len(models) - 1; i >= 0; i-- {
		for _, m := range h.marks(models[i]) {
			all = append(all, m.key)
		}
		if newest == nil {
			newest = slices.Clone(all)
		}
	}
	switch {
	case sig.response != "":
		newest = []store.Hash{h.responseMark(sig.response).key}
		all = append(newest[:1:1], all...)
	case r.opens() && len(r.humans) >= 2: // compaction took the answers
		all = append(all, h.chains(r.humans, secondStep-len(all))...)
		newest = all
	}
	return newest, all
}

// renew takes over what the store has learned of a session that is in memory.
func (k *Tracker) renew(ctx context.Context, h *hasher, id string) error {
	if _, ok := k.inMemory(h, id); !ok {
		return nil // it is loaded when it is opened
	}
	now, err := k.load(ctx, h, id, k.cfg.Now())
	if err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.live.get(id)
	if !ok {
		return nil
	}
	for key, p := range now.places {
		if _, ok := l.places[key]; !ok {
			l.places[key] = p
		}
	}
	l.begun, l.answered, l.drawn = true, true, false
	l.turns = max(l.turns, now.turns)
	if now.seen.After(l.seen) {
		l.seen = now.seen
	}
	// What the provider keeps may go on from an answer that was given elsewhere.
	l.newest = nil
	return nil
}
