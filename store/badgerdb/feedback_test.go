package badgerdb

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

func TestVerdictsMoveAMemory(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now}).Store
	m := put(t, s, written("lives in Oslo"))
	n := 0
	judge := func(verdicts ...string) store.Memory {
		t.Helper()
		c.add(time.Hour)
		var vs []store.Verdict
		for _, v := range verdicts {
			vs = append(vs, store.Verdict{ID: m.ID, Verdict: v})
		}
		reflect(t, s, c, n, store.Outcome{Verdicts: vs})
		n++
		return must[store.Memory](t)(s.Memory(t.Context(), m.ID))
	}
	// One session that is judged in parts counts once, by the strongest word.
	got := judge("ignored", "used", "ignored", "used")
	if got.Uses != 1 || got.Ignored != 0 || !got.LastUsed.Equal(c.now()) || !got.LastVerified.IsZero() || got.Revision != 1 {
		t.Errorf("used: %+v", got)
	}
	if got = judge("used", "confirmed"); got.Uses != 2 || !got.LastVerified.Equal(c.now()) {
		t.Errorf("confirmed: %+v", got)
	}
	worth := got.Worth()
	if worth != got.Importance {
		t.Errorf("worth %v without a word against it, importance %v", worth, got.Importance)
	}
	if got = judge("ignored"); got.Ignored != 1 || got.Uses != 2 || got.Worth() >= worth || got.Confidence != 1 {
		t.Errorf("ignored: %+v, worth %v", got, got.Worth())
	}
	if got = judge("confirmed", "contradicted", "nonsense"); got.Contradicted != 1 || got.Confidence != doubt || got.Revision != 2 || got.Change.By != store.Reflection {
		t.Errorf("contradicted: %+v", got)
	}
	for range 12 {
		got = judge("contradicted")
	}
	if got.State != store.Active || got.Confidence != leastConfidence || math.Abs(got.Worth()-got.Importance/2) > 1e-9 {
		t.Errorf("contradicted often: %+v, worth %v", got, got.Worth())
	}
	back := must[store.Memory](t)(s.RestoreMemory(t.Context(), m.ID, 1))
	if back.Confidence != 1 || back.Contradicted != got.Contradicted || back.Uses != 2 {
		t.Errorf("restored: %+v", back)
	}
}

// Where the same reflection says what is true instead, superseding says it all.
func TestContradictedAndReplaced(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now}).Store
	m := put(t, s, written("lives in Oslo"))
	newer := written("lives in Rome")
	newer.ID = "m2"
	m.State, m.SupersededBy = store.Superseded, "m2"
	reflect(t, s, c, 0, store.Outcome{Memories: []store.Memory{newer, m}, Verdicts: []store.Verdict{{ID: m.ID, Verdict: "contradicted"}}})
	got := must[store.Memory](t)(s.Memory(t.Context(), m.ID))
	if got.State != store.Superseded || got.Confidence != 1 || got.Contradicted != 1 {
		t.Errorf("replaced: %+v", got)
	}
}

func TestFigures(t *testing.T) {
	t.Parallel()
	c := newClock()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir, Now: c.now})
	for i, days := range []int{400, 100, 3, 0} {
		m := lesson([]store.Scope{"user:ann", "user:bob", "user:ann", "user:bob"}[i], []string{"one", "two", "three", "three"}[i])
		m.CreatedAt = c.now().Add(-time.Duration(days) * 24 * time.Hour)
		m.Evidence = make([]store.Evidence, i)
		m = put(t, s.Store, m)
		if i == 0 {
			must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID))
		}
	}
	page, _, _ := s.Memories(t.Context(), store.MemoryFilter{Tenant: "acme"})
	if _, _, err := s.Promote(t.Context(), store.Promotion{Tenant: "acme", To: store.Shared, Sources: []string{page[0].ID, page[1].ID}}); err != nil {
		t.Fatal(err)
	}
	reflect(t, s.Store, c, 0, store.Outcome{Verdicts: []store.Verdict{{ID: page[0].ID, Verdict: "used"}, {ID: page[1].ID, Verdict: "ignored"}}})
	want := store.Figures{
		Memories: 5, States: map[store.State]int{store.Active: 4, store.Archived: 1}, Types: map[store.Type]int{store.Solution: 4}, Layers: map[store.Layer]int{store.Skill: 4},
		Ages:     []store.AgeCount{{Days: 1, Memories: 2}, {Days: 7, Memories: 1}, {Days: 30}, {Days: 90}, {Days: 180, Memories: 1}, {Days: 365}, {}},
		Promoted: 1, Merged: 3, Judged: store.Judged{Used: 1, Ignored: 1},
	}
	for range 2 {
		if d := cmp.Diff(want, must[store.Figures](t)(s.Figures(t.Context(), "acme"))); d != "" {
			t.Errorf("figures (-want +got):\n%s", d)
		}
		s.stop()
		s = open(t, Config{Dir: dir, Now: c.now})
	}
}
