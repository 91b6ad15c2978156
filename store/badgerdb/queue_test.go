package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"hindsight/store"
)

// talk journals n exchanges of ann's session s, one a minute.
func talk(t testing.TB, s *Store, c *clock, session string, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		s.Finish(said(ann, session, fmt.Sprintf("%s-%d", session, i), "four words of text", c.now()))
		c.add(time.Minute)
	}
	flush(t, s)
}

func enqueue(t testing.TB, s *Store, session string, tr store.Trigger) store.Job {
	t.Helper()
	j, ok, err := s.Enqueue(t.Context(), ann, session, tr)
	if err != nil || !ok {
		t.Fatalf("Enqueue(%s, %s) = %v, %v", session, tr, ok, err)
	}
	return j
}

func claim(t testing.TB, s *Store, who string) store.Job {
	t.Helper()
	j, ok, err := s.Claim(t.Context(), who, time.Hour)
	if err != nil || !ok {
		t.Fatalf("Claim(%s) = %v, %v", who, ok, err)
	}
	return j
}

func nothingToClaim(t testing.TB, s *Store) {
	t.Helper()
	if j, ok, err := s.Claim(t.Context(), "x", time.Minute); ok || err != nil {
		t.Fatalf("Claim = %+v, %v, %v; want nothing", j, ok, err)
	}
}

func TestIdleSessionsWithNothingNewAreClosed(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	talk(t, s.Store, c, "s", 0, 1)
	enqueue(t, s.Store, "s", store.TriggerTokens)
	must[store.Job](t)(s.Apply(t.Context(), claim(t, s.Store, "a"), store.Outcome{}))
	if n := must[int](t)(s.OpenSessions(t.Context(), ann)); n != 1 {
		t.Fatalf("%d open sessions, want 1", n)
	}
	if got := dueIDs(t, s.Store, c.now().Add(time.Hour), 1); got != "" {
		t.Errorf("due: %q", got)
	}
	if n := must[int](t)(s.OpenSessions(t.Context(), ann)); n != 0 || len(s.mem.sessions) != 0 {
		t.Errorf("%d open sessions, %d in memory, want none", n, len(s.mem.sessions))
	}
}

func TestEnqueueIsIdempotent(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	if _, _, err := s.Enqueue(t.Context(), ann, "none", store.TriggerIdle); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Enqueue of an unknown session: %v", err)
	}
	talk(t, s.Store, c, "s", 0, 2)
	if _, _, err := s.Enqueue(t.Context(), bob, "s", store.TriggerIdle); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Enqueue of ann's session by bob: %v", err)
	}
	a := enqueue(t, s.Store, "s", store.TriggerTokens)
	talk(t, s.Store, c, "s", 2, 1)
	b := enqueue(t, s.Store, "s", store.TriggerExplicit)
	if a.ID != b.ID || a.To != 2 || b.To != 3 || b.From != 0 {
		t.Errorf("jobs %+v and %+v: want one, raised to 3", a, b)
	}
	if n := len(must[[]store.Job](t)(s.Jobs(t.Context(), ""))); n != 1 {
		t.Errorf("%d jobs, want 1", n)
	}
	j := must[store.Job](t)(s.Apply(t.Context(), claim(t, s.Store, "a"), store.Outcome{}))
	if j.State != store.Done || j.Updated.IsZero() {
		t.Errorf("applied: %+v", j)
	}
	if j, ok, err := s.Enqueue(t.Context(), ann, "s", store.TriggerExplicit); ok || err != nil || j.ID != "" {
		t.Errorf("nothing new: %+v, %v, %v", j, ok, err)
	}
}

func TestExplicitEnqueueCoversWhatWasHandedOver(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Linger: time.Hour})
	s.Finish(said(ann, "s", "x", "hi", time.Now()))
	if j := enqueue(t, s.Store, "s", store.TriggerExplicit); j.To != 1 {
		t.Errorf("job %+v doesn't cover the exchange", j)
	}
}

