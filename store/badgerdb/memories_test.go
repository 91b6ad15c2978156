package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func TestPutMemoryCompletesAndFindsTheSameText(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	m := put(t, s.Store, written("Ann drinks tea."))
	want := written("Ann drinks tea.")
	want.ID, want.Layer, want.State, want.AttributedTo = m.ID, store.Semantic, store.Active, store.ByUser
	want.CreatedAt, want.UpdatedAt, want.Revision, want.Change = c.now(), c.now(), 1, store.Change{By: store.Written}
	want.Evidence, want.SourceIDs, want.Metadata = []store.Evidence{}, []string{}, map[string]string{}
	if d := cmp.Diff(want, m); d != "" {
		t.Errorf("PutMemory (-want +got):\n%s", d)
	}
	if d := cmp.Diff(m, must[store.Memory](t)(s.Memory(t.Context(), m.ID))); d != "" {
		t.Errorf("Memory (-put +got):\n%s", d)
	}
	for _, text := range []string{"Ann drinks tea.", "ann  drinks TEA!"} {
		w := written(text)
		w.Subject = "something else"
		again, created, err := s.PutMemory(t.Context(), w)
		if err != nil || created || again.ID != m.ID {
			t.Errorf("PutMemory(%q) = %s, created %v, %v; want %s again", text, again.ID, created, err, m.ID)
		}
	}
	elsewhere := written("Ann drinks tea.")
	elsewhere.ID, elsewhere.Tenant = m.ID, "other"
	other := put(t, s.Store, elsewhere)
	if other.ID == m.ID {
		t.Error("one id in two tenants")
	}
	for _, bad := range []store.Memory{{}, {Tenant: "t", Scope: "shared", Text: "x"}, {Tenant: "t", Type: store.UserFact, Text: "x"}} {
		if _, _, err := s.PutMemory(t.Context(), bad); err == nil {
			t.Errorf("PutMemory(%+v) was taken", bad)
		}
	}
	if _, err := s.Memory(t.Context(), "nope"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Memory(nope): %v", err)
	}
}

func TestEditsKeepTheFormBefore(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	m := put(t, s.Store, written("tea"))
	for i, text := range []string{"green tea", "black tea"} {
		e := must[store.Memory](t)(s.EditMemory(t.Context(), m.ID, func(m *store.Memory) error {
			m.Text, m.ID, m.Tenant = text, "hijack", "hijack"
			m.Metadata["k"] = text
			return nil
		}))
		if e.ID != m.ID || e.Tenant != "acme" || e.Revision != i+2 || e.Text != text {
			t.Errorf("edit %d: %+v", i, e)
		}
	}
	var texts []string
	for _, r := range must[[]store.Memory](t)(s.Revisions(t.Context(), m.ID)) {
		texts = append(texts, fmt.Sprint(r.Revision, r.Text, r.Metadata["k"]))
	}
	if d := cmp.Diff([]string{"2green teagreen tea", "1tea"}, texts); d != "" {
		t.Errorf("revisions (-want +got):\n%s", d)
	}
	boom := errors.New("boom")
	if _, err := s.EditMemory(t.Context(), m.ID, func(*store.Memory) error { return boom }); !errors.Is(err, boom) {
		t.Errorf("EditMemory hides the edit's error: %v", err)
	}
	if again := must[store.Memory](t)(s.Memory(t.Context(), m.ID)); again.Revision != 3 {
		t.Errorf("a refused edit made revision %d", again.Revision)
	}
	// The old text is free again.
	put(t, s.Store, written("tea"))
}

