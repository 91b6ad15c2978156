package badgerdb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
)

// RestoreMemory makes a memory live again and lifts its tombstone. With a
// revision above 0 it says again what it said then, as a new revision; the error
// is store.ErrNoRevision where there is no such one.
//
// A source of a consolidation undoes that one whole; what a consolidation made,
// and was undone, gathers its sources again. A person who restores vouches for
// the memory: it counts as verified, else the next sweep would archive it again.
//
// Only one value is live at a time. Where the memory was superseded, the one
// that stands in its place now goes to the archive, forgotten as by a person;
// where it was archived so, restoring it supersedes the other again.
func (s *Store) RestoreMemory(_ context.Context, id string, revision int) (store.Memory, error) {
	var m store.Memory
	err := s.change(func(t *tx) error {
		t.by = store.Change{By: store.Restored}
		old, at, err := t.memory(id)
		if err != nil {
			return err
		}
		if old.State == store.Consolidated {
			back, err := s.partBack(t, &old)
			if err != nil {
				return err
			}
			if back.ID != "" {
				old = back
			}
		}
		m = old
		if revision > 0 && revision != old.Revision {
			if m, err = t.revision(at, &old, revision); err != nil {
				return err
			}
		} else if old.State == store.Active {
			return nil
		}
		return s.reinstate(t, at, &m, &old)
	})
	return m, wrap("restore memory", err)
}

// revision is what a memory said at an earlier revision, with its use and its
// verification as they are now.
func (v view) revision(at place, now *store.Memory, n int) (store.Memory, error) {
	var m store.Memory
	h := v.h.memory(now.ID)
	err := v.get(join(famRevision, at[:], h[:], u32(uint32(n))), &m)
	if errors.Is(err, store.ErrNotFound) {
		return m, fmt.Errorf("%w: %d", store.ErrNoRevision, n)
	}
	m.Uses, m.LastUsed, m.LastVerified, m.Revision = now.Uses, now.LastUsed, now.LastVerified, now.Revision
	m.Ignored, m.Contradicted = now.Ignored, now.Contradicted
	return m, err
}

// reinstate writes m live over old, and then retires what stood in its place:
// the successor that is live now, and another live memory with the same text.
func (s *Store) reinstate(t *tx, at place, m, old *store.Memory) error {
	after, err := t.successor(old)
	if err != nil {
		return err
	}
	m.State, m.ArchivedAt, m.SupersededBy, m.ValidTo = store.Active, time.Time{}, "", time.Time{}
	m.LastVerified = s.now()
	twin, _, err := t.sameText(at, m.Scope, m.Text)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err := s.liftAll(t, at, m); err != nil {
		return err
	}
	if err := s.putMemory(t, m, old); err != nil {
		return err
	}
	if err := s.regather(t, m); err != nil {
		return err
	}
	t.by = store.Change{By: store.Undone}
	if err == nil && twin.ID != m.ID && twin.State == store.Active && (after == nil || twin.ID != after.ID) {
		was := twin
		twin.State, twin.SupersededBy = store.Superseded, m.ID
		if err := s.putMemory(t, &twin, &was); err != nil {
			return err
		}
	}
	if after == nil {
		return nil
	}
	was := *after
	after.SupersededBy = m.ID
	switch {
	case was.State != store.Active: // forgotten already; should it come back, this one goes
	case old.State == store.Archived:
		after.State, after.ValidTo = store.Superseded, m.ValidFrom
	default:
		after.State, after.ArchivedAt = store.Archived, s.now()
		if err := s.bury(t, at, after); err != nil {
			return err
		}
	}
	return s.putMemory(t, after, &was)
}

// successor is the last of the memories that took another's place one after the
// other, as far as they are superseded or archived; nil if none did. The
// sources of a consolidated memory have none: it says more than each.
func (v view) successor(m *store.Memory) (*store.Memory, error) {
	if m.State == store.Consolidated {
		return nil, nil
	}
	seen := map[string]bool{m.ID: true}
	var last *store.Memory
	for next := m.SupersededBy; next != "" && !seen[next]; next = last.SupersededBy {
		seen[next] = true
		x, _, err := v.memory(next)
		if errors.Is(err, store.ErrNotFound) {
			break // erased
		}
		if err != nil {
			return nil, err
		}
		if x.Scope != m.Scope {
			break
		}
		last = &x
		if x.State == store.Active {
			break
		}
	}
	return last, nil
}

// Chain lists a memory with all that it replaced and that replaced it, however
// far, and with those that a consolidated or promoted one was made of, in the
// order in which they were said.
func (s *Store) Chain(ctx context.Context, id string) ([]store.Memory, error) {
	var out []store.Memory
	err := s.view(func(v view) error {
		m, at, err := v.memory(id)
		if err != nil {
			return err
		}
		all := map[string]store.Memory{m.ID: m}
		links := map[string][]string{}
		for r := range v.rows(join(famMemory, at[:]), nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			var x store.Memory
			if err := r.into(&x); err != nil {
				return err
			}
			all[x.ID] = x
			for _, to := range append(slices.Clone(x.SourceIDs), x.SupersededBy) {
				links[to] = append(links[to], x.ID)
				links[x.ID] = append(links[x.ID], to)
			}
		}
		seen := map[string]bool{"": true}
		for todo := []string{id}; len(todo) > 0; {
			next := todo[0]
			todo = todo[1:]
			if seen[next] {
				continue
			}
			seen[next] = true
			x, ok := all[next]
			if !ok { // of another scope: a source of a promoted one
				if x, _, err = v.memory(next); errors.Is(err, store.ErrNotFound) {
					continue
				} else if err != nil {
					return err
				}
			}
			out = append(out, x)
			todo = append(todo, links[next]...)
		}
		return nil
	})
	slices.SortStableFunc(out, func(a, b store.Memory) int {
		return cmp.Or(spoken(&a).Compare(spoken(&b)), a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return out, wrap("list chain", err)
}

// spoken is when a memory was last said, or when it was made where nobody
// said it.
func spoken(m *store.Memory) time.Time {
	if at := newest(m); !at.IsZero() {
		return at
	}
	return m.CreatedAt
}
