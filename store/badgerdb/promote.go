package badgerdb

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"hindsight/store"
)

// Lessons lists the live memories in a tenant's users' scopes that may be
// promoted. It reads all the tenant's memories, but few of them whole.
func (s *Store) Lessons(ctx context.Context, tenant string) ([]store.Memory, error) {
	var out []store.Memory
	err := s.view(func(v view) error {
		at := v.h.tenant(s.tenant(tenant))
		for r := range v.rows(join(famMemory, at[:]), nil) {
			if markedState(r.meta()) != store.Active {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			b, err := r.plain()
			if err != nil {
				return err
			}
			if !bytes.Contains(b, []byte(`"`+store.Solution+`"`)) && !bytes.Contains(b, []byte(`"`+store.ErrorLesson+`"`)) {
				continue
			}
			var m store.Memory
			if err := r.into(&m); err != nil {
				return err
			}
			if _, own := m.Scope.UserOf(); own && m.Type.Shareable() {
				out = append(out, m)
			}
		}
		return nil
	})
	return out, wrap("list lessons", err)
}

// Promote writes what the sources say to the promotion's scope, or adds the
// sources to the memory that was made of one of them or has the words already.
// The bool says whether a new one was made. What a person had forgotten or
// archived there comes back by a person only; the error is then
// store.ErrForgotten, and store.ErrUnshareable for what may not be shared.
func (s *Store) Promote(_ context.Context, p store.Promotion) (store.Memory, bool, error) {
	var m store.Memory
	if err := s.roomToWrite(); err != nil {
		return m, false, err
	}
	created := false
	err := s.change(func(t *tx) error {
		t.by = store.Change{By: store.Promoted}
		p.Tenant = s.tenant(p.Tenant)
		sources, err := t.sources(p)
		if err != nil {
			return err
		}
		at := t.h.at(p.Tenant, p.To)
		m = promoted(p, sources)
		old, err := t.promotedFrom(at, p.Sources)
		if errors.Is(err, store.ErrNotFound) {
			old, _, err = t.sameText(at, p.To, m.Text)
		}
		if errors.Is(err, store.ErrNotFound) {
			old, _, err = t.written(at, &m)
		}
		switch {
		case err == nil:
			m, err = s.promoteAgain(t, at, p, old)
			return err
		case !errors.Is(err, store.ErrNotFound):
			return err
		}
		if p.Person {
			err = s.lift(t, at, p.To, m.Text)
		} else {
			err = s.mayPromote(t, at, &m, sources)
		}
		if err != nil {
			return err
		}
		created = true
		return s.putMemory(t, &m, nil)
	})
	return m, created && err == nil, wrap("promote memory", err)
}

// sources reads a promotion's sources, the earliest first.
func (v view) sources(p store.Promotion) ([]store.Memory, error) {
	if _, own := p.To.UserOf(); own || len(p.Sources) == 0 {
		return nil, fmt.Errorf("to %q: %w", p.To, store.ErrUnshareable)
	}
	users := map[string]bool{}
	var out []store.Memory
	for _, id := range p.Sources {
		m, _, err := v.memory(id)
		if err != nil {
			return nil, err
		}
		user, own := m.Scope.UserOf()
		if !own || m.Tenant != p.Tenant || !m.Type.Shareable() || m.State != store.Active {
			return nil, store.ErrUnshareable
		}
		users[user] = true
		out = append(out, m)
	}
	if len(users) < 2 && !p.Person {
		return nil, store.ErrUnshareable
	}
	inOrder(out)
	return out, nil
}

func ofUser(sc store.Scope) bool {
	_, own := sc.UserOf()
	return own
}

func inOrder(ms []store.Memory) {
	slices.SortFunc(ms, func(a, b store.Memory) int {
		return cmp.Or(spoken(&a).Compare(spoken(&b)), cmp.Compare(a.ID, b.ID))
	})
}

// promoted is what sources become in a scope that others read.
func promoted(p store.Promotion, sources []store.Memory) store.Memory {
	first := sources[0]
	m := store.Memory{
		Tenant: p.Tenant, Scope: p.To, Layer: first.Layer, Type: first.Type, Text: first.Text, Subject: first.Subject, Scenario: first.Scenario,
		State: store.Active, AttributedTo: first.AttributedTo, ValidFrom: spoken(&first),
	}
	for i := range sources {
		x := &sources[i]
		m.SourceIDs = append(m.SourceIDs, x.ID)
		m.Importance, m.Confidence = max(m.Importance, x.Importance), max(m.Confidence, x.Confidence)
		if at := spoken(x); at.After(m.LastVerified) {
			m.LastVerified = at
		}
	}
	return m
}

// promotedFrom finds the memory of a scope that was made of one of some sources.
func (v view) promotedFrom(at place, ids []string) (store.Memory, error) {
	for r := range v.rows(join(famMemory, at[:]), nil) {
		var m store.Memory
		if err := r.into(&m); err != nil {
			return m, err
		}
		if slices.ContainsFunc(m.SourceIDs, func(id string) bool { return slices.Contains(ids, id) }) {
			return m, nil
		}
	}
	return store.Memory{}, store.ErrNotFound
}

// promoteAgain adds sources to what was promoted already. What somebody wrote
// there by hand stays theirs.
func (s *Store) promoteAgain(t *tx, at place, p store.Promotion, old store.Memory) (store.Memory, error) {
	m := old
	m.SourceIDs = slices.Clone(old.SourceIDs)
	for _, id := range p.Sources {
		if len(old.SourceIDs) > 0 && !slices.Contains(m.SourceIDs, id) {
			m.SourceIDs = append(m.SourceIDs, id)
		}
	}
	switch {
	case old.State != store.Active && !p.Person:
		return old, store.ErrForgotten
	case old.State != store.Active:
		return m, s.reinstate(t, at, &m, &old)
	case len(m.SourceIDs) == len(old.SourceIDs):
		return old, nil
	}
	m.LastVerified = s.now()
	return m, s.putMemory(t, &m, &old)
}

// mayPromote refuses what a person had forgotten in the scope: the text, or all
// that was said before the scope was erased.
func (s *Store) mayPromote(t *tx, at place, m *store.Memory, sources []store.Memory) error {
	if s.tooOld(at, spoken(&sources[len(sources)-1])) {
		return store.ErrForgotten
	}
	gone, _, err := s.forgotten(t, at, m)
	if err == nil && gone {
		err = store.ErrForgotten
	}
	return err
}

// unshare takes sources that are erased out of what was promoted of them: what
// has another author's left is made anew in that one's words, the rest goes. It
// must come before the sources do, so that a crash in between is made good by
// erasing again. Places that go themselves are left alone. It returns how many
// memories went or changed.
func (s *Store) unshare(t *tx, tenant string, going map[place]bool, erased func(id string, at place) bool) (int, error) {
	scopes, err := t.scopes(tenant)
	if err != nil {
		return 0, err
	}
	var hit []store.Memory
	for _, sc := range scopes {
		at := t.h.at(tenant, sc)
		if _, own := sc.UserOf(); own || going[at] {
			continue
		}
		for r := range t.rows(join(famMemory, at[:]), nil) {
			var m store.Memory
			if err := r.into(&m); err != nil {
				return 0, err
			}
			hit = append(hit, m)
		}
	}
	n := 0
	t.by = store.Change{By: store.Promoted}
	for i := range hit {
		changed, err := s.withoutSources(t, &hit[i], erased)
		if err != nil {
			return n, err
		}
		if changed {
			n++
		}
	}
	return n, nil
}

// withoutSources is unshare for one memory; it says whether it changed.
func (s *Store) withoutSources(t *tx, m *store.Memory, erased func(id string, at place) bool) (bool, error) {
	if len(m.Evidence) > 0 {
		return false, nil // has words of its own: no promotion
	}
	var left []store.Memory
	lost := false
	for _, id := range m.SourceIDs {
		x, at, err := t.memory(id)
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return false, err
		case !ofUser(x.Scope):
			return false, nil // made by other means than a promotion
		case erased(id, at):
			lost = true
		default:
			left = append(left, x)
		}
	}
	if !lost {
		return false, nil
	}
	at := t.h.at(m.Tenant, m.Scope)
	if err := s.eraseMemory(t, at, m, &traces{}); err != nil {
		return false, err
	}
	if len(left) > 0 {
		inOrder(left)
		again := promoted(store.Promotion{Tenant: m.Tenant, To: m.Scope}, left)
		again.Uses, again.LastUsed, again.CreatedAt = m.Uses, m.LastUsed, m.CreatedAt
		again.State, again.ArchivedAt = m.State, m.ArchivedAt
		again.ID = m.ID
		if store.Fold(again.Text) != store.Fold(m.Text) { // blocks with the old words must not be replayed
			again.ID = store.MemoryID(m.Tenant, m.Scope, "", 0, 0, again.Subject, store.Fold(again.Text))
		}
		if err := s.putMemory(t, &again, nil); err != nil {
			return false, err
		}
		if again.ID == m.ID {
			return true, nil
		}
	}
	return true, s.setGone(t, t.h.memory(m.ID))
}