func TestForgetAndRestore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	m := put(t, s.Store, written("tea"))
	if s.Gone(m.ID) {
		t.Error("gone before it was forgotten")
	}
	f := must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID))
	if f.State != store.Archived || f.ArchivedAt.IsZero() || !s.Gone(m.ID) {
		t.Errorf("forgotten: %+v, gone %v", f, s.Gone(m.ID))
	}
	if n := count(t, s.Store, famForgotten); n != 1 {
		t.Errorf("%d tombstones, want 1", n)
	}
	s.stop()

	s = open(t, Config{Dir: dir})
	if !s.Gone(m.ID) {
		t.Error("not gone after a restart")
	}
	if list, _, _ := s.Memories(t.Context(), store.MemoryFilter{Tenant: "acme"}); len(list) != 0 {
		t.Errorf("listed although forgotten: %v", list)
	}
	if list, _, _ := s.Memories(t.Context(), store.MemoryFilter{Tenant: "acme", State: store.Archived}); len(list) != 1 {
		t.Errorf("%d archived, want 1", len(list))
	}
	r := must[store.Memory](t)(s.RestoreMemory(t.Context(), m.ID, 0))
	if r.State != store.Active || !r.ArchivedAt.IsZero() || s.Gone(m.ID) || count(t, s.Store, famForgotten) != 0 {
		t.Errorf("restored: %+v, gone %v", r, s.Gone(m.ID))
	}
	// Writing the same text again restores too.
	must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID))
	again, created, err := s.PutMemory(t.Context(), written("Tea!"))
	if err != nil || created || again.ID != m.ID || again.State != store.Active || s.Gone(m.ID) || count(t, s.Store, famForgotten) != 0 {
		t.Errorf("written again: %+v, created %v, %v", again, created, err)
	}
}

func TestErasedMemoryLeavesNoWords(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	m := put(t, s.Store, written("tea"))
	keep := put(t, s.Store, written("cake"))
	must[store.Memory](t)(s.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Text = "green tea"; return nil }))
	s.SaveLedger([]store.LedgerEntry{
		{Owner: ann, Session: "s", Key: store.Hash{1}, Text: "green tea", Refs: []store.Ref{{ID: m.ID}}, Created: time.Now()},
		{Owner: ann, Session: "s", Key: store.Hash{2}, Text: "cake", Refs: []store.Ref{{ID: keep.ID}}, Created: time.Now()},
	})
	s.SaveWhy(store.Why{Exchange: "x", Session: "s", Owner: ann, Time: time.Now(), Considered: []store.Candidate{{ID: m.ID, Text: "green tea"}}})
	flush(t, s.Store)
	must[store.Receipt](t)(s.EraseMemory(t.Context(), m.ID))
	if _, err := s.Memory(t.Context(), m.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("still there: %v", err)
	}
	if !s.Gone(m.ID) {
		t.Error("not gone")
	}
	for family, want := range map[byte]int{famRevision: 0, famMemories: 1, famMemory: 1, famText: 1, famForgotten: 1, famLedger: 1, famWhy: 0} {
		if n := count(t, s.Store, family); n != want {
			t.Errorf("family %q has %d rows, want %d", family, n, want)
		}
	}
	if _, created, err := s.PutMemory(t.Context(), written("green tea")); err != nil || !created {
		t.Errorf("writing it again: created %v, %v", created, err)
	}
}

