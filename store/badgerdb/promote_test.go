package badgerdb

import (
	"errors"
	"testing"

	"hindsight/store"
)

func lesson(scope store.Scope, text string) store.Memory {
	m := written(text)
	m.Scope, m.Type = scope, store.Solution
	return m
}

func TestWhatMayBePromoted(t *testing.T) {
	t.Parallel()
	s := open(t, Config{}).Store
	ann, bob := put(t, s, lesson("user:ann", "clear the cache")), put(t, s, lesson("user:bob", "clear the cache"))
	again := put(t, s, lesson("user:ann/agent:coder", "clear the cache"))
	fact := put(t, s, written("lives in Oslo"))
	for name, p := range map[string]store.Promotion{
		"one user":              {To: store.Shared, Sources: []string{ann.ID}},
		"one user's two agents": {To: store.Shared, Sources: []string{ann.ID, again.ID}},
		"a fact":                {To: store.Shared, Sources: []string{fact.ID}, Person: true},
		"to a user":             {To: "user:carol", Sources: []string{ann.ID, bob.ID}},
		"of another tenant":     {Tenant: "other", To: store.Shared, Sources: []string{ann.ID, bob.ID}, Person: true},
		"of nothing":            {To: store.Shared, Person: true},
	} {
		if p.Tenant == "" {
			p.Tenant = "acme"
		}
		if m, _, err := s.Promote(t.Context(), p); !errors.Is(err, store.ErrUnshareable) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	p := store.Promotion{Tenant: "acme", To: store.Shared, Sources: []string{ann.ID, bob.ID}}
	m, created, err := s.Promote(t.Context(), p)
	if err != nil || !created || len(m.SourceIDs) != 2 || m.Standing {
		t.Fatalf("promoted %+v, %v, %v", m, created, err)
	}
	// A third author joins, and doing it again changes nothing.
	dan := put(t, s, lesson("user:dan", "clear the cache!"))
	p.Sources = []string{ann.ID, dan.ID}
	for range 2 {
		if m, created, err = s.Promote(t.Context(), p); err != nil || created || len(m.SourceIDs) != 3 || m.Revision != 2 {
			t.Fatalf("the third: %+v, %v, %v", m, created, err)
		}
	}
	if all := must[[]store.Memory](t)(s.Lessons(t.Context(), "acme")); len(all) != 4 {
		t.Errorf("%d lessons: %+v", len(all), all)
	}
	// Two of three are erased: what the third said stays. The shared scope is
	// erased: it comes back by nothing that was said before.
	for _, id := range []string{ann.ID, bob.ID} {
		must[store.Receipt](t)(s.EraseMemory(t.Context(), id))
	}
	if left, _, err := s.Memories(t.Context(), store.MemoryFilter{Tenant: "acme", Scope: store.Shared}); err != nil || len(left) != 1 || left[0].SourceIDs[0] != dan.ID || left[0].Text != dan.Text {
		t.Fatalf("left %+v, %v", left, err)
	}
	must[store.Receipt](t)(s.EraseScope(t.Context(), "acme", store.Shared))
	p.Sources = []string{again.ID, dan.ID}
	if m, _, err := s.Promote(t.Context(), p); !errors.Is(err, store.ErrForgotten) {
		t.Errorf("after the shared scope was erased: %+v, %v", m, err)
	}
}

// What somebody wrote into the shared scope by hand isn't anybody's to take away.
func TestAWrittenMemoryIsNotMadeOfSources(t *testing.T) {
	t.Parallel()
	s := open(t, Config{}).Store
	mine := put(t, s, lesson(store.Shared, "clear the cache"))
	ann, bob := put(t, s, lesson("user:ann", "clear the cache")), put(t, s, lesson("user:bob", "clear the cache"))
	m, created, err := s.Promote(t.Context(), store.Promotion{Tenant: "acme", To: store.Shared, Sources: []string{ann.ID, bob.ID}})
	if err != nil || created || m.ID != mine.ID || len(m.SourceIDs) != 0 {
		t.Fatalf("promoted %+v, %v, %v", m, created, err)
	}
	must[store.Receipt](t)(s.EraseMemory(t.Context(), ann.ID))
	if m := must[store.Memory](t)(s.Memory(t.Context(), mine.ID)); m.Revision != 1 {
		t.Errorf("the written one: %+v", m)
	}
}
