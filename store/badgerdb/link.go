package badgerdb

import (
	"context"
	"fmt"
	"time"

	"hindsight/store"
)

// LinkTenants makes from another name of to, for good, and moves what from
// holds there: the two are one person's after a key was rotated. A crash in the
// middle is finished at the next opening. The error is store.ErrNotFound where
// neither has anything. It holds all writes up while it works.
func (s *Store) LinkTenants(ctx context.Context, from, to string) error {
	if from == "" || to == "" {
		return fmt.Errorf("link tenants: both must be named")
	}
	if err := s.Flush(ctx); err != nil {
		return wrap("link tenants", err)
	}
	err := s.with(func(h *handle) error {
		s.write.Lock()
		defer s.write.Unlock()
		to := s.tenant(to)
		if to == from || s.tenant(from) == to {
			return fmt.Errorf("%q and %q are one already", from, to)
		}
		if s.tenant(from) != from {
			return fmt.Errorf("%q is linked to %q already", from, s.tenant(from))
		}
		if err := s.apply(h, &tx{}, func(t *tx) error { return s.alias(t, from, to) }); err != nil {
			return err
		}
		if err := s.reload(h); err != nil {
			return err
		}
		if err := s.move(h, from, to); err != nil {
			return err
		}
		s.feed.reset()
		return s.reload(h)
	})
	return wrap("link tenants", err)
}

// alias writes the link; what was linked to from before goes to to as well.
func (s *Store) alias(t *tx, from, to string) error {
	names := []string{from}
	known := false
	for r := range t.rows([]byte{famTenant}, nil) {
		var rec tenantRecord
		if err := r.into(&rec); err != nil {
			return err
		}
		if rec.Alias == from {
			names = append(names, rec.ID)
		}
		known = known || rec.ID == from || rec.ID == to
	}
	if !known {
		return store.ErrNotFound
	}
	for _, n := range names {
		if err := t.put(tenantKey(t.h, n), tenantRecord{ID: n, Alias: to}, 0, 0); err != nil {
			return err
		}
	}
	return t.put(tenantKey(t.h, to), tenantRecord{ID: to}, 0, 0)
}

// finishLinks moves what a crash left behind.
func (s *Store) finishLinks(h *handle) error {
	s.mu.RLock()
	links := map[string]string{}
	for from, to := range s.mem.alias {
		links[from] = to
	}
	s.mu.RUnlock()
	s.write.Lock()
	defer s.write.Unlock()
	for from, to := range links {
		if err := s.move(h, from, to); err != nil {
			return err
		}
	}
	if len(links) == 0 {
		return nil
	}
	return s.reload(h)
}

// move takes all scopes of a tenant to another. The owners inside the values
// stay as they were written: reading follows the link. The record of a scope
// goes last, so that a move can be taken up again.
func (s *Store) move(h *handle, from, to string) error {
	txn := h.db.NewTransaction(false)
	scopes, err := view{h, txn}.scopes(from)
	txn.Discard()
	if err != nil {
		return err
	}
	for _, sc := range scopes {
		err := s.apply(h, &tx{}, func(t *tx) error { return s.ensureScope(t, h.at(to, sc), to, sc) })
		if err != nil {
			return err
		}
		m := mover{s: s, h: h, from: h.at(from, sc), to: h.at(to, sc)}
		if err := m.run(); err != nil {
			return err
		}
		if err := s.shipMoved(m, from, sc); err != nil {
			return err
		}
	}
	return s.moveErasures(h, from, to, scopes)
}

// mover moves one place to another.
type mover struct {
	s        *Store
	h        *handle
	from, to place
}

// moved is a row that is written anew, here or elsewhere.
type moved struct {
	key, plain []byte
	meta       byte
	ttl        time.Duration
	indices    []pair
	dead       [][]byte // old index rows
}

// asIs is a row to be written with what it has and as long as it had to live, a
// second at least; its value is still to be put in.
func (r row) asIs() moved {
	x := moved{key: r.key(), meta: r.meta()}
	if at := r.item.ExpiresAt(); at > 0 {
		x.ttl = max(time.Second, time.Until(time.Unix(int64(at), 0)))
	}
	return x
}

type pair struct {
	key, value []byte
	meta       byte
}

