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
	// Lifted says that it was taken away at Time. It stays so only where a fleet
	// shares it, because an older form of it may still come.
	Lifted bool `json:"lifted,omitempty"`
	// Memory is the id of what was forgotten, there for a fleet as well: blocks that
	// hold it aren't replayed anywhere.
	Memory string `json:"memory,omitempty"`
}

// ForgetMemory archives a memory and leaves a tombstone, so that neither its
// text nor the sentences that it rests on are learned again, and no block that
// holds it is replayed. What a consolidation hid behind it is forgotten with it;
// of what a consolidation made of it, see [Store.partDerived]. The memory is
// returned as it was left.
func (s *Store) ForgetMemory(_ context.Context, id string) (store.Memory, error) {
	var m store.Memory
	err := s.change(func(t *tx) error {
		t.by = store.Change{By: store.Forgotten}
		old, at, err := t.memory(id)
		if err != nil {
			return err
		}
		m = old
		if err := s.buryAll(t, at, &m); err != nil {
			return err
		}
		if err := s.partDerived(t, &m); err != nil {
			return err
		}
		if old.State == store.Archived {
			return nil
		}
		m.State, m.ArchivedAt, m.SupersededBy = store.Archived, s.now(), ""
		return s.putMemory(t, &m, &old)
	})
	return m, wrap("forget memory", err)
}

// buryAll buries a memory and the sources that a consolidation hid behind it.
func (s *Store) buryAll(t *tx, at place, m *store.Memory) error {
	hidden, err := t.hidden(m)
	if err != nil {
		return err
	}
	for i := range hidden {
		if err := s.bury(t, at, &hidden[i]); err != nil {
			return err
		}
	}
	return s.bury(t, at, m)
}

