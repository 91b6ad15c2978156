package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hindsight/store"
)

// live is a session in memory. Tracker.mu guards everything in it but the
// first block, which never changes.
type live struct {
	id           string
	tenant, user string

	external, parent string
	drawn            bool // its id is new, and nothing of it is recorded yet
	begun            bool // an upstream has accepted a request of it: it exists
	flying           int  // requests without an end yet
	answered         bool // an answer of it is known
	turns            int
	seen             time.Time
	places           map[store.Hash]place
	alias            map[store.Hash]store.Hash // a grown message's key -> that of its first form
	echoed           map[store.Hash]struct{}   // answers whose return is recorded
	cred             store.Hash
	mixed            bool // recorded with more than one credential
	dialect          string
	answers          map[store.Hash]*answered // by the ids that later requests may name
	newest           *answered                // the last of them
	texts            []*answered              // those that still have their texts, oldest first
	system           store.Hash               // of its last turn
	tools            bool                     // its last turn offered tools
}

// place is a message that the session knows. exchange is the one in which it
// was new, as far as this process knows.
type place struct {
	turn     int
	exchange string
}

func newLive(id string, h *hasher, now time.Time) *live {
	return &live{
		id: id, tenant: h.tenant, user: h.user, seen: now,
		places: map[store.Hash]place{},
	}
}

// note puts something into a map that most sessions don't need.
func note[K comparable, V any](m *map[K]V, key K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[key] = v
}

// inMemory finds a session of the owner without asking the store.
func (k *Tracker) inMemory(h *hasher, id string) (*live, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	l, ok := k.live.get(id)
	if !ok || l.tenant != h.tenant || l.user != h.user {
		return nil, false
	}
	return l, true
}

// open returns the owner's session of that id: from memory, else as the store
// has it, else as a provisional one that only lives in memory. A session is
// loaded once.
func (k *Tracker) open(ctx context.Context, h *hasher, id string, now time.Time) (*live, error) {
	if l, ok := k.inMemory(h, id); ok {
		return l, nil
	}
	l, err := k.load(ctx, h, id, now)
	if errors.Is(err, store.ErrNotFound) {
		l, err = newLive(id, h, now), nil
	}
	if err != nil {
		return nil, err
	}
	return k.adopt(l), nil
}

// adopt puts a session into memory, unless another request was faster.
func (k *Tracker) adopt(l *live) *live {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now, ok := k.live.get(l.id); ok {
		return now
	}
	k.live.put(l.id, l)
	return l
}

// load reads a session from the store. The error is store.ErrNotFound for one
// that isn't the owner's, too.
func (k *Tracker) load(ctx context.Context, h *hasher, id string, now time.Time) (*live, error) {
	o := store.Owner{Tenant: h.tenant, User: h.user}
	rec, err := k.st.Session(ctx, o, id)
	if err != nil {
		return nil, fmt.Errorf("load session: %w", err)
	}
	places, err := k.st.Places(ctx, o, id)
	if err != nil {
		return nil, fmt.Errorf("load places: %w", err)
	}
	l := newLive(id, h, now)
	l.external, l.parent, l.turns, l.begun, l.answered = rec.ExternalID, rec.Parent, rec.Turns, true, true
	l.cred, l.dialect, l.seen = rec.Cred, rec.Dialect, rec.LastSeen
	for _, p := range places {
		l.places[p.Key] = place{turn: p.Turn}
		l.turns = max(l.turns, p.Turn)
	}
	return l, nil
}

// openCount is how many of the tenant's sessions are open, sub-agents' apart, as
// far as memory knows. The caller holds mu.
func (k *Tracker) openCount(tenant string, now time.Time) int {
	n := 0
	k.live.each(func(l *live) bool {
		if l.tenant == tenant && l.begun && l.parent == "" && now.Sub(l.seen) < k.cfg.Idle {
			n++
		}
		return true
	})
	return n
}