func (m mover) run() error {
	for _, at := range []place{m.from, m.to} {
		if err := m.s.apply(m.h, &tx{}, func(t *tx) error { return m.s.dropReady(t, at) }); err != nil {
			return err
		}
		if err := (&eraser{s: m.s, h: m.h}).wipe(join(famUnready, at[:]), nil, nil); err != nil {
			return err
		}
	}
	// Heads of exchanges before their parts: the index needs what is in them.
	for _, family := range []byte{
		famExchange, famPart, famBegun, famPlaces, famAnchor, famLedger, famWhy, famJob,
		famMemory, famRevision, famText, famVector, famForgotten, famSession,
	} {
		if err := m.family(family); err != nil {
			return fmt.Errorf("move family %q: %w", family, err)
		}
	}
	return m.s.apply(m.h, &tx{}, func(t *tx) error {
		if err := m.reflected(t); err != nil {
			return err
		}
		return t.del(join(famScope, m.from[:]))
	})
}

// family moves the rows of a family, some at a time, until none is left.
func (m mover) family(family byte) error {
	const piece = 400 << 10
	for {
		n := 0
		err := m.s.apply(m.h, &tx{}, func(t *tx) error {
			var list []moved
			bytes := 0
			for r := range t.rows(join(family, m.from[:]), nil) {
				x, err := m.take(r)
				if err != nil {
					return err
				}
				list = append(list, x)
				if bytes += len(x.plain) + 200; bytes > piece {
					break
				}
			}
			n = len(list)
			for _, x := range list {
				if err := m.put(t, family, x); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			return err
		}
	}
}

func (m mover) take(r row) (moved, error) {
	x := r.asIs()
	var err error
	if x.plain, err = r.plain(); err != nil {
		return x, err
	}
	id := tail(r)
	switch x.key[0] {
	case famWhy:
		x.indices = []pair{{idKey(byWhy, id), m.at(x.key, hashLen), 0}}
	case famJob:
		x.indices = []pair{{idKey(byJob, id), m.to[:], 0}}
	case famExchange:
		e, err := r.exchange(seqOf(x.key[1:]), nil)
		if err != nil {
			return x, err
		}
		if e.ID != "" {
			x.indices = []pair{{idKey(byExchange, m.h.exchange(e.ID)), m.at(x.key, 0), 0}}
		}
	case famSession:
		e, err := r.session()
		if err != nil {
			return x, err
		}
		x.indices = []pair{{join(famSessions, m.to.tenant(), descending(e.Started), id[:]), m.to.scope(), 0}}
		for _, key := range byIDKeys(&e, id) {
			x.indices = append(x.indices, pair{key, m.to[:], 0})
		}
		x.dead = [][]byte{join(famSessions, m.from.tenant(), descending(e.Started), id[:])}
	case famMemory:
		var e store.Memory
		if err := r.into(&e); err != nil {
			return x, err
		}
		x.indices = []pair{
			{idKey(byMemory, id), m.to[:], 0},
			{memoryIndex(m.to, e.CreatedAt, id), m.to.scope(), x.meta},
		}
		x.dead = [][]byte{memoryIndex(m.from, e.CreatedAt, id)}
	}
	return x, nil
}

// at is where a key lies now, without its family and its last bytes.
func (m mover) at(key []byte, cut int) []byte {
	rest := key[1+placeLen : len(key)-cut]
	return join(0, m.to[:], rest)[1:]
}

func (m mover) put(t *tx, family byte, x moved) error {
	if err := t.putPlain(join(family, m.at(x.key, 0)), x.plain, x.meta, x.ttl); err != nil {
		return err
	}
	for _, p := range x.indices {
		if err := t.set(p.key, p.value, p.meta, x.ttl); err != nil {
			return err
		}
	}
	for _, k := range append(x.dead, x.key) {
		if err := t.del(k); err != nil {
			return err
		}
	}
	return nil
}

// reflected takes the notes of reflected ranges along.
func (m mover) reflected(t *tx) error {
	var list []pair
	for r := range t.rows([]byte{famReflected}, nil) {
		k := r.key()
		if place(k[9:]) != m.from {
			continue
		}
		v, err := r.raw()
		if err != nil {
			return err
		}
		list = append(list, pair{k, v, 0})
	}
	for _, p := range list {
		key := join(famReflected, p.key[1:9], m.to[:], p.key[9+placeLen:])
		if err := t.set(key, p.value, 0, 0); err != nil {
			return err
		}
		if err := t.del(p.key); err != nil {
			return err
		}
	}
	return nil
}
