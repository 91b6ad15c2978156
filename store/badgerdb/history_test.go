package badgerdb

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// replaced writes a memory that takes the place of another, as reflection does.
func replaced(t *testing.T, s *Store, c *clock, n int, old, by string, text string) {
	t.Helper()
	m := written(text)
	m.ID, m.AttributedTo = by, store.ByUser
	m.ValidFrom = c.now().Add(time.Duration(n) * time.Minute)
	m.Evidence = []store.Evidence{{Session: "s", Turn: 1, Quote: text, Time: m.ValidFrom}}
	out := store.Outcome{Memories: []store.Memory{m}, Kept: []string{by}}
	if old != "" {
		was := must[store.Memory](t)(s.Memory(t.Context(), old))
		was.State, was.SupersededBy, was.ValidTo = store.Superseded, by, m.ValidFrom
		out.Memories = append(out.Memories, was)
	}
	reflect(t, s, c, n, out)
}

// alive lists the live memories of a scope.
func alive(t *testing.T, s *Store) []string {
	t.Helper()
	page, _, err := s.Memories(t.Context(), store.MemoryFilter{Tenant: "acme", Scope: store.UserScope("ann")})
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, m := range page {
		out = append(out, m.ID)
	}
	return out
}

// However a chain of three is restored, forgotten and brought back, one value
// is live, the one that was asked for last.
func TestOneValueIsLiveAfterEachRestore(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now}).Store
	replaced(t, s, c, 0, "", "m1", "lives in Oslo")
	replaced(t, s, c, 1, "m1", "m2", "lives in Rome")
	replaced(t, s, c, 2, "m2", "m3", "lives in Bern")
	rnd := rand.New(rand.NewPCG(1, 2))
	now := "m3"
	for i := range 60 {
		id := []string{"m1", "m2", "m3"}[rnd.IntN(3)]
		c.add(time.Hour)
		if rnd.IntN(4) == 0 {
			must[store.Memory](t)(s.ForgetMemory(t.Context(), now))
			if got := alive(t, s); len(got) != 0 {
				t.Fatalf("step %d, forgot %s: live %v", i, now, got)
			}
		}
		m := must[store.Memory](t)(s.RestoreMemory(t.Context(), id, 0))
		if m.State != store.Active || m.SupersededBy != "" || !m.ValidTo.IsZero() {
			t.Fatalf("step %d, restored %+v", i, m)
		}
		now = id
		if d := cmp.Diff([]string{id}, alive(t, s)); d != "" {
			t.Fatalf("step %d, restored %s (-want +live):\n%s", i, id, d)
		}
		if s.Gone(id) {
			t.Fatalf("step %d: %s isn't replayed", i, id)
		}
		chain := must[[]store.Memory](t)(s.Chain(t.Context(), id))
		if len(chain) != 3 || chain[0].ID != "m1" || chain[2].ID != "m3" {
			t.Fatalf("step %d: chain %+v", i, chain)
		}
	}
}

// An undone replacement isn't made again by the session that taught it, nor by
// one that arrives late, and what was there stays live.
func TestAnUndoneReplacementStaysUndone(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now}).Store
	replaced(t, s, c, 0, "", "m1", "lives in Oslo")
	replaced(t, s, c, 1, "m1", "m2", "lives in Rome")
	c.add(time.Hour)
	must[store.Memory](t)(s.RestoreMemory(t.Context(), "m1", 0))
	newer := must[store.Memory](t)(s.Memory(t.Context(), "m2"))
	if newer.State != store.Archived || newer.Change.By != store.Undone || !s.Gone("m2") {
		t.Errorf("the newer one: %+v", newer)
	}
	for i, id := range []string{"m2", "m9"} {
		again := newer
		again.ID, again.State, again.Revision, again.SupersededBy, again.ArchivedAt = id, store.Active, 0, "", time.Time{}
		old := must[store.Memory](t)(s.Memory(t.Context(), "m1"))
		old.State, old.SupersededBy = store.Superseded, id
		reflect(t, s, c, 2+i, store.Outcome{Memories: []store.Memory{again, old}})
		if d := cmp.Diff([]string{"m1"}, alive(t, s)); d != "" {
			t.Errorf("%s again (-want +live):\n%s", id, d)
		}
	}
	// What the user says after the undo counts.
	c.add(time.Hour)
	replaced(t, s, c, 4, "m1", "m3", "lives in Rome")
	if d := cmp.Diff([]string{"m3"}, alive(t, s)); d != "" {
		t.Errorf("said anew (-want +live):\n%s", d)
	}
}

// In one outcome a fresh memory whose own replacement is refused stays live.
func TestNothingIsRetiredForWhatWasForgotten(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now}).Store
	gone := put(t, s, written("lives in Rome"))
	must[store.Receipt](t)(s.EraseMemory(t.Context(), gone.ID))
	first, then := written("lives in Oslo"), written("lives in Rome")
	first.ID, first.State, first.SupersededBy = "m1", store.Superseded, "m2"
	then.ID = "m2"
	for _, m := range []*store.Memory{&first, &then} {
		m.Evidence = []store.Evidence{{Session: "s", Turn: 1, Quote: "x", Time: c.now().Add(-time.Hour)}}
	}
	reflect(t, s, c, 0, store.Outcome{Memories: []store.Memory{first, then}})
	if d := cmp.Diff([]string{"m1"}, alive(t, s)); d != "" {
		t.Errorf("live (-want +got):\n%s", d)
	}
}

func TestRestoreARevision(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now}).Store
	m := put(t, s, written("lives in Oslo"))
	edit := func(text string) {
		must[store.Memory](t)(s.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Text = text; return nil }))
	}
	edit("lives in Rome")
	edit("lives in Bern")
	must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID))
	got := must[store.Memory](t)(s.RestoreMemory(t.Context(), m.ID, 1))
	if got.Text != "lives in Oslo" || got.State != store.Active || got.Revision != 5 || got.Change.By != store.Restored || !got.ArchivedAt.IsZero() {
		t.Errorf("restored %+v", got)
	}
	var by []store.Cause
	for _, r := range must[[]store.Memory](t)(s.Revisions(t.Context(), m.ID)) {
		by = append(by, r.Change.By)
	}
	if d := cmp.Diff([]store.Cause{store.Forgotten, store.Edited, store.Edited, store.Written}, by); d != "" {
		t.Errorf("changed by (-want +got):\n%s", d)
	}
	if _, err := s.RestoreMemory(t.Context(), m.ID, 9); !errors.Is(err, store.ErrNoRevision) {
		t.Errorf("revision 9: %v", err)
	}
	// Another live memory that says the same gives way.
	other := put(t, s, written("lives in Rome"))
	must[store.Memory](t)(s.RestoreMemory(t.Context(), m.ID, 2))
	if d := cmp.Diff([]string{m.ID}, alive(t, s)); d != "" {
		t.Errorf("live (-want +got):\n%s", d)
	}
	must[store.Memory](t)(s.RestoreMemory(t.Context(), other.ID, 0))
	if d := cmp.Diff([]string{other.ID}, alive(t, s)); d != "" {
		t.Errorf("live (-want +got):\n%s", d)
	}
}