func TestBehindARunningJob(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	talk(t, s.Store, c, "s", 0, 2)
	enqueue(t, s.Store, "s", store.TriggerTokens)
	first := claim(t, s.Store, "a")
	if j := enqueue(t, s.Store, "s", store.TriggerExplicit); j.ID != first.ID {
		t.Errorf("a running job that covers all wasn't returned: %+v", j)
	}
	talk(t, s.Store, c, "s", 2, 1)
	second := enqueue(t, s.Store, "s", store.TriggerExplicit)
	if second.ID == first.ID || second.From != 2 || second.To != 3 {
		t.Errorf("behind the running one: %+v", second)
	}
	nothingToClaim(t, s.Store) // not before the first is done
	must[store.Job](t)(s.Apply(t.Context(), first, store.Outcome{}))
	if j := claim(t, s.Store, "a"); j.ID != second.ID {
		t.Errorf("claimed %+v", j)
	}
}

func TestARetryThatGrowsCoversTheOneBehind(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	talk(t, s.Store, c, "s", 0, 1)
	enqueue(t, s.Store, "s", store.TriggerTokens)
	first := claim(t, s.Store, "a")
	talk(t, s.Store, c, "s", 1, 1)
	behind := enqueue(t, s.Store, "s", store.TriggerExplicit)
	if err := s.RetryJob(t.Context(), first, c.now(), "later"); err != nil {
		t.Fatal(err)
	}
	talk(t, s.Store, c, "s", 2, 1)
	enqueue(t, s.Store, "s", store.TriggerTokens)
	j := claim(t, s.Store, "a")
	if j.ID != first.ID || j.To != 3 || j.Attempts != 2 {
		t.Fatalf("claimed %+v", j)
	}
	must[store.Job](t)(s.Apply(t.Context(), j, store.Outcome{Kept: []string{"m1"}}))
	b := must[store.Job](t)(s.WaitJob(t.Context(), behind.ID))
	if b.State != store.Done || len(b.Kept) != 1 {
		t.Errorf("the covered one: %+v", b)
	}
	nothingToClaim(t, s.Store)
}

func TestLeasesRunOutAndEndWithTheirOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newClock()
	s := open(t, Config{Dir: dir, Now: c.now})
	talk(t, s.Store, c, "s", 0, 1)
	enqueue(t, s.Store, "s", store.TriggerIdle)
	claim(t, s.Store, "slow")
	nothingToClaim(t, s.Store)
	c.add(time.Hour)
	dead := claim(t, s.Store, "dead")
	nothingToClaim(t, s.Store)
	s.stop()
	// Whoever opens the directory knows that the holder of the lease has gone.
	s = open(t, Config{Dir: dir, Now: c.now})
	alive := claim(t, s.Store, "alive")
	if alive.ID != dead.ID || alive.Attempts != 3 {
		t.Errorf("claimed %+v", alive)
	}
	m := written("tea")
	m.ID = "m1"
	if _, err := s.Apply(t.Context(), dead, store.Outcome{Memories: []store.Memory{m}}); !errors.Is(err, store.ErrStale) {
		t.Errorf("Apply with a lost claim: %v", err)
	}
	if err := s.RetryJob(t.Context(), dead, c.now(), "x"); !errors.Is(err, store.ErrStale) {
		t.Errorf("RetryJob with a lost claim: %v", err)
	}
	if _, err := s.Memory(t.Context(), "m1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a stale outcome left a memory: %v", err)
	}
	must[store.Job](t)(s.Apply(t.Context(), alive, store.Outcome{Memories: []store.Memory{m}}))
	if _, err := s.Apply(t.Context(), alive, store.Outcome{}); !errors.Is(err, store.ErrStale) {
		t.Errorf("Apply twice: %v", err)
	}
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "s")); x.Cursor != 1 || x.NewTokens != 0 {
		t.Errorf("session %+v", x)
	}
}

func TestApplyCountsWhatCameMeanwhile(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	talk(t, s.Store, c, "s", 0, 2)
	enqueue(t, s.Store, "s", store.TriggerTokens)
	j := claim(t, s.Store, "a")
	talk(t, s.Store, c, "s", 2, 3)
	must[store.Job](t)(s.Apply(t.Context(), j, store.Outcome{}))
	x := must[store.Session](t)(s.Session(t.Context(), ann, "s"))
	if want := 3 * store.Tokens("four words of text"); x.Cursor != 2 || x.NewTokens != want {
		t.Errorf("cursor %d and %d new tokens, want 2 and %d", x.Cursor, x.NewTokens, want)
	}
}

