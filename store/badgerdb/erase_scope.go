package badgerdb

import (
	"strings"
	"time"

	"hindsight/store"
)

// hideScopes erases scopes as wholes: one change hides all that lies there. An
// agent's part of a user has its sessions at the user's place; these go row by row.
func (s *Store) hideScopes(h *handle, all []*eraser) error {
	rec, going := all[0].rec, all[0].gone.going
	var ids []store.Hash
	for _, e := range all {
		more, err := e.count()
		if err != nil {
			return err
		}
		ids = append(ids, more...)
	}
	rec.ErasedAt, rec.OutOfReach = s.now(), store.BeyondErasure(h.keys != nil, s.cfg.Share)
	err := s.apply(h, &tx{}, func(t *tx) error {
		for _, e := range all {
			at := e.at()
			if err := e.mark(t, rec.ErasedAt); err != nil {
				return err
			}
			if err := s.hidePlace(t, at); err != nil {
				return err
			}
			if err := s.keepCopyOf(t, at); err != nil {
				return err
			}
		}
		rec.Outbox += len(t.shipped)
		return s.putReceipt(t, receipt{Receipt: *rec})
	})
	if err != nil {
		return err
	}
	s.mirror(func(st *state) {
		st.leave(going, func(j *store.Job) place {
			if j.Consolidates() {
				return h.at(j.Owner.Tenant, j.Scope)
			}
			return h.owner(j.Owner)
		})
		for at := range going {
			st.erased[at] = rec.ErasedAt
		}
		for _, id := range ids {
			st.gone[id] = time.Time{}
		}
	})
	s.turn()
	for _, e := range all {
		s.feed.cut(scopeName{e.tenant, e.scope})
		s.vectors.feed.cut(scopeName{e.tenant, e.scope})
	}
	s.tellErased(all)
	if err := s.destroyDoomed(h); err != nil {
		return err
	}
	if strings.Contains(string(rec.Scope), "/") {
		e := all[len(all)-1]
		if err := e.conversations(); err != nil {
			return err
		}
		if err := s.apply(h, &tx{}, func(t *tx) error { return s.putReceipt(t, receipt{Receipt: *rec}) }); err != nil {
			return err
		}
		if err := s.reload(h); err != nil {
			return err
		}
	}
	if err := s.dropWaiting(h, rec.Tenant, rec.Erased); err != nil {
		return err
	}
	done := receipt{Receipt: *rec}
	s.progress(h, &done)
	*rec = done.Receipt
	return nil
}

// tellErased has what is in memory of erased scopes forgotten.
func (s *Store) tellErased(all []*eraser) {
	if s.cfg.Erased == nil {
		return
	}
	for _, e := range all {
		s.cfg.Erased(e.tenant, e.scope)
	}
}

// keepCopyOf brings the note of when a copy was used under the place's new key: it
// is no content, and outlives the erasure.
func (s *Store) keepCopyOf(t *tx, at place) error {
	s.mu.RLock()
	c, ok := s.mem.copies[at]
	s.mu.RUnlock()
	if !ok {
		return nil
	}
	if t.h.keys != nil {
		if _, err := t.draw(at); err != nil {
			return err
		}
	}
	return s.putCopy(t, at, c)
}

// countOf is where a receipt counts the rows of a family, nil where it doesn't.
func countOf(rec *store.Receipt, family byte) *int {
	switch family {
	case famMemory:
		return &rec.Memories
	case famRevision:
		return &rec.Revisions
	case famVector:
		return &rec.Vectors
	case famForgotten:
		return &rec.Tombstones
	case famSession:
		return &rec.Sessions
	case famExchange, famBegun:
		return &rec.Exchanges
	case famPlaces:
		return &rec.Places
	case famAnchor:
		return &rec.Anchors
	case famLedger:
		return &rec.Ledger
	case famWhy:
		return &rec.Why
	case famJob:
		return &rec.Jobs
	}
	return nil
}

// count counts what lies at the scope's place, by the keys alone, and lists its
// memories.
func (e *eraser) count() (ids []store.Hash, err error) {
	txn := e.h.db.NewTransaction(false)
	defer txn.Discard()
	at := e.at()
	for _, family := range placed() {
		n := countOf(e.rec, family)
		if n == nil {
			continue
		}
		for r := range (view{e.h, txn}).rows(join(family, at[:]), nil) {
			*n++
			if family == famMemory {
				ids = append(ids, tail(r))
			}
		}
	}
	return ids, nil
}
