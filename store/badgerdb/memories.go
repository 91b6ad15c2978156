package badgerdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
)

// The marks beside a memory's record: its state, so that counting and listing
// need not read it.
func memoryMark(st store.State) byte {
	switch st {
	case store.Active:
		return 1
	case store.Superseded:
		return 2
	case store.Consolidated:
		return 3
	case store.Archived:
		return 4
	case store.Quarantined:
		return 5
	}
	return 0
}

func markedState(mark byte) store.State {
	for _, st := range []store.State{store.Active, store.Superseded, store.Consolidated, store.Archived, store.Quarantined} {
		if memoryMark(st) == mark {
			return st
		}
	}
	return ""
}

func memoryKey(at place, id store.Hash) []byte { return join(famMemory, at[:], id[:]) }

// memory finds a memory and its place by id.
func (v view) memory(id string) (store.Memory, place, error) {
	var m store.Memory
	h := v.h.memory(id)
	ref, err := v.raw(idKey(byMemory, h))
	if err != nil {
		return m, place{}, err
	}
	at := place(ref)
	err = v.get(memoryKey(at, h), &m)
	return m, at, err
}

// Memory finds one memory, whatever its state.
func (s *Store) Memory(_ context.Context, id string) (store.Memory, error) {
	var m store.Memory
	err := s.view(func(v view) (err error) {
		m, _, err = v.memory(id)
		return err
	})
	return m, wrap("find memory", err)
}

// Revisions lists the older forms of a memory, the newest first.
func (s *Store) Revisions(_ context.Context, id string) ([]store.Memory, error) {
	out := []store.Memory{}
	err := s.view(func(v view) error {
		_, at, err := v.memory(id)
		if err != nil {
			return err
		}
		h := v.h.memory(id)
		for r := range v.rows(join(famRevision, at[:], h[:]), nil) {
			var m store.Memory
			if err := r.into(&m); err != nil {
				return err
			}
			out = append(out, m)
		}
		slices.Reverse(out)
		return nil
	})
	return out, wrap("list revisions", err)
}

// Memories lists memories, the last created first, and the cursor of the next
// page, empty at the end.
func (s *Store) Memories(ctx context.Context, f store.MemoryFilter) ([]store.Memory, string, error) {
	if f.State == "" {
		f.State = store.Active
	}
	list := listing[store.Memory]{
		family: famMemories,
		limit:  f.Limit,
		cursor: f.Cursor,
		only:   f.Scope,
		mark:   memoryMark(f.State),
		read: func(v view, p place, id store.Hash) (store.Memory, bool, error) {
			var m store.Memory
			err := v.get(memoryKey(p, id), &m)
			return m, err == nil && matchMemory(f, &m), err
		},
		made: func(m *store.Memory) (time.Time, string) { return m.CreatedAt, m.ID },
		hash: func(h *handle, id string) store.Hash { return h.memory(id) },
	}
	out, next, err := run(ctx, s, s.tenant(f.Tenant), list)
	return out, next, wrap("list memories", err)
}

func matchMemory(f store.MemoryFilter, m *store.Memory) bool {
	from := func(e store.Evidence) bool { return e.Session == f.Session }
	return m.State == f.State &&
		(f.Type == "" || m.Type == f.Type) &&
		(f.Layer == "" || m.Layer == f.Layer) &&
		(f.Subject == "" || store.Fold(m.Subject) == store.Fold(f.Subject)) &&
		(f.Scenario == "" || store.Fold(m.Scenario) == store.Fold(f.Scenario)) &&
		(f.Session == "" || slices.ContainsFunc(m.Evidence, from)) &&
		(f.Since.IsZero() || !m.CreatedAt.Before(f.Since)) &&
		(f.Until.IsZero() || m.CreatedAt.Before(f.Until))
}

// PutMemory writes a memory for a person: a tombstone of the same text is
// lifted. Where the same id or the same folded text stands active in the scope,
// that one is returned and nothing changes; where it was archived, it is
// restored. The bool says whether a new one was made. Tenant, Scope, Type and
// Text must be set; the rest has defaults. An id that another scope has is
// replaced by one of its own.
func (s *Store) PutMemory(_ context.Context, m store.Memory) (store.Memory, bool, error) {
	if err := writable(&m); err != nil {
		return m, false, err
	}
	if err := s.roomToWrite(); err != nil {
		return m, false, err
	}
	created := false
	err := s.change(func(t *tx) (err error) {
		t.by = store.Change{By: store.Written}
		m, created, err = s.writeMemory(t, m)
		return err
	})
	return m, created && err == nil, wrap("write memory", err)
}

