package badgerdb

import (
	"context"
	"errors"
	"time"

	"hindsight/store"
)

// AbsorbMemories takes in memories as the fleet has them. Each is merged with the
// form that is here ([store.Merged]), so that order and repetition don't matter.
// What came leaves no row in the outbox, but where the merged form, or what is
// known here of an erasure, differs from it: that is enrolled, for the others. It
// is committed in pieces; one that can't be kept is logged and passed over.
func (s *Store) AbsorbMemories(ctx context.Context, ms []store.SharedMemory) error {
	if err := s.roomToWrite(); err != nil {
		return err
	}
	return wrap("take in memories", s.change(func(t *tx) error {
		t.foreign = true
		for i := range ms {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			m := &ms[i].Memory
			if writable(m) != nil || m.ID == "" || memoryMark(m.State) == 0 {
				s.log.Warn("pass over a shared memory that lacks something")
				continue
			}
			if err := t.room(2*weight(m)+8*len(ms[i].Vector)+1024, 60); err != nil {
				return err
			}
			if err := s.absorb(t, &ms[i]); err != nil {
				return err
			}
		}
		return nil
	}))
}

// absorb takes one memory in.
func (s *Store) absorb(t *tx, sm *store.SharedMemory) error {
	in := sm.Memory
	in.Tenant = s.tenant(in.Tenant)
	at, id := t.h.at(in.Tenant, in.Scope), t.h.memory(in.ID)
	old, oldAt, err := t.memory(in.ID)
	here := err == nil
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if here && oldAt != at {
		s.log.Warn("pass over a shared memory whose id another scope has")
		return nil
	}
	if gone, err := s.goneBefore(t, at, &in); err != nil || gone {
		if err == nil && here {
			return s.enrol(t, at, waiting{kind: outMemory, id: in.ID})
		}
		return err
	}
	merged := in
	if here {
		merged = store.Merged(old, in)
		merged.Tenant = in.Tenant
	}
	if err := s.underStone(t, at, &merged); err != nil {
		return err
	}
	noNulls(&merged)
	if !here || merged.Digest() != old.Digest() {
		if err := s.putAbsorbed(t, at, &merged, &old, here); err != nil {
			return err
		}
	}
	lacks, err := s.absorbVector(t, at, id, sm, &merged)
	if err != nil {
		return err
	}
	if lacks || merged.Digest() != in.Digest() {
		return s.enrol(t, at, waiting{kind: outMemory, id: in.ID})
	}
	return nil
}

// goneBefore says whether a memory was erased after it was made, by itself or
// with its scope. The shared store still has it then, so that its going is
// enrolled again.
func (s *Store) goneBefore(t *tx, at place, m *store.Memory) (bool, error) {
	erased, err := s.erasedAt(t, t.h.memory(m.ID))
	if err != nil {
		return false, err
	}
	erased = latest(erased, s.scopeErased(t.h, m.Tenant, m.Scope))
	if erased.IsZero() || m.CreatedAt.After(erased) {
		return false, nil
	}
	return true, s.enrol(t, at, waiting{kind: outGone, id: m.ID, tenant: m.Tenant, scope: m.Scope, time: erased})
}

// underStone archives what a person has had forgotten after it was last said or
// brought back: the same text, or this memory by a sentence that it rests on.
func (s *Store) underStone(t *tx, at place, m *store.Memory) error {
	if m.State != store.Active {
		return nil
	}
	var forgotten time.Time
	for _, text := range words(m) {
		stone, err := t.stone(at, t.h.text(m.Scope, text))
		if err != nil {
			return err
		}
		if stone.stands() && (text == m.Text || stone.Memory == m.ID) {
			forgotten = latest(forgotten, stone.Time)
		}
	}
	if forgotten.IsZero() || sayingOf(m).After(forgotten) {
		return nil
	}
	was := *m
	m.State, m.ArchivedAt, m.Change = store.Archived, forgotten, store.Change{By: store.Forgotten}
	m.Follows(&was, forgotten)
	m.UpdatedAt = latest(was.UpdatedAt, forgotten) // the same wherever it is done
	return nil
}

// sayingOf is when a memory was last said by its user, written or brought back.
func sayingOf(m *store.Memory) time.Time {
	at := latest(m.CreatedAt, m.Life.At)
	if m.AttributedTo == store.ByUser {
		at = latest(at, newest(m))
	}
	return at
}

// putAbsorbed writes a merged memory over the form that was here.
func (s *Store) putAbsorbed(t *tx, at place, m, old *store.Memory, here bool) error {
	id := t.h.memory(m.ID)
	if err := s.ensureScope(t, at, m.Tenant, m.Scope); err != nil {
		return err
	}
	if here {
		if err := s.replaceAbsorbed(t, at, m, old); err != nil {
			return err
		}
	} else if err := t.set(idKey(byMemory, id), at[:], 0, 0); err != nil {
		return err
	}
	h := t.h.text(m.Scope, m.Text)
	if m.State == store.Active || m.State == store.Archived {
		if err := t.putPlain(join(famText, at[:], h[:]), []byte(m.ID), 0, 0); err != nil {
			return err
		}
	}
	if stone, err := t.stone(at, h); err != nil {
		return err
	} else if stone.stands() && m.State == store.Archived {
		if err := s.hideForgotten(t, at, id); err != nil {
			return err
		}
	}
	return s.storeMemory(t, at, m)
}

// replaceAbsorbed keeps or drops what belongs to the form that was here.
func (s *Store) replaceAbsorbed(t *tx, at place, m, old *store.Memory) error {
	id := t.h.memory(m.ID)
	if !m.CreatedAt.Equal(old.CreatedAt) {
		if err := t.del(memoryIndex(at, old.CreatedAt, id)); err != nil {
			return err
		}
	}
	if err := s.dropWords(t, at, m, old); err != nil {
		return err
	}
	if len(m.Life.Lost) == len(old.Life.Lost) {
		if m.Revision <= old.Revision {
			return nil
		}
		return t.put(join(famRevision, at[:], id[:], u32(uint32(old.Revision))), old, 0, 0)
	}
	// Something that it rested on was erased: older forms and snapshots hold it.
	if _, err := t.delAll(join(famRevision, at[:], id[:])); err != nil {
		return err
	}
	return s.dropReady(t, at)
}

// hideForgotten does to a memory that was forgotten elsewhere what bury does.
func (s *Store) hideForgotten(t *tx, at place, id store.Hash) error {
	if err := s.dropReady(t, at); err != nil {
		return err
	}
	return s.setGone(t, id)
}

// absorbVector keeps a memory's vector where it is of what the memory says now.
// It says whether the shared one lacks a vector that is here.
func (s *Store) absorbVector(t *tx, at place, id store.Hash, sm *store.SharedMemory, m *store.Memory) (lacks bool, err error) {
	mark := s.vectors.used()
	if mark == 0 || m.Text != sm.Memory.Text || m.Subject != sm.Memory.Subject {
		return false, nil
	}
	has, err := t.embedded(at, id, mark)
	if err != nil || has || len(sm.Vector) == 0 {
		return has && len(sm.Vector) == 0, err
	}
	return false, s.putVector(t, m, sm.Vector, mark)
}