func TestWaitingRetryingDying(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	talk(t, s.Store, c, "s", 0, 1)
	enqueue(t, s.Store, "s", store.TriggerIdle)
	j := claim(t, s.Store, "a")
	if err := s.WaitForKey(t.Context(), j, c.now().Add(time.Hour), "no key"); err != nil {
		t.Fatal(err)
	}
	nothingToClaim(t, s.Store)
	c.add(time.Hour)
	j = claim(t, s.Store, "a")
	if j.Attempts != 1 {
		t.Errorf("waiting counted as an attempt: %d", j.Attempts)
	}
	if err := s.RetryJob(t.Context(), j, c.now().Add(time.Minute), "busy"); err != nil {
		t.Fatal(err)
	}
	nothingToClaim(t, s.Store)
	c.add(time.Minute)
	j = claim(t, s.Store, "a")
	if err := s.BuryJob(t.Context(), j, "hopeless"); err != nil {
		t.Fatal(err)
	}
	nothingToClaim(t, s.Store)
	dead := must[[]store.Job](t)(s.Jobs(t.Context(), store.Dead))
	if len(dead) != 1 || dead[0].Reason != "hopeless" || dead[0].Attempts != 2 {
		t.Errorf("dead letters %+v", dead)
	}
	if got := dueIDs(t, s.Store, c.now().Add(time.Hour), 1); got != "" {
		t.Errorf("a dead job's session is due again: %q", got)
	}
	if _, ok, err := s.Enqueue(t.Context(), ann, "s", store.TriggerIdle); ok || err != nil {
		t.Errorf("idle revives a dead job: %v, %v", ok, err)
	}
	if j := must[store.Job](t)(s.Requeue(t.Context(), j.ID)); j.State != store.Queued || j.Attempts != 0 {
		t.Errorf("requeued %+v", j)
	}
	j = claim(t, s.Store, "a")
	if err := s.BuryJob(t.Context(), j, "hopeless"); err != nil {
		t.Fatal(err)
	}
	talk(t, s.Store, c, "s", 1, 1)
	if got := dueIDs(t, s.Store, c.now().Add(time.Hour), 1); got != "s " {
		t.Errorf("new material doesn't revive the session: %q", got)
	}
	if j := enqueue(t, s.Store, "s", store.TriggerIdle); j.State != store.Queued || j.From != 0 || j.To != 2 {
		t.Errorf("revived %+v", j)
	}
}

func TestWaitJobIsTold(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	talk(t, s.Store, c, "s", 0, 1)
	j := enqueue(t, s.Store, "s", store.TriggerIdle)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := s.WaitJob(ended, j.ID); !errors.Is(err, context.Canceled) || got.State != store.Queued {
		t.Errorf("WaitJob with an ended context = %+v, %v", got, err)
	}
	done := make(chan store.Job, 1)
	go func() {
		j, err := s.WaitJob(t.Context(), j.ID)
		if err != nil {
			t.Error(err)
		}
		done <- j
	}()
	must[store.Job](t)(s.Apply(t.Context(), claim(t, s.Store, "a"), store.Outcome{Kept: []string{"m"}, Strategy: "rules"}))
	if got := <-done; got.State != store.Done || got.Strategy != "rules" {
		t.Errorf("WaitJob = %+v", got)
	}
}

// Whoever looks for sessions that are due gives the lock up between pieces, and
// finds those that have waited longest while others come and go.
func TestDueAmongSessionsThatComeAndGo(t *testing.T) {
	s := open(t, Config{})
	began := time.Now().Add(-time.Hour)
	for i := range 2*dueBatch + 300 {
		s.Finish(said(ann, fmt.Sprint("old", i), fmt.Sprint("x", i), "hello", began.Add(time.Duration(i)*time.Millisecond)))
	}
	flush(t, s.Store)
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				tell(t, s.Store, said(ann, fmt.Sprint("new", i), fmt.Sprint("y", i), "hello", time.Now()))
			}
		}
	})
	for range 20 {
		due, err := s.Due(t.Context(), began.Add(time.Minute), 0, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range due {
			if x.ID != fmt.Sprint("old", i) {
				t.Fatalf("number %d is %s", i, x.ID)
			}
		}
		if len(due) != dueBatch {
			t.Fatalf("%d are due", len(due))
		}
	}
	close(stop)
	others.Wait()
}