// writable says what a memory lacks to be written.
func writable(m *store.Memory) error {
	if m.Tenant == "" || m.Scope == "" || m.Text == "" || m.Type == "" {
		return errors.New("write memory: tenant, scope, type and text must be set")
	}
	return nil
}

// writeMemory is PutMemory inside a change: it returns the memory that stands
// then, and whether it is new.
func (s *Store) writeMemory(t *tx, m store.Memory) (store.Memory, bool, error) {
	m.Tenant = s.tenant(m.Tenant)
	at := t.h.at(m.Tenant, m.Scope)
	old, oldAt, err := t.written(at, &m)
	if errors.Is(err, store.ErrNotFound) {
		old, oldAt, err = t.sameText(at, m.Scope, m.Text)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return m, false, err
	}
	found := err == nil && oldAt == at
	if err := s.lift(t, at, m.Scope, m.Text); err != nil {
		return m, false, err
	}
	switch {
	case found && old.State == store.Active:
		return old, false, nil
	case found && old.State == store.Archived:
		m = old
		err := s.reinstate(t, at, &m, &old)
		return m, false, err
	case found && old.ID == m.ID: // superseded, consolidated or quarantined: said again
		m.CreatedAt = old.CreatedAt
		err := s.reinstate(t, at, &m, &old)
		return m, false, err
	}
	err = s.putMemory(t, &m, nil)
	return m, true, err
}

// written finds the memory that has the id of a written one, which gets an id
// if it has none or one that another scope has. An id that comes of the text
// may be taken by a memory that was edited since: then the next one is tried.
func (v view) written(at place, m *store.Memory) (store.Memory, place, error) {
	if m.ID != "" {
		if old, oldAt, err := v.memory(m.ID); err != nil || oldAt == at {
			return old, oldAt, err
		}
	}
	folded := store.Fold(m.Text)
	for n := uint64(0); ; n++ {
		m.ID = store.MemoryID(m.Tenant, m.Scope, "", n, n, m.Subject, folded)
		old, oldAt, err := v.memory(m.ID)
		if err != nil || oldAt == at && store.Fold(old.Text) == folded {
			return old, oldAt, err
		}
	}
}

// sameText finds the memory of a scope whose folded text is that of text.
func (v view) sameText(at place, sc store.Scope, text string) (store.Memory, place, error) {
	h := v.h.text(sc, text)
	r, err := v.row(join(famText, at[:], h[:]))
	if err != nil {
		return store.Memory{}, at, err
	}
	id, err := r.plain()
	if err != nil {
		return store.Memory{}, at, err
	}
	return v.memory(string(id))
}

// EditMemory changes one memory; the form before it is kept as a revision.
// What edit returns as an error is returned as it is; it may say in Change what
// it is. Id, tenant, scope and the time of creation stay. It lifts a tombstone of the new text.
func (s *Store) EditMemory(_ context.Context, id string, edit func(*store.Memory) error) (store.Memory, error) {
	var m store.Memory
	if err := s.roomToWrite(); err != nil {
		return m, err
	}
	err := s.change(func(t *tx) error {
		old, at, err := t.memory(id)
		if err != nil {
			return wrap("edit memory", err)
		}
		if m, err = clone(old); err != nil {
			return wrap("edit memory", err)
		}
		m.Change = store.Change{By: store.Edited}
		if err := edit(&m); err != nil {
			return err
		}
		t.by = m.Change
		m.ID, m.Tenant, m.Scope, m.CreatedAt = old.ID, old.Tenant, old.Scope, old.CreatedAt
		if m.State == store.Active && (m.Text != old.Text || old.State != store.Active) {
			if err := s.lift(t, at, m.Scope, m.Text); err != nil {
				return wrap("edit memory", err)
			}
		}
		return wrap("edit memory", s.putMemory(t, &m, &old))
	})
	return m, err
}

