package badgerdb

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// notes writes three events of one subject and the memory that may stand for them.
func notes(t testing.TB, s *Store, c *clock) (sources []store.Memory, product store.Memory) {
	t.Helper()
	var texts []string
	for i := range 3 {
		m := written(fmt.Sprintf("Repaired pump %d.", i))
		m.Type, m.Layer, m.Subject = store.EventType, store.Episodic, "pump"
		m.Evidence = []store.Evidence{{Session: fmt.Sprint("s", i), Turn: 1, Quote: fmt.Sprintf("I repaired pump %d", i), Time: c.now()}}
		sources = append(sources, put(t, s, m))
		texts = append(texts, m.Text)
	}
	product = written(strings.Join(texts, " "))
	product.ID, product.Type, product.Layer, product.Subject = "mproduct", store.EventType, store.Semantic, "pump"
	for _, m := range sources {
		product.Evidence = append(product.Evidence, m.Evidence...)
	}
	return sources, product
}

// standing is in which state which memories are, by their texts' last number or
// "all".
func standing(t testing.TB, s *Store) string {
	t.Helper()
	ms, _, err := s.ScopeMemories(t.Context(), "acme", store.UserScope("ann"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range ms {
		name := "all"
		if len(m.SourceIDs) == 0 {
			name = strings.TrimSuffix(m.Text[len(m.Text)-2:], ".")
		}
		out = append(out, name+" "+string(m.State))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

func TestConsolidateAndBack(t *testing.T) {
	t.Parallel()
	const (
		apart    = "0 active, 1 active, 2 active"
		together = "0 consolidated, 1 consolidated, 2 consolidated, all active"
		undone   = "0 active, 1 active, 2 active, all archived"
	)
	for name, c := range map[string]struct {
		do   func(s *Store, product store.Memory, sources []store.Memory) error
		want string
	}{
		"consolidated": {func(*Store, store.Memory, []store.Memory) error { return nil }, together},
		"undone": {func(s *Store, p store.Memory, _ []store.Memory) error {
			_, _, err := s.UndoConsolidation(t.Context(), p.ID)
			return err
		}, undone},
		"undone by a source that is restored": {func(s *Store, _ store.Memory, src []store.Memory) error {
			m, err := s.RestoreMemory(t.Context(), src[1].ID, 0)
			if m.ID != src[1].ID || m.State != store.Active {
				err = fmt.Errorf("restored %+v, %w", m, err)
			}
			return err
		}, undone},
		"undone and restored": {func(s *Store, p store.Memory, _ []store.Memory) error {
			_, _, err := s.UndoConsolidation(t.Context(), p.ID)
			_, err2 := s.RestoreMemory(t.Context(), p.ID, 0)
			return errors.Join(err, err2)
		}, together},
		"forgotten and restored": {func(s *Store, p store.Memory, _ []store.Memory) error {
			_, err := s.ForgetMemory(t.Context(), p.ID)
			_, err2 := s.RestoreMemory(t.Context(), p.ID, 0)
			return errors.Join(err, err2)
		}, together},
		"forgotten": {func(s *Store, p store.Memory, _ []store.Memory) error {
			_, err := s.ForgetMemory(t.Context(), p.ID)
			return err
		}, "0 consolidated, 1 consolidated, 2 consolidated, all archived"},
		"a source forgotten": {func(s *Store, _ store.Memory, src []store.Memory) error {
			_, err := s.ForgetMemory(t.Context(), src[1].ID)
			return err
		}, "0 active, 1 archived, 2 active, all archived"},
		"a source erased": {func(s *Store, _ store.Memory, src []store.Memory) error {
			_, err := s.EraseMemory(t.Context(), src[1].ID)
			return err
		}, "0 active, 2 active"},
		"a source erased after it was undone": {func(s *Store, p store.Memory, src []store.Memory) error {
			_, _, err := s.UndoConsolidation(t.Context(), p.ID)
			_, err2 := s.EraseMemory(t.Context(), src[1].ID)
			return errors.Join(err, err2)
		}, "0 active, 2 active"},
		"erased": {func(s *Store, p store.Memory, _ []store.Memory) error {
			_, err := s.EraseMemory(t.Context(), p.ID)
			return err
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := newClock()
			s := open(t, Config{Now: clk.now})
			sources, product := notes(t, s.Store, clk)
			if got := standing(t, s.Store); got != apart {
				t.Fatal(got)
			}
			p := must[store.Memory](t)(s.Consolidate(t.Context(), store.Job{}, product, sources))
			if err := c.do(s.Store, p, sources); err != nil {
				t.Fatal(err)
			}
			if got := standing(t, s.Store); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestConsolidateRefuses(t *testing.T) {
	t.Parallel()
	clk := newClock()
	s := open(t, Config{Now: clk.now})
	sources, product := notes(t, s.Store, clk)
	before := standing(t, s.Store)
	refused := func(what string, want error) {
		t.Helper()
		if _, err := s.Consolidate(t.Context(), store.Job{}, product, sources); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.Consolidate(t.Context(), store.Job{ID: "jnone"}, product, sources); !errors.Is(err, store.ErrStale) {
		t.Errorf("without the claim: %v", err)
	}
	if _, _, err := s.UndoConsolidation(t.Context(), sources[0].ID); !errors.Is(err, store.ErrNotConsolidated) {
		t.Errorf("undo of a memory that is none: %v", err)
	}
	must[store.Memory](t)(s.EditMemory(t.Context(), sources[1].ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
	refused("a source that was edited", store.ErrStale)
	sources[1] = must[store.Memory](t)(s.Memory(t.Context(), sources[1].ID))
	if got := standing(t, s.Store); got != before {
		t.Errorf("a refusal changed something: %s", got)
	}
	other := put(t, s.Store, written(product.Text))
	clk.add(time.Second)
	must[store.Receipt](t)(s.EraseMemory(t.Context(), other.ID))
	refused("a text that was forgotten", store.ErrForgotten)
}

// What was forgotten isn't learned again under other words from the same
// sentence: not a consolidated source, not what was made of it.
func TestForgottenSentences(t *testing.T) {
	t.Parallel()
	clk := newClock()
	s := open(t, Config{Now: clk.now})
	sources, product := notes(t, s.Store, clk)
	clk.add(time.Minute)
	before := clk.now()
	p := must[store.Memory](t)(s.Consolidate(t.Context(), store.Job{}, product, sources))
	clk.add(time.Minute)
	must[store.Memory](t)(s.ForgetMemory(t.Context(), p.ID))
	learn := func(text, quote string, said time.Time) (kept bool) {
		clk.add(time.Minute)
		id := fmt.Sprint("session", clk.now().Unix())
		talk(t, s.Store, clk, id, 1, 1)
		if _, ok, err := s.Enqueue(t.Context(), ann, id, store.TriggerIdle); err != nil || !ok {
			t.Fatal(ok, err)
		}
		j := claim(t, s.Store, "c")
		m := written(text)
		m.AttributedTo = store.ByUser
		m.ID, m.Evidence = "m"+id, []store.Evidence{{Session: id, Turn: 1, Quote: quote, Time: said}}
		done := must[store.Job](t)(s.Apply(t.Context(), j, store.Outcome{Memories: []store.Memory{m}, Kept: []string{m.ID}}))
		return len(done.Kept) == 1
	}
	if learn("The user fixed the second pump.", "I repaired pump 1", before) {
		t.Error("learned again in other words")
	}
	if learn("Repaired pump 2.", "pump 2 I repaired", before) {
		t.Error("a source's text was learned again")
	}
	if !learn("The user fixed another pump.", "I repaired pump 7", before) {
		t.Error("what wasn't forgotten isn't learned")
	}
	clk.add(time.Minute)
	if !learn("The user fixed the second pump.", "I repaired pump 1", clk.now()) {
		t.Error("said anew, and not learned")
	}
	clk.add(time.Minute)
	must[store.Memory](t)(s.RestoreMemory(t.Context(), p.ID, 0))
	if !learn("Pump three was repaired by the user.", "I repaired pump 2", before) {
		t.Error("restored, and its sentences are still forgotten")
	}
}

func TestAConsolidationIsQueuedOnce(t *testing.T) {
	t.Parallel()
	clk := newClock()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir, Now: clk.now})
	put(t, s.Store, written("Something."))
	ask := func(n int) (store.Job, bool) {
		t.Helper()
		j, ok, err := s.EnqueueConsolidation(t.Context(), ann, "s", ann.Scope(), "Pump", n)
		if err != nil {
			t.Fatal(err)
		}
		return j, ok
	}
	j, ok := ask(5)
	if again, twice := ask(6); !ok || twice || again.ID != j.ID {
		t.Fatalf("%v, %v: %+v", ok, twice, again)
	}
	s.stop()
	s = open(t, Config{Dir: dir, Now: clk.now}) // it survives, though its session is unknown
	got := claim(t, s.Store, "c")
	if !got.Consolidates() || got.Subject != "Pump" || got.Sources != 5 {
		t.Fatalf("%+v", got)
	}
	if err := s.BuryJob(t.Context(), got, "no"); err != nil {
		t.Fatal(err)
	}
	if _, ok := ask(5); ok {
		t.Error("a dead one came back by itself")
	}
	if _, ok := ask(6); !ok {
		t.Error("more memories don't bring a dead one back")
	}
	if err := s.EndConsolidation(t.Context(), claim(t, s.Store, "c")); err != nil {
		t.Fatal(err)
	}
	if _, ok := ask(5); !ok {
		t.Error("after one that is done there can't be another")
	}
	if r := must[store.Receipt](t)(s.EraseScope(t.Context(), "acme", ann.Scope())); r.Jobs != 1 {
		t.Errorf("erased with the scope: %+v", r)
	}
}
