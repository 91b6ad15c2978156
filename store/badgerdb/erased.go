package badgerdb

import (
	"errors"
	"time"

	"hindsight/store"
)

// In a fleet an erased memory leaves the moment of its erasure for as long as
// sessions are kept: another sidecar may still have an older form of it, and
// nothing that was made until then comes back.

// setErased notes that a memory is erased, for the others too.
func (s *Store) setErased(t *tx, at place, m *store.Memory) error {
	if !s.cfg.Share || t.foreign {
		return nil
	}
	if err := s.markGone(t, t.h.memory(m.ID), s.now(), keepSession); err != nil {
		return err
	}
	return s.shipGone(t, at, m)
}

// erasedAt is when a memory was erased, zero if it wasn't.
func (s *Store) erasedAt(t *tx, id store.Hash) (time.Time, error) {
	if !s.cfg.Share {
		return time.Time{}, nil
	}
	r, err := t.row(join(famGone, id[:]))
	if errors.Is(err, store.ErrNotFound) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return r.moment()
}

// renew dates a memory that is new here after an erasure of its like: what comes
// back by a person's hand, or was made anew of what is left, isn't what was
// erased.
func (s *Store) renew(t *tx, m *store.Memory, now time.Time) error {
	if !s.cfg.Share || t.foreign {
		return nil
	}
	erased, err := s.erasedAt(t, t.h.memory(m.ID))
	if err != nil {
		return err
	}
	erased = latest(erased, s.scopeErased(t.h, m.Tenant, m.Scope))
	if !erased.IsZero() && !m.CreatedAt.After(erased) {
		m.CreatedAt = latest(now, erased.Add(time.Millisecond))
	}
	return nil
}

// emptyBlocks keeps, of blocks that showed an erased memory, that they were: the
// fleet has them, and is told.
func (s *Store) emptyBlocks(t *tx, blocks []store.LedgerEntry) error {
	if !s.cfg.Share {
		return nil
	}
	for _, e := range blocks {
		at := t.h.conversation(e.Owner, e.Session)
		e = emptied(e, s.now())
		if err := t.put(join(famLedger, at[:], e.Key[:]), e, 0, keepLedger); err != nil {
			return err
		}
		if err := s.enrol(t, at.place(), ledgerRow(at, e.Key)); err != nil {
			return err
		}
	}
	return nil
}

// emptied is a block without what it showed, and later than that.
func emptied(e store.LedgerEntry, now time.Time) store.LedgerEntry {
	e.LastUsed = latest(now, usedAt(&e).Add(time.Millisecond))
	e.Text, e.Refs, e.Checks = "", nil, nil
	return e
}

// showsErased says whether a block shows a memory that was erased.
func (s *Store) showsErased(t *tx, e *store.LedgerEntry) (bool, error) {
	for _, ref := range e.Refs {
		at, err := s.erasedAt(t, t.h.memory(ref.ID))
		if err != nil || !at.IsZero() && !e.Created.After(at) {
			return err == nil, err
		}
	}
	return false, nil
}
