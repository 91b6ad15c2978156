package badgerdb

import (
	"context"
	"errors"
	"fmt"

	"hindsight/store"
)

// ImportMemories writes memories as they stood elsewhere: with their state, their
// evidence and what refers to what among them. One that is here already, by its
// id or by its text, stays as it is; one that was forgotten here, or that is from
// before an erasure of its scope, isn't brought back. Doing it again adds nothing. An id that another scope of this store has
// is replaced, in the references of the same call too. It is committed in pieces
// like [Store.PutMemories].
func (s *Store) ImportMemories(ctx context.Context, ms []store.Memory) ([]store.Imported, error) {
	for i := range ms {
		if err := writable(&ms[i]); err != nil {
			return nil, fmt.Errorf("memory %d: %w", i+1, err)
		}
	}
	if err := s.roomToWrite(); err != nil {
		return nil, err
	}
	out := make([]store.Imported, len(ms))
	err := s.change(func(t *tx) error {
		t.by = store.Change{By: store.Copied}
		ids, err := s.importIDs(t, ms)
		if err != nil {
			return err
		}
		for i := range ms {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("memory %d: %w", i+1, err)
			}
			if err := t.room(memoryBytes(&ms[i]), memoryKeys); err != nil {
				return err
			}
			if out[i], err = s.importMemory(t, ms[i], ids); err != nil {
				return fmt.Errorf("memory %d: %w", i+1, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("import memories", err)
	}
	return out, nil
}

// importIDs gives each memory the id under which it will stand, and maps the ids
// that change.
func (s *Store) importIDs(t *tx, ms []store.Memory) (map[string]string, error) {
	ids, taken := map[string]string{}, map[string]bool{}
	for i := range ms {
		m := &ms[i]
		m.Tenant = s.tenant(m.Tenant)
		at, was := t.h.at(m.Tenant, m.Scope), m.ID
		free := func(id string) (bool, error) {
			old, oldAt, err := t.memory(id)
			switch {
			case errors.Is(err, store.ErrNotFound):
				return true, nil
			case err != nil:
				return false, err
			}
			// A name that was replaced has to be the same memory to be kept.
			return oldAt == at && (id == was || store.Fold(old.Text) == store.Fold(m.Text)), nil
		}
		for n := uint64(0); ; n++ {
			if m.ID != "" && !taken[m.ID] {
				ok, err := free(m.ID)
				if err != nil {
					return nil, err
				}
				if ok {
					break
				}
			}
			m.ID = store.MemoryID(m.Tenant, m.Scope, "", n, n, m.Subject, store.Fold(m.Text))
			if was == "" && taken[m.ID] {
				break // one text twice in a file that has no ids
			}
		}
		taken[m.ID] = true
		if was != "" && was != m.ID {
			ids[was] = m.ID
		}
	}
	return ids, nil
}

func (s *Store) importMemory(t *tx, m store.Memory, ids map[string]string) (store.Imported, error) {
	at := t.h.at(m.Tenant, m.Scope)
	old, oldAt, err := t.memory(m.ID)
	if errors.Is(err, store.ErrNotFound) && (m.State == "" || m.State == store.Active || m.State == store.Archived) {
		old, oldAt, err = t.sameText(at, m.Scope, m.Text)
	}
	here := err == nil && oldAt == at
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return store.Imported{}, err
	}
	if !here && tooOld(spoken(&m), s.scopeErased(t.h, m.Tenant, m.Scope)) {
		return store.Imported{Result: store.ImportForgotten}, nil
	}
	gone, lifted, err := s.forgotten(t, at, &m)
	switch {
	case err != nil:
		return store.Imported{}, err
	case gone && m.State != store.Archived && (!here || old.State == store.Archived):
		return store.Imported{Result: store.ImportForgotten}, nil
	case here:
		return store.Imported{ID: old.ID, Result: store.ImportKnown}, nil
	}
	if lifted {
		if err := s.lift(t, at, m.Scope, m.Text); err != nil {
			return store.Imported{}, err
		}
	}
	buried := m.State == store.Archived && m.Change.By == store.Forgotten
	if next, ok := ids[m.SupersededBy]; ok {
		m.SupersededBy = next
	}
	sources := make([]string, len(m.SourceIDs))
	for i, id := range m.SourceIDs {
		if sources[i] = id; ids[id] != "" {
			sources[i] = ids[id]
		}
	}
	m.SourceIDs = sources
	if err := s.putMemory(t, &m, nil); err != nil {
		return store.Imported{}, err
	}
	if buried { // a person had it forgotten there: it isn't learned here
		if err := s.bury(t, at, &m); err != nil {
			return store.Imported{}, err
		}
	}
	return store.Imported{ID: m.ID, Result: store.ImportAdded}, nil
}
