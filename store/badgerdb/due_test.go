package badgerdb

import (
	"testing"
	"time"

	"hindsight/store"
)

func dueIDs(t testing.TB, s *Store, idleBefore time.Time, tokens int) string {
	t.Helper()
	out := ""
	for _, x := range must[[]store.Session](t)(s.Due(t.Context(), idleBefore, 0, tokens)) {
		out += x.ID + " "
	}
	return out
}

func TestDue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newClock()
	s := open(t, Config{Dir: dir, Now: c.now})
	t0 := c.now()
	talk(t, s.Store, c, "old", 0, 1)
	talk(t, s.Store, c, "long", 0, 30)
	talk(t, s.Store, c, "new", 0, 1)
	ended := said(ann, "ended", "e", "bye", c.now())
	ended.SessionInfo.End = true
	tell(t, s.Store, ended)
	for _, again := range []bool{false, true} {
		if again { // the same from the directory alone
			s.stop()
			s = open(t, Config{Dir: dir, Now: c.now})
		}
		if got := dueIDs(t, s.Store, t0.Add(10*time.Minute), 1e6); got != "old ended " {
			t.Errorf("idle and closed: %q", got)
		}
		if got := dueIDs(t, s.Store, t0, 100); got != "long ended " {
			t.Errorf("long and closed: %q", got)
		}
	}
	enqueue(t, s.Store, "old", store.TriggerIdle)
	if got := dueIDs(t, s.Store, t0.Add(10*time.Minute), 1e6); got != "ended " {
		t.Errorf("with a job for it: %q", got)
	}
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "old")); x.State != store.Closed {
		t.Error("an idle session is still open")
	}
	talk(t, s.Store, c, "old", 1, 1)
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "old")); x.State != store.Open {
		t.Error("a session that goes on isn't open")
	}
	if n := must[int](t)(s.OpenSessions(t.Context(), bob)); n != 3 {
		t.Errorf("%d open sessions, want 3", n)
	}
}

// What is due is queued together, each as it would be alone; one that has gone
// meanwhile keeps nobody back.
func TestEnqueueDue(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newClock()
	s := open(t, Config{Dir: dir, Now: c.now})
	t0 := c.now()
	for _, id := range []string{"a", "b", "long"} {
		talk(t, s.Store, c, id, 0, 1)
	}
	due := []store.Due{
		{Owner: ann, Session: "a", Trigger: store.TriggerIdle}, {Owner: ann, Session: "gone", Trigger: store.TriggerIdle},
		{Owner: ann, Session: "long", Trigger: store.TriggerTokens}, {Owner: ann, Session: "b", Trigger: store.TriggerIdle},
	}
	for range 2 { // asking twice makes one job each
		if err := s.EnqueueDue(t.Context(), due); err != nil {
			t.Fatal(err)
		}
	}
	s.stop()
	s = open(t, Config{Dir: dir, Now: c.now})
	if got := dueIDs(t, s.Store, t0.Add(time.Hour), 0); got != "" {
		t.Errorf("still due: %q", got)
	}
	for id, want := range map[string]store.SessionState{"a": store.Closed, "b": store.Closed, "long": store.Open} {
		if x := must[store.Session](t)(s.Session(t.Context(), ann, id)); x.State != want {
			t.Errorf("%s is %s, want %s", id, x.State, want)
		}
	}
	got := map[string]bool{}
	for range 3 {
		got[claim(t, s.Store, "w").Session] = true
	}
	if !got["a"] || !got["b"] || !got["long"] {
		t.Errorf("claimed %v", got)
	}
	nothingToClaim(t, s.Store)
}

// Idle sessions of one owner wait for each other: small ones share a call.
func TestAnIdleSessionWaitsForItsOwnersNext(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	t0 := c.now()
	talk(t, s.Store, c, "a", 0, 1)
	talk(t, s.Store, c, "b", 0, 1)
	due := func(idleBefore, wait time.Duration) string {
		t.Helper()
		out := ""
		for _, x := range must[[]store.Session](t)(s.Due(t.Context(), t0.Add(idleBefore), wait, 1e6)) {
			out += x.ID + " "
		}
		return out
	}
	for _, x := range []struct {
		idleBefore, wait time.Duration
		want             string
	}{
		{30 * time.Second, time.Minute, ""},        // b will be idle soon
		{61 * time.Second, time.Minute, ""},        // the last moment before it is
		{62 * time.Second, time.Minute, "a b "},    // it is
		{30 * time.Second, 20 * time.Second, "a "}, // b's end is too far away
		{50 * time.Second, 20 * time.Second, "a "}, // a has waited long enough
	} {
		if got := due(x.idleBefore, x.wait); got != x.want {
			t.Errorf("idle before %s, waiting %s: %q, want %q", x.idleBefore, x.wait, got, x.want)
		}
	}
	talk(t, s.Store, c, "b", 1, 1)
	if got := due(30*time.Second, time.Minute); got != "a " {
		t.Errorf("b goes on: %q", got)
	}
	if got := due(30*time.Second, 2*time.Minute); got != "" {
		t.Errorf("b goes on, and a longer wait: %q", got)
	}
	enqueue(t, s.Store, "b", store.TriggerTokens)
	if got := due(30*time.Second, 2*time.Minute); got != "a " {
		t.Errorf("b has a job: %q", got)
	}
}