// clone parts a memory from another, slices and map included.
func clone(m store.Memory) (store.Memory, error) {
	b, err := json.Marshal(m)
	if err != nil {
		return m, fmt.Errorf("copy memory: %w", err)
	}
	var out store.Memory
	return out, json.Unmarshal(b, &out)
}

// putMemory writes a memory over old (nil: there is none) with its revision,
// indices and marks, and completes its fields.
func (s *Store) putMemory(t *tx, m *store.Memory, old *store.Memory) error {
	now := s.now()
	complete(m, now)
	at, id := t.h.at(m.Tenant, m.Scope), t.h.memory(m.ID)
	if err := s.ensureScope(t, at, m.Tenant, m.Scope); err != nil {
		return err
	}
	m.Revision, m.Change = 1, t.by
	if old != nil {
		m.Follows(old, now)
		key := join(famRevision, at[:], id[:], u32(uint32(old.Revision)))
		if err := t.put(key, old, 0, 0); err != nil {
			return err
		}
		if err := s.dropWords(t, at, m, old); err != nil {
			return err
		}
	} else {
		if err := s.renew(t, m, now); err != nil {
			return err
		}
		if err := t.set(idKey(byMemory, id), at[:], 0, 0); err != nil {
			return err
		}
	}
	if m.State == store.Active || m.State == store.Archived {
		h := t.h.text(m.Scope, m.Text)
		if err := t.putPlain(join(famText, at[:], h[:]), []byte(m.ID), 0, 0); err != nil {
			return err
		}
	}
	return s.storeMemory(t, at, m)
}

// storeMemory writes the record and what goes with it at each change.
func (s *Store) storeMemory(t *tx, at place, m *store.Memory) error {
	id, mark := t.h.memory(m.ID), memoryMark(m.State)
	if mark == 0 {
		return fmt.Errorf("unknown state %q", m.State)
	}
	if err := t.put(memoryKey(at, id), m, mark, 0); err != nil {
		return err
	}
	if err := t.set(memoryIndex(at, m.CreatedAt, id), at.scope(), mark, 0); err != nil {
		return err
	}
	var err error
	switch m.State {
	case store.Quarantined:
		err = s.setGone(t, id)
	case store.Active:
		err = s.clearGone(t, id)
	}
	if err != nil {
		return err
	}
	s.feed.later(t, m.Tenant, m.Scope, m.ID)
	s.vectors.later(t, m.ID)
	if err := s.shipMemory(t, at, m.ID); err != nil {
		return err
	}
	return s.unready(t, at, id)
}

func memoryIndex(at place, created time.Time, id store.Hash) []byte {
	return join(famMemories, at.tenant(), descending(created), id[:])
}

// dropWords removes what is found by the words that a memory had, where m has
// others.
func (s *Store) dropWords(t *tx, at place, m, old *store.Memory) error {
	if err := t.dropText(at, old); err != nil {
		return err
	}
	if old.Text == m.Text && old.Subject == m.Subject {
		return nil
	}
	return s.dropVector(t, at, m)
}

// dropText removes the same-text entry of a memory, if it is that memory's.
func (t *tx) dropText(at place, m *store.Memory) error {
	h := t.h.text(m.Scope, m.Text)
	key := join(famText, at[:], h[:])
	r, err := t.row(key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	id, err := r.plain()
	if err != nil || string(id) != m.ID {
		return err
	}
	return t.del(key)
}

// complete sets what a memory's writer left out.
func complete(m *store.Memory, now time.Time) {
	if m.Layer == "" {
		m.Layer = store.LayerOf(m.Type)
	}
	if m.State == "" {
		m.State = store.Active
	}
	if m.AttributedTo == "" {
		m.AttributedTo = store.ByUser
	}
	if m.CreatedAt.IsZero() {
		m.CreatedAt = now
	}
	if m.State == store.Archived && m.ArchivedAt.IsZero() {
		m.ArchivedAt = now
	}
	m.UpdatedAt = now
	noNulls(m)
}

// noNulls gives a memory the lists and the map that JSON would have as null.
func noNulls(m *store.Memory) {
	if m.Evidence == nil {
		m.Evidence = []store.Evidence{}
	}
	if m.SourceIDs == nil {
		m.SourceIDs = []string{}
	}
	if m.Metadata == nil {
		m.Metadata = map[string]string{}
	}
}
