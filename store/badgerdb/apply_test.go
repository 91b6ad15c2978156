package badgerdb

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// reflect runs one reflection of session s with the given outcome.
func reflect(t testing.TB, s *Store, c *clock, n int, out store.Outcome) store.Job {
	t.Helper()
	talk(t, s, c, "s", n, 1)
	enqueue(t, s, "s", store.TriggerIdle)
	return must[store.Job](t)(s.Apply(t.Context(), claim(t, s, "a"), out))
}

func TestApplyWritesRevisesAndCountsUses(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	m := written("tea")
	m.ID = "m1"
	reflect(t, s.Store, c, 0, store.Outcome{Memories: []store.Memory{m}, Kept: []string{"m1"}})
	first := must[store.Memory](t)(s.Memory(t.Context(), "m1"))
	// The same statement again changes nothing.
	reflect(t, s.Store, c, 1, store.Outcome{Memories: []store.Memory{m}})
	if d := cmp.Diff(first, must[store.Memory](t)(s.Memory(t.Context(), "m1"))); d != "" {
		t.Errorf("repeated (-first +now):\n%s", d)
	}
	// A newer one supersedes it, in one go.
	old, newer := first, written("coffee")
	old.State, old.SupersededBy = store.Superseded, "m2"
	newer.ID = "m2"
	reflect(t, s.Store, c, 2, store.Outcome{
		Memories: []store.Memory{newer, old},
		Verdicts: []store.Verdict{{ID: "m2", Verdict: "confirmed"}, {ID: "m1", Verdict: "ignored"}, {ID: "made-up", Verdict: "used"}},
	})
	old = must[store.Memory](t)(s.Memory(t.Context(), "m1"))
	newer = must[store.Memory](t)(s.Memory(t.Context(), "m2"))
	if old.State != store.Superseded || old.Revision != 2 || old.Uses != 0 {
		t.Errorf("the old one: %+v", old)
	}
	if newer.Uses != 1 || newer.LastVerified.IsZero() || newer.LastUsed.IsZero() || newer.Revision != 1 {
		t.Errorf("the new one: %+v", newer)
	}
	// What was read before somebody's edit can't replace it.
	stale := newer
	must[store.Memory](t)(s.EditMemory(t.Context(), "m2", func(m *store.Memory) error { m.Text = "espresso"; return nil }))
	talk(t, s.Store, c, "s", 3, 1)
	enqueue(t, s.Store, "s", store.TriggerIdle)
	j := claim(t, s.Store, "a")
	if _, err := s.Apply(t.Context(), j, store.Outcome{Memories: []store.Memory{stale}}); !errors.Is(err, store.ErrStale) {
		t.Errorf("Apply over an edit: %v", err)
	}
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "s")); x.Cursor != 3 {
		t.Errorf("the cursor moved to %d although nothing was applied", x.Cursor)
	}
	other := written("x")
	other.ID, other.Tenant = "m3", "other"
	if _, err := s.Apply(t.Context(), j, store.Outcome{Memories: []store.Memory{other}}); err == nil {
		t.Error("a memory of another tenant was written")
	}
}

func TestForgottenIsNotLearnedAgain(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	for i, erase := range []bool{false, true} {
		text := fmt.Sprint("secret ", i)
		m := put(t, s.Store, written(text))
		if erase {
			must[store.Receipt](t)(s.EraseMemory(t.Context(), m.ID))
		} else {
			must[store.Memory](t)(s.ForgetMemory(t.Context(), m.ID))
		}
		again := written("Secret " + fmt.Sprint(i) + "!")
		again.ID = fmt.Sprint("again", i)
		again.Evidence = []store.Evidence{{Session: "s", Turn: 1, Quote: "secret", Time: c.now().Add(-time.Hour)}}
		j := reflect(t, s.Store, c, 2*i, store.Outcome{Memories: []store.Memory{again}, Kept: []string{again.ID, "other"}})
		if d := cmp.Diff([]store.Dropped{{Text: again.Text, Reason: "forgotten"}}, j.Dropped); d != "" {
			t.Errorf("dropped (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]string{"other"}, j.Kept); d != "" {
			t.Errorf("kept (-want +got):\n%s", d)
		}
		if _, err := s.Memory(t.Context(), again.ID); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("learned again: %v", err)
		}
		// Said by the user after that, it is.
		again.Evidence[0].Time = c.now().Add(time.Hour)
		again.AttributedTo = store.ByUser
		j = reflect(t, s.Store, c, 2*i+1, store.Outcome{Memories: []store.Memory{again}})
		if len(j.Dropped) != 0 {
			t.Errorf("a later statement was dropped: %v", j.Dropped)
		}
		if m := must[store.Memory](t)(s.Memory(t.Context(), again.ID)); m.State != store.Active || s.Gone(m.ID) {
			t.Errorf("after a later statement: %+v", m)
		}
	}
}

func TestADeadLetterWhoseRangeIsCovered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newClock()
	s := open(t, Config{Dir: dir, Now: c.now})
	m := written("tea")
	m.ID = "m1"
	j := reflect(t, s.Store, c, 0, store.Outcome{Memories: []store.Memory{m}, Dead: "no model", Strategy: "rules"})
	if j.State != store.Dead || j.Reason != "no model" {
		t.Fatalf("applied %+v", j)
	}
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "s")); x.Cursor != 1 || x.NewTokens != 0 {
		t.Errorf("session %+v", x)
	}
	reflect(t, s.Store, c, 1, store.Outcome{}) // the next range isn't held up
	nothingToClaim(t, s.Store)
	s.stop()
	s = open(t, Config{Dir: dir, Now: c.now})
	if got := dueIDs(t, s.Store, c.now().Add(time.Hour), 1); got != "" {
		t.Errorf("due: %q", got)
	}
	must[store.Job](t)(s.Requeue(t.Context(), j.ID))
	again := claim(t, s.Store, "a")
	if again.ID != j.ID {
		t.Fatalf("claimed %+v", again)
	}
	again = must[store.Job](t)(s.Apply(t.Context(), again, store.Outcome{Kept: []string{"m1"}}))
	if again.State != store.Done || again.Reason != "" {
		t.Errorf("applied %+v", again)
	}
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "s")); x.Cursor != 2 {
		t.Errorf("the cursor went to %d", x.Cursor)
	}
}
