package badgerdb

import (
	"context"
	"errors"
	"fmt"

	"hindsight/store"
)

// ImportRevisions gives memories that an import brought the older forms that they
// had elsewhere; [Store.ImportMemories] comes first. One that isn't here, was
// changed here since or has another scope gets none (store.ImportLeft), and a live
// one none that says what a person had forgotten here. Doing it again adds nothing.
func (s *Store) ImportRevisions(ctx context.Context, older []store.Memory) ([]store.Imported, error) {
	for i := range older {
		if err := writable(&older[i]); err != nil {
			return nil, fmt.Errorf("revision %d: %w", i+1, err)
		}
	}
	if err := s.roomToWrite(); err != nil {
		return nil, err
	}
	out := make([]store.Imported, len(older))
	err := s.change(func(t *tx) error {
		for i := range older {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := t.room(2*memoryBytes(&older[i]), memoryKeys); err != nil {
				return err
			}
			result, err := s.importRevision(t, older[i])
			if err != nil {
				return fmt.Errorf("revision %d: %w", i+1, err)
			}
			out[i] = store.Imported{ID: older[i].ID, Result: result}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("import revisions", err)
	}
	return out, nil
}

func (s *Store) importRevision(t *tx, older store.Memory) (store.ImportResult, error) {
	now, at, err := t.memory(older.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && at != t.h.at(s.tenant(older.Tenant), older.Scope) {
		return store.ImportLeft, nil
	}
	if err != nil {
		return "", err
	}
	id := t.h.memory(older.ID)
	key := join(famRevision, at[:], id[:], u32(uint32(older.Revision)))
	switch err := t.get(key, new(store.Memory)); {
	case err == nil:
		return store.ImportKnown, nil
	case !errors.Is(err, store.ErrNotFound):
		return "", err
	case now.Change.By != store.Copied:
		return store.ImportLeft, nil
	}
	older.Tenant = now.Tenant
	// What is archived itself takes its forms along: they go where it goes.
	if gone, _, err := s.forgotten(t, at, &older); err != nil || gone && now.State != store.Archived {
		return store.ImportForgotten, err
	}
	if err := t.put(key, &older, 0, 0); err != nil || now.Revision > older.Revision {
		return store.ImportAdded, err
	}
	now.Revision = older.Revision + 1
	return store.ImportAdded, s.storeMemory(t, at, &now)
}
