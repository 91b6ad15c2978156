package session

import (
	"context"
	"errors"

	"hindsight/store"
)

// find goes through the signals by rank, then through what the history shows.
func (k *Tracker) find(ctx context.Context, t *Turn, sig signals, r *reading) (*live, string, error) {
	w := t.work
	grown, grew := k.growthOf(w, r, t)
	if sig.child && sig.parent != "" {
		parent, err := k.named(ctx, w.hasher, sig.parent)
		if err != nil {
			return nil, "", err
		}
		t.Parent = parent
	}
	if w.attempt != nil {
		l, err := k.open(ctx, w.hasher, w.attempt.session, t.Received)
		return l, byRetry, err
	}
	if sig.external != "" {
		id, err := k.named(ctx, w.hasher, sig.external)
		if err != nil {
			return nil, "", err
		}
		if grew && grown.session == id {
			w.grown = &grown
		}
		if r.opens() { // compaction took the answers, or nothing was said yet
			if _, w.heard, err = k.byChain(ctx, w.hasher, r, id); err != nil {
				return nil, "", err
			}
		}
		l, err := k.open(ctx, w.hasher, id, t.Received)
		return l, bySignal, err
	}
	if grew && sig.response == "" {
		w.grown = &grown
		l, err := k.open(ctx, w.hasher, grown.session, t.Received)
		return l, byGrowth, err
	}
	id, how, err := k.search(ctx, w, sig, r, t)
	switch {
	case err != nil:
		return nil, "", err
	case w.live != nil:
		return w.live, how, nil
	case id == "":
		l := newLive(store.DrawSession(t.Received), w.hasher, t.Received)
		l.drawn = true
		return k.adopt(l), byNothing, nil
	}
	l, err := k.open(ctx, w.hasher, id, t.Received)
	return l, how, err
}

// search finds the session of a request that names none itself.
func (k *Tracker) search(ctx context.Context, w *work, sig signals, r *reading, t *Turn) (id, how string, err error) {
	if sig.response != "" {
		if id, err = k.byResponse(ctx, w.hasher, sig.response); err != nil || id != "" {
			return id, byResponse, err
		}
	}
	if r.opens() {
		id, w.heard, err = k.byChain(ctx, w.hasher, r, "")
		how = byChain
	} else {
		id, err = k.byAnchor(ctx, w.hasher, r)
		how = byAnchor
	}
	if err != nil || sig.cacheKey == "" {
		return id, how, err
	}
	ok, err := k.byCacheKey(ctx, w, sig.cacheKey, id, t)
	if ok {
		return w.live.id, byCacheKey, err
	}
	return id, how, err
}

// byCacheKey joins the session of a prompt_cache_key, unless the key turns out
// to be no session's: two histories that have nothing in common came under it.
// That verdict is kept. history is the session that the history itself shows.
func (k *Tracker) byCacheKey(ctx context.Context, w *work, cacheKey, history string, t *Turn) (bool, error) {
	verdict := w.hash("shared cache key", cacheKey)
	found, err := k.lookUp(ctx, w.hasher, []store.Hash{verdict})
	if err != nil || len(found[0]) > 0 {
		return false, err
	}
	l, err := k.open(ctx, w.hasher, w.explicitID(cacheKey), t.Received)
	if err != nil {
		return false, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	taken := l.flying > 0 || l.answered
	switch {
	case history == l.id, history == "" && !taken:
		k.join(w, l)
		return true, nil
	case taken:
		w.verdict = verdict
		k.register([]store.Anchor{{Key: verdict, Session: l.id, Time: t.Received}})
	}
	return false, nil
}

// named returns our id of the session that a client's value names: a hash of
// it, or the value itself where it is an id of ours in the owner's hands.
func (k *Tracker) named(ctx context.Context, h *hasher, value string) (string, error) {
	if isOwnID(value) {
		if _, ok := k.inMemory(h, value); ok {
			return value, nil
		}
		l, err := k.load(ctx, h, value, k.cfg.Now())
		if err == nil {
			k.adopt(l)
			return value, nil
		}
		if !errors.Is(err, store.ErrNotFound) {
			return "", err
		}
	}
	return h.explicitID(value), nil
}

// growthOf finds the earlier form of the request's only message, and notes
// under which name this form can be found.
func (k *Tracker) growthOf(w *work, r *reading, t *Turn) (growth, bool) {
	_, text, ok := r.single()
	if !ok || kept(r.req) { // a turn of its own, whatever it begins with
		return growth{}, false
	}
	w.growth = w.hasher.growing(r.system, t.Owner.Agent)
	w.form, w.text, w.textLen = text, w.hash("growing", text), len(text)
	k.mu.Lock()
	g, ok := k.growths.get(w.growth)
	k.mu.Unlock()
	return g, ok && w.hasher.grown(g, text, t.Received)
}
