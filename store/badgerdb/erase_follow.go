package badgerdb

import (
	"slices"
	"time"

	"hindsight/store"
)

// erased is what went with a scope and may be evidence elsewhere.
type erased struct {
	sessions map[string]bool
	ids      []string
	// until is when another sidecar erased it, zero for an erasure of our own: what
	// came later stays.
	until time.Time
	stay  map[store.Hash]bool // memories that came later
}

// foreign says whether the fleet has the erasure already.
func (g *erased) foreign() bool { return !g.until.IsZero() }

// keeps says whether what was made then came after the erasure.
func (g *erased) keeps(made time.Time) bool { return g.foreign() && made.After(g.until) }

// without is a memory without what it has from there.
func (g *erased) without(m store.Memory) (left store.Memory, changed bool) {
	left = m
	left.Evidence = slices.DeleteFunc(slices.Clone(m.Evidence), func(e store.Evidence) bool { return g.sessions[e.Session] && !g.keeps(e.Time) })
	left.SourceIDs = slices.DeleteFunc(slices.Clone(m.SourceIDs), func(id string) bool { return slices.Contains(g.ids, id) })
	return left, len(left.Evidence) < len(m.Evidence) || len(left.SourceIDs) < len(m.SourceIDs)
}

// followErased takes the evidence and the sources that went out of the tenant's
// other memories. One that has nothing besides goes too. Older forms of a
// memory that is kept go, because they hold what it loses.
func (s *Store) followErased(h *handle, tenant string, gone *erased, rec *store.Receipt) error {
	if len(gone.sessions) == 0 && len(gone.ids) == 0 {
		return nil
	}
	var list []store.Memory
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	t := h.tenant(tenant)
	for r := range (view{h, txn}).rows(join(famMemory, t[:]), nil) {
		var m store.Memory
		if err := r.into(&m); err != nil {
			return err
		}
		if _, changed := gone.without(m); changed {
			list = append(list, m)
		}
	}
	for i := range list {
		if err := s.apply(h, &tx{foreign: gone.foreign()}, func(t *tx) error { return s.loseErased(t, &list[i], gone, rec) }); err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) loseErased(t *tx, m *store.Memory, gone *erased, rec *store.Receipt) error {
	at := t.h.at(m.Tenant, m.Scope)
	left, _ := gone.without(*m)
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