// partDerived undoes the consolidation that a memory went into: what was made
// holds its words. The other sources come back, to be consolidated without it.
func (s *Store) partDerived(t *tx, m *store.Memory) error {
	if m.State != store.Consolidated || m.SupersededBy == "" {
		return nil
	}
	product, _, err := t.memory(m.SupersededBy)
	if errors.Is(err, store.ErrNotFound) || err == nil && product.State != store.Active {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.setGone(t, t.h.memory(product.ID)); err != nil {
		return err
	}
	_, _, err = s.part(t, product, m.ID)
	return err
}

// bury leaves the tombstones, of the text and of each sentence that it rests on,
// and the mark that keeps blocks from being replayed.
func (s *Store) bury(t *tx, at place, m *store.Memory) error {
	stone := tombstone{Time: s.now(), Subject: t.h.id.Hash("subject", string(m.Scope), store.Fold(m.Subject))}
	if s.cfg.Share {
		stone.Memory = m.ID
	}
	for _, text := range words(m) {
		h := t.h.text(m.Scope, text)
		if was, err := t.stone(at, h); err != nil {
			return err
		} else if s.cfg.Share && !was.Time.Before(stone.Time) {
			stone.Time = was.Time.Add(time.Millisecond) // by a clock that is ahead
		}
		if err := t.put(join(famForgotten, at[:], h[:]), stone, 0, 0); err != nil {
			return err
		}
		if err := s.shipTombstone(t, at, h); err != nil {
			return err
		}
	}
	if err := s.dropReady(t, at); err != nil {
		return err
	}
	return s.setGone(t, t.h.memory(m.ID))
}

// words are a memory's text and the quotes that it rests on.
func words(m *store.Memory) []string {
	out := []string{m.Text}
	for _, e := range m.Evidence {
		if e.Quote != "" {
			out = append(out, e.Quote)
		}
	}
	return out
}

// liftAll lifts the tombstones of a memory and of what is hidden behind it.
func (s *Store) liftAll(t *tx, at place, m *store.Memory) error {
	hidden, err := t.hidden(m)
	if err != nil {
		return err
	}
	for _, x := range append(hidden, *m) {
		for _, text := range words(&x) {
			if err := s.lift(t, at, x.Scope, text); err != nil {
				return err
			}
		}
	}
	return nil
}

// stands says whether there is a tombstone.
func (x *tombstone) stands() bool { return !x.Time.IsZero() && !x.Lifted }

// stone is the tombstone of a text, the zero one where there is none.
func (v view) stone(at place, text store.Hash) (tombstone, error) {
	var x tombstone
	err := v.get(join(famForgotten, at[:], text[:]), &x)
	if errors.Is(err, store.ErrNotFound) {
		return tombstone{}, nil
	}
	return x, err
}

// lift takes a tombstone away, if there is one.
func (s *Store) lift(t *tx, at place, sc store.Scope, text string) error {
	h := t.h.text(sc, text)
	key := join(famForgotten, at[:], h[:])
	stone, err := t.stone(at, h)
	if err != nil || !stone.stands() {
		return err
	}
	if !s.cfg.Share {
		return t.del(key)
	}
	stone.Lifted, stone.Time = true, latest(s.now(), stone.Time.Add(time.Millisecond))
	if err := t.put(key, stone, 0, 0); err != nil {
		return err
	}
	return s.shipTombstone(t, at, h)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// forgotten says whether what reflection wants to write was forgotten: its text,
// or, of a new memory, each sentence that it rests on, has a tombstone, or its
// scope was erased, after it was said. A later statement of the user themselves
// lifts a tombstone, so lifted is true.
func (s *Store) forgotten(t *tx, at place, m *store.Memory) (gone, lifted bool, err error) {
	said := newest(m)
	if !said.IsZero() && s.tooOld(at, said) {
		return true, false, nil
	}
	stands := func(text string, said time.Time) (bool, error) {
		h := t.h.text(m.Scope, text)
		stone, err := t.stone(at, h)
		if err == nil && !stone.stands() {
			return false, nil
		}
		if err == nil && m.AttributedTo == store.ByUser && said.After(stone.Time) {
			lifted = true
			return false, nil
		}
		return err == nil, err
	}
	if gone, err = stands(m.Text, said); gone || err != nil || m.Revision != 0 {
		return gone, lifted && !gone, err
	}
	left := len(m.Evidence) == 0
	for _, e := range m.Evidence {
		dead, err := stands(e.Quote, e.Time)
		if err != nil {
			return false, false, err
		}
		left = left || !dead
	}
	return !left, lifted && left, nil
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

// partBack undoes the consolidation of a source, if it stands, and returns the
// source as it is then.
func (s *Store) partBack(t *tx, m *store.Memory) (store.Memory, error) {
	product, _, err := t.memory(m.SupersededBy)
	if errors.Is(err, store.ErrNotFound) || err == nil && product.State != store.Active {
		return store.Memory{}, nil
	}
	if err != nil {
		return store.Memory{}, err
	}
	_, back, err := s.part(t, product, "")
	for _, x := range back {
		if x.ID == m.ID {
			return x, err
		}
	}
	return store.Memory{}, err
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

// setGone keeps blocks with a memory from being replayed. What is known of its
// erasure stays.
func (s *Store) setGone(t *tx, id store.Hash) error {
	if at, err := s.erasedAt(t, id); err != nil || !at.IsZero() {
		return err
	}
	return s.markGone(t, id, time.Time{}, keepGone)
}

func (s *Store) markGone(t *tx, id store.Hash, erased time.Time, ttl time.Duration) error {
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { st.gone[id] = erased })
	})
	var at []byte
	if !erased.IsZero() {
		at = ascending(erased)
	}
	return t.set(join(famGone, id[:]), at, 0, ttl)
}

func (s *Store) clearGone(t *tx, id store.Hash) error {
	s.mu.RLock()
	_, ok := s.mem.gone[id]
	s.mu.RUnlock()
	if !ok && s.cfg.Share { // this very change may have erased it
		at, err := s.erasedAt(t, id)
		if err != nil {
			return err
		}
		ok = !at.IsZero()
	}
	if !ok {
		return nil
	}
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { delete(st.gone, id) })
	})
	return t.del(join(famGone, id[:]))
}
