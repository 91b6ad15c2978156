package badgerdb

import (
	"context"
	"errors"
	"time"

	"hindsight/store"
)

// EnqueueConsolidation asks for the consolidation of a subject in a scope.
// Asking again while one waits changes nothing; one that was given up comes
// back when more memories have gathered than it had. False: nothing was queued.
func (s *Store) EnqueueConsolidation(_ context.Context, o store.Owner, session string, sc store.Scope, subject string, sources int) (store.Job, bool, error) {
	var j store.Job
	queued := false
	err := s.change(func(t *tx) error {
		o = s.owner(o)
		id := "j" + t.h.id.Hash("consolidation of", o.Tenant, string(sc), store.Fold(subject)).String()
		was, err := t.job(id)
		switch {
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		case err == nil && was.State == store.Dead && sources <= was.Sources,
			err == nil && was.State != store.Dead && was.State != store.Done:
			j = was
			return nil
		}
		queued = true
		j = store.Job{
			ID: id, Session: session, Owner: o, Trigger: store.TriggerConsolidate, State: store.Queued, Created: s.now(),
			Scope: sc, Subject: subject, Sources: sources,
		}
		return s.putJob(t, &j)
	})
	return j, queued && err == nil, wrap("enqueue consolidation", err)
}

// Consolidate writes one memory in place of several, in one transaction: the
// new one first, then the sources as consolidated, their superseded_by naming
// it. A claimed job, where j names one, ends with it. The error is
// store.ErrStale where a source isn't active any more or was changed since it
// was read, or the claim was lost; store.ErrForgotten where a person had the
// new text forgotten. Then nothing has changed.
func (s *Store) Consolidate(_ context.Context, j store.Job, product store.Memory, sources []store.Memory) (store.Memory, error) {
	if err := writable(&product); err != nil {
		return product, err
	}
	if err := s.roomToWrite(); err != nil {
		return product, err
	}
	err := s.change(func(t *tx) error {
		t.by = store.Change{By: store.Gathered, Session: j.Session}
		product.Tenant = s.tenant(product.Tenant)
		at := t.h.at(product.Tenant, product.Scope)
		old := make([]store.Memory, len(sources))
		for i, src := range sources {
			is, isAt, err := t.memory(src.ID)
			if errors.Is(err, store.ErrNotFound) || err == nil && (isAt != at || is.State != store.Active || is.Revision != src.Revision) {
				return store.ErrStale
			}
			if err != nil {
				return err
			}
			old[i] = is
		}
		if _, _, err := t.memory(product.ID); err == nil {
			return store.ErrStale
		} else if !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if gone, _, err := s.forgotten(t, at, &product); err != nil {
			return err
		} else if gone {
			return store.ErrForgotten
		}
		product.SourceIDs = nil
		for _, m := range old {
			product.SourceIDs = append(product.SourceIDs, m.ID)
		}
		if err := s.putMemory(t, &product, nil); err != nil {
			return err
		}
		for i := range old {
			if err := s.hide(t, &old[i], product.ID); err != nil {
				return err
			}
		}
		return s.endConsolidation(t, j, product.ID)
	})
	return product, wrap("consolidate memories", err)
}

// EndConsolidation ends a claimed consolidation that had nothing left to do.
func (s *Store) EndConsolidation(_ context.Context, j store.Job) error {
	return wrap("end consolidation", s.change(func(t *tx) error { return s.endConsolidation(t, j) }))
}

func (s *Store) endConsolidation(t *tx, j store.Job, kept ...string) error {
	if j.ID == "" {
		return nil
	}
	is, err := t.held(j)
	if err != nil {
		return err
	}
	is.State, is.Reason, is.Kept, is.Claim, is.Lease = store.Done, "", kept, "", time.Time{}
	return s.putJob(t, &is)
}

// hide marks an active memory as a source of another.
func (s *Store) hide(t *tx, old *store.Memory, product string) error {
	m := *old
	m.State, m.SupersededBy = store.Consolidated, product
	return s.putMemory(t, &m, old)
}

// UndoConsolidation brings the sources of a consolidation back and archives
// what was made of them, without a tombstone. The error is
// store.ErrNotConsolidated where the memory isn't an active one that a
// consolidation made.
func (s *Store) UndoConsolidation(_ context.Context, id string) (product store.Memory, sources []store.Memory, err error) {
	err = s.change(func(t *tx) error {
		t.by = store.Change{By: store.Undone}
		old, _, err := t.memory(id)
		if err != nil {
			return err
		}
		if len(old.SourceIDs) == 0 || old.State != store.Active {
			return store.ErrNotConsolidated
		}
		if product, sources, err = s.part(t, old, ""); err == nil && len(sources) == 0 {
			return store.ErrNotConsolidated
		}
		return err
	})
	return product, sources, wrap("undo consolidation", err)
}

// part archives what a consolidation made and brings its sources back, all but
// one (empty: all).
func (s *Store) part(t *tx, product store.Memory, but string) (store.Memory, []store.Memory, error) {
	old := product
	if product.State == store.Active {
		product.State, product.ArchivedAt = store.Archived, s.now()
		if err := s.putMemory(t, &product, &old); err != nil {
			return product, nil, err
		}
	}
	hidden, err := t.hidden(&product)
	if err != nil {
		return product, nil, err
	}
	var back []store.Memory
	for i := range hidden {
		if hidden[i].ID == but {
			continue
		}
		m := hidden[i]
		m.State, m.SupersededBy = store.Active, ""
		if err := s.putMemory(t, &m, &hidden[i]); err != nil {
			return product, nil, err
		}
		back = append(back, m)
	}
	return product, back, nil
}

// hidden lists the sources that stand consolidated into a memory.
func (v view) hidden(product *store.Memory) ([]store.Memory, error) {
	return v.madeFrom(product, func(m *store.Memory) bool {
		return m.State == store.Consolidated && m.SupersededBy == product.ID
	})
}

// madeFrom lists the sources of a memory of its own scope that fit.
func (v view) madeFrom(product *store.Memory, fits func(*store.Memory) bool) ([]store.Memory, error) {
	var out []store.Memory
	at := v.h.at(product.Tenant, product.Scope)
	for _, id := range product.SourceIDs {
		m, mAt, err := v.memory(id)
		if errors.Is(err, store.ErrNotFound) {
			continue // erased since
		}
		if err != nil {
			return nil, err
		}
		if mAt == at && fits(&m) {
			out = append(out, m)
		}
	}
	return out, nil
}

// regather undoes [Store.part] for a product that comes back from the archive:
// its sources are hidden again.
func (s *Store) regather(t *tx, product *store.Memory) error {
	back, err := t.madeFrom(product, func(m *store.Memory) bool { return m.State == store.Active })
	if err != nil {
		return err
	}
	for i := range back {
		if err := s.hide(t, &back[i], product.ID); err != nil {
			return err
		}
	}
	return nil
}