func TestListingIsStableUnderWrites(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	var want []string
	for i := range 25 {
		c.add(time.Second)
		m := written(fmt.Sprintf("fact %d", i))
		if i%5 == 4 {
			m.Scope = store.UserScope("bob")
			put(t, s.Store, m)
			continue
		}
		want = append([]string{put(t, s.Store, m).Text}, want...)
	}
	var got []string
	f := store.MemoryFilter{Tenant: "acme", Scope: ann.Scope(), Limit: 7}
	for {
		list, next, err := s.Memories(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			got = append(got, m.Text)
		}
		if next == "" {
			break
		}
		f.Cursor = next
		c.add(time.Second)
		put(t, s.Store, written("newer "+next)) // must not move the pages
		must[store.Memory](t)(s.EditMemory(t.Context(), list[0].ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("pages (-want +got):\n%s", d)
	}
	if _, _, err := s.Memories(t.Context(), store.MemoryFilter{Cursor: "???"}); !errors.Is(err, store.ErrCursor) {
		t.Errorf("a made-up cursor: %v", err)
	}
}

func TestListingOfAllTenants(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	for i := range 6 {
		c.add(time.Second)
		m := written(fmt.Sprint(i))
		m.Tenant = fmt.Sprint("t", i%3)
		put(t, s.Store, m)
	}
	got := ""
	cursor := ""
	for {
		list, next, err := s.Memories(t.Context(), store.MemoryFilter{Limit: 4, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			got += m.Text
		}
		if cursor = next; next == "" {
			break
		}
	}
	if got != "543210" {
		t.Errorf("listed %s, want 543210", got)
	}
}

func TestMemoryFilters(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	a := written("a")
	a.Type, a.Subject, a.Scenario = store.Solution, "build", "ci"
	a.Evidence = []store.Evidence{{Session: "s1", Turn: 1, Quote: "q"}}
	put(t, s.Store, a)
	c.add(time.Hour)
	put(t, s.Store, written("b"))
	for name, f := range map[string]store.MemoryFilter{
		"type": {Type: store.Solution}, "layer": {Layer: store.Skill}, "subject": {Subject: "build"},
		"scenario": {Scenario: "ci"}, "session": {Session: "s1"}, "until": {Until: c.now()},
	} {
		if list, _, err := s.Memories(t.Context(), f); err != nil || len(list) != 1 || list[0].Text != "a" {
			t.Errorf("%s: %v, %v", name, list, err)
		}
	}
	if list, _, err := s.Memories(t.Context(), store.MemoryFilter{Since: c.now()}); err != nil || len(list) != 1 || list[0].Text != "b" {
		t.Errorf("since: %v, %v", list, err)
	}
}

func TestFeedTellsWhatChanged(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	sc := ann.Scope()
	first, v0, err := s.ScopeMemories(t.Context(), "acme", sc)
	if err != nil || len(first) != 0 || v0 != s.ScopeVersion("acme", sc) {
		t.Fatalf("an empty scope: %v, %d, %v", first, v0, err)
	}
	m := put(t, s.Store, written("tea"))
	gone := put(t, s.Store, written("cake"))
	must[store.Receipt](t)(s.EraseMemory(t.Context(), gone.ID))
	list, v1, ok := s.ScopeChanges("acme", sc, v0)
	if !ok || len(list) != 2 || v1 <= v0 {
		t.Fatalf("ScopeChanges = %v, %d, %v", list, v1, ok)
	}
	if list[0].ID != m.ID || list[1].ID != gone.ID || list[1].Text != "" || list[1].State != store.Archived {
		t.Errorf("changes: %+v", list)
	}
	if list, v, ok := s.ScopeChanges("acme", sc, v1); !ok || len(list) != 0 || v != v1 {
		t.Errorf("nothing new: %v, %d, %v", list, v, ok)
	}
	if v := s.ScopeVersion("acme", store.Shared); v != v0 {
		t.Errorf("another scope moved to %d", v)
	}
	for i := range 2*keptChanges + 1 {
		s.feed.add(scopeName{"acme", sc}, fmt.Sprint(i))
	}
	if _, _, ok := s.ScopeChanges("acme", sc, v1); ok {
		t.Error("changes that are no longer kept are told")
	}
}

func TestConcurrentWritesAndReads(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	ctx, cancel := context.WithCancel(t.Context())
	var readers, writers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for ctx.Err() == nil {
				_, _, _ = s.Memories(ctx, store.MemoryFilter{Tenant: "acme"})
				_, _ = s.Due(ctx, time.Now(), 0, 1)
				s.ScopeVersion("acme", ann.Scope())
			}
		})
	}
	for w := range 4 {
		writers.Go(func() {
			for i := range 20 {
				if _, _, err := s.PutMemory(t.Context(), written(fmt.Sprintf("fact %d", i))); err != nil {
					t.Error(err)
				}
				s.Finish(said(ann, fmt.Sprint("s", w), fmt.Sprintf("x%d-%d", w, i), "hi", time.Now()))
			}
		})
	}
	writers.Wait()
	cancel()
	readers.Wait()
	flush(t, s.Store)
	list, _, err := s.Memories(t.Context(), store.MemoryFilter{Tenant: "acme"})
	if err != nil || len(list) != 20 {
		t.Errorf("%d memories of the same 20 texts, %v", len(list), err)
	}
	if n := count(t, s.Store, famExchange); n != 80 {
		t.Errorf("%d exchanges, want 80", n)
	}
}
