package badgerdb

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"

	"github.com/dgraph-io/badger/v4"

	"hindsight/store"
)

// An erased scope is hidden by one row, famHidden, that names a version of
// Badger's: what was written at its place until then is there for nobody any more,
// after a crash too. The keeper sweeps it away in its own time. What is written
// there later has a later version.

// hides says whether a row lies at an erased place, or leads there, and was
// written before the erasure.
func (h *handle) hides(item *badger.Item) bool {
	hidden := h.hidden.Load()
	if hidden == nil {
		return false
	}
	at, ok := placeOf(item)
	if !ok {
		return false
	}
	until, ok := (*hidden)[at]
	return ok && item.Version() <= until
}

// placeOf is where a row lies or leads to.
func placeOf(item *badger.Item) (at place, ok bool) {
	key := item.Key()
	switch {
	case bytes.IndexByte(placed(), key[0]) >= 0:
		return place(key[1:]), true
	case key[0] == famReflected:
		return place(key[9:]), true
	case key[0] == famSessions, key[0] == famMemories:
		copy(at[:], key[1:][:hashLen])
		err := item.Value(func(b []byte) error { ok = copy(at[hashLen:], b) == hashLen; return nil })
		return at, ok && err == nil
	case key[0] == famByID:
		err := item.Value(func(b []byte) error { ok = copy(at[:], b) == placeLen; return nil })
		return at, ok && err == nil
	}
	return at, false
}

func hiddenKey(at place) []byte { return join(famHidden, at[:]) }

// hidePlace hides what lies at a place once t is committed, and ends the key that
// sealed it. The change must be committed in one piece.
func (s *Store) hidePlace(t *tx, at place) error {
	until := t.txn.ReadTs()
	if err := t.set(hiddenKey(at), u64(until), 0, 0); err != nil {
		return err
	}
	s.readyDrops++ // too early is as good: whoever writes a snapshot begins anew
	t.after = append(t.after, func() {
		t.h.hideFrom(at, until)
		s.readyDropped[at] = s.feed.skip()
	})
	if t.h.keys == nil {
		return nil
	}
	slot, err := t.slot(at)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	t.after = append(t.after, func() { t.h.keys.drop(at) })
	if err := t.set(doomedKey(slot), at[:], 0, 0); err != nil {
		return err
	}
	return t.del(join(famDataKey, at[:]))
}

// hideFrom hides a place; 0 ends it. Only holders of the write lock call it.
func (h *handle) hideFrom(at place, until uint64) {
	next := map[place]uint64{}
	if is := h.hidden.Load(); is != nil {
		next = maps.Clone(*is)
	}
	next[at] = until
	if until == 0 {
		delete(next, at)
	}
	if len(next) == 0 {
		h.hidden.Store(nil)
		return
	}
	h.hidden.Store(&next)
}

// loadHidden reads what is hidden, before anything else is read.
func (s *Store) loadHidden(h *handle) error {
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	for r := range (view{h, txn}).rows([]byte{famHidden}, nil) {
		b, err := r.raw()
		if err != nil {
			return fmt.Errorf("read what is erased: %w", err)
		}
		if len(b) != 8 {
			return errors.New("the row of an erased scope is damaged")
		}
		h.hideFrom(place(r.item.Key()[1:]), binary.BigEndian.Uint64(b))
	}
	return nil
}

// sweepHidden deletes what is hidden, and says which places it was done with. A
// restart goes on where rows are left.
func (s *Store) sweepHidden(ctx context.Context, h *handle) (map[place]uint64, error) {
	hidden := h.hidden.Load()
	if hidden == nil {
		return nil, nil
	}
	leading := map[string]bool{string(famByID): true, string(famReflected): true}
	for at := range *hidden {
		for _, family := range placed() {
			if err := s.sweepRows(ctx, h, join(family, at[:])); err != nil {
				return nil, err
			}
		}
		leading[string(join(famSessions, at.tenant()))] = true
		leading[string(join(famMemories, at.tenant()))] = true
	}
	for prefix := range leading {
		if err := s.sweepRows(ctx, h, []byte(prefix)); err != nil {
			return nil, err
		}
	}
	return *hidden, nil
}

// endHidden takes the marks of places away that were swept, and whose bytes have
// left the files.
func (s *Store) endHidden(h *handle, swept map[place]uint64) error {
	return s.locked(h, func(t *tx) error {
		for at, until := range swept {
			if (*h.hidden.Load())[at] != until {
				continue // erased anew meanwhile
			}
			if err := t.del(hiddenKey(at)); err != nil {
				return err
			}
			t.after = append(t.after, func() { h.hideFrom(at, 0) })
		}
		return nil
	})
}

// How many rows one transaction of a sweep deletes, and how many it looks at:
// others wait for it.
const (
	sweptAtOnce  = 1000
	lookedAtOnce = 4000
)

// sweepRows deletes the hidden rows under a prefix. That a block with one of its
// memories isn't replayed stays known.
func (s *Store) sweepRows(ctx context.Context, h *handle, prefix []byte) error {
	for seek := prefix; seek != nil; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from := seek
		seek = nil
		err := s.locked(h, func(t *tx) error {
			var dead [][]byte
			n := 0
			for r := range t.all(prefix, from) {
				if n++; n > lookedAtOnce || len(dead) == sweptAtOnce {
					seek = r.key()
					break
				}
				if h.hides(r.item) {
					dead = append(dead, r.key())
				}
			}
			for _, key := range dead {
				if key[0] == famMemory {
					if err := s.setGone(t, store.Hash(key[1+placeLen:])); err != nil {
						return err
					}
				}
				if err := t.del(key); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("sweep %q: %w", prefix[0], err)
		}
	}
	return nil
}
