package badgerdb

import (
	"errors"
	"slices"
	"time"

	"hindsight/store"
)

// erased is what goes with a scope and may be evidence elsewhere.
type erased struct {
	going    map[place]bool  // the scope's place and its agents'
	sessions map[string]bool // ids of its sessions
	// until is when another sidecar erased it, zero for an erasure of our own: what
	// came later stays.
	until time.Time
	tell  bool                // the fleet doesn't have it yet
	stay  map[store.Hash]bool // memories that came later
}

// takes says whether a memory, which lies at a place, goes.
func (g *erased) takes(h *handle, id string, at place) bool {
	return g.going[at] && !g.stay[h.memory(id)]
}

// foreign says whether another sidecar erased it.
func (g *erased) foreign() bool { return !g.until.IsZero() }

// keeps says whether what was made then came after the erasure.
func (g *erased) keeps(made time.Time) bool { return g.foreign() && made.After(g.until) }

// without is a memory without what it has from there. It is asked while what goes
// is still there.
func (g *erased) without(v view, m store.Memory) (left store.Memory, changed bool, err error) {
	left = m
	left.Evidence = slices.DeleteFunc(slices.Clone(m.Evidence), func(e store.Evidence) bool { return g.sessions[e.Session] && !g.keeps(e.Time) })
	left.SourceIDs = slices.DeleteFunc(slices.Clone(m.SourceIDs), func(id string) bool {
		b, e := v.raw(idKey(byMemory, v.h.memory(id)))
		if e != nil {
			if !errors.Is(e, store.ErrNotFound) {
				err = e
			}
			return false
		}
		return g.takes(v.h, id, place(b))
	})
	return left, len(left.Evidence) < len(m.Evidence) || len(left.SourceIDs) < len(m.SourceIDs), err
}

// followErased takes the evidence and the sources that go out of the tenant's
// other memories. One that has nothing besides goes too. Older forms of a
// memory that is kept go, because they hold what it loses.
func (s *Store) followErased(h *handle, tenant string, gone *erased, rec *store.Receipt) error {
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	v := view{h, txn}
	scopes, err := v.scopes(tenant)
	if err != nil {
		return err
	}
	for _, sc := range scopes {
		at := h.at(tenant, sc)
		if gone.going[at] && len(gone.stay) == 0 {
			continue
		}
		for r := range v.rows(join(famMemory, at[:]), nil) {
			var m store.Memory
			if gone.going[at] && !gone.stay[tail(r)] {
				continue
			}
			if err := r.into(&m); err != nil {
				return err
			}
			left, changed, err := gone.without(v, m)
			if err != nil {
				return err
			}
			if !changed {
				continue
			}
			if err := s.apply(h, &tx{foreign: !gone.tell}, func(t *tx) error { return s.loseErased(t, &m, left, rec) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Store) loseErased(t *tx, m *store.Memory, left store.Memory, rec *store.Receipt) error {
	defer func() { rec.Outbox += len(t.shipped) }()
	at := t.h.at(m.Tenant, m.Scope)
	if len(left.Evidence) == 0 && len(left.SourceIDs) == 0 {
		rec.Memories++
		if err := s.setGone(t, t.h.memory(m.ID)); err != nil {
			return err
		}
		return s.eraseMemory(t, at, m, &traces{})
	}
	rec.Remade++
	id := t.h.memory(m.ID)
	var older [][]byte
	for r := range t.rows(join(famRevision, at[:], id[:]), nil) {
		older = append(older, r.key())
	}
	for _, k := range older {
		if err := t.del(k); err != nil {
			return err
		}
	}
	rec.Revisions += len(older)
	if err := s.dropReady(t, at); err != nil {
		return err
	}
	left.Loses(m)
	left.UpdatedAt = s.now()
	return s.storeMemory(t, at, &left)
}
