package badgerdb

import (
	"context"
	"errors"
	"time"

	"hindsight/store"
)

// tombstone says that a text was forgotten by a person. It keeps no words: its
// key is a keyed hash of the folded text.
type tombstone struct {
	Time    time.Time  `json:"time"`
	Subject store.Hash `json:"subject"`
}

// ForgetMemory archives a memory and leaves a tombstone, so that the same text
// isn't learned again and no block that holds it is replayed. With erase the
// memory goes for good, its revisions and every block and why record that
// shows it too. The memory is returned as it was left, or as it was.
func (s *Store) ForgetMemory(_ context.Context, id string, erase bool) (store.Memory, error) {
	var m store.Memory
	err := s.change(func(t *tx) error {
		t.by = store.Change{By: store.Forgotten}
		old, at, err := t.memory(id)
		if err != nil {
			return err
		}
		m = old
		if err := s.bury(t, at, &m); err != nil {
			return err
		}
		if erase {
			return s.eraseMemory(t, at, &m)
		}
		if old.State == store.Archived {
			return nil
		}
		m.State, m.ArchivedAt = store.Archived, s.now()
		return s.putMemory(t, &m, &old)
	})
	return m, wrap("forget memory", err)
}

// bury leaves the tombstone and the mark that keeps blocks from being replayed.
func (s *Store) bury(t *tx, at place, m *store.Memory) error {
	h := t.h.text(m.Scope, m.Text)
	stone := tombstone{Time: s.now(), Subject: t.h.id.Hash("subject", string(m.Scope), store.Fold(m.Subject))}
	if err := t.put(join(famForgotten, at[:], h[:]), stone, 0, 0); err != nil {
		return err
	}
	if err := s.dropReady(t, at); err != nil {
		return err
	}
	return s.setGone(t, t.h.memory(m.ID))
}

// lift takes a tombstone away, if there is one.
func (s *Store) lift(t *tx, at place, sc store.Scope, text string) error {
	h := t.h.text(sc, text)
	key := join(famForgotten, at[:], h[:])
	if _, err := t.row(key); errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return t.del(key)
}

// forgotten says whether what reflection wants to write was forgotten: its text
// has a tombstone, or its scope was erased, after the newest evidence for it. A
// later statement of the user themselves lifts a tombstone, so lifted is true.
func (s *Store) forgotten(t *tx, at place, m *store.Memory) (gone, lifted bool, err error) {
	said := newest(m)
	if !said.IsZero() && s.tooOld(at, said) {
		return true, false, nil
	}
	h := t.h.text(m.Scope, m.Text)
	var stone tombstone
	err = t.get(join(famForgotten, at[:], h[:]), &stone)
	if errors.Is(err, store.ErrNotFound) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	if m.AttributedTo == store.ByUser && said.After(stone.Time) {
		return false, true, nil
	}
	return true, false, nil
}

// newest is when the last evidence of a memory was said, zero if unknown.
func newest(m *store.Memory) time.Time {
	var at time.Time
	for _, e := range m.Evidence {
		if e.Time.After(at) {
			at = e.Time
		}
	}
	return at
}

// Gone says whether a memory was forgotten, erased or quarantined, so that no
// block that holds it may be replayed. It reads memory only.
func (s *Store) Gone(id string) bool {
	gone := false
	_ = s.with(func(h *handle) error { // of a closed store nothing is replayed
		k := h.memory(id)
		s.mu.RLock()
		defer s.mu.RUnlock()
		_, gone = s.mem.gone[k]
		return nil
	})
	return gone
}

func (s *Store) setGone(t *tx, id store.Hash) error {
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { st.gone[id] = struct{}{} })
	})
	return t.set(join(famGone, id[:]), nil, 0, keepGone)
}

func (s *Store) clearGone(t *tx, id store.Hash) error {
	s.mu.RLock()
	_, ok := s.mem.gone[id]
	s.mu.RUnlock()
	if !ok {
		return nil
	}
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { delete(st.gone, id) })
	})
	return t.del(join(famGone, id[:]))
}

// eraseMemory removes a memory with everything of its user that shows its
// words. What other users saw of a shared one is never replayed and goes with
// the retention of ledger and why.
func (s *Store) eraseMemory(t *tx, at place, m *store.Memory) error {
	id := t.h.memory(m.ID)
	keys := [][]byte{memoryKey(at, id), memoryIndex(at, m.CreatedAt, id), idKey(byMemory, id), vectorKey(at, id)}
	for r := range t.rows(join(famRevision, at[:], id[:]), nil) {
		keys = append(keys, r.key())
	}
	seen := at
	if user, ok := m.Scope.UserOf(); ok {
		seen = t.h.at(m.Tenant, store.UserScope(user))
	}
	for r := range t.rows(join(famLedger, seen[:]), nil) {
		var e store.LedgerEntry
		if err := r.into(&e); err != nil {
			return err
		}
		for _, ref := range e.Refs {
			if ref.ID == m.ID {
				keys = append(keys, r.key())
			}
		}
	}
	for r := range t.rows(join(famWhy, seen[:]), nil) {
		var w store.Why
		if err := r.into(&w); err != nil {
			return err
		}
		for _, c := range w.Considered {
			if c.ID == m.ID {
				keys = append(keys, r.key())
			}
		}
	}
	for _, k := range keys {
		if err := t.del(k); err != nil {
			return err
		}
	}
	if err := s.dropReady(t, at); err != nil {
		return err
	}
	s.feed.later(t, m.Tenant, m.Scope, m.ID)
	return t.dropText(at, m)
}
