package badgerdb

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

func TestExchangesGetTheirOrderAtCommit(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s := open(t, Config{Reg: reg})
	at := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	for i := range 3 {
		x := said(ann, "s", fmt.Sprintf("x%d", i), "hello there", at.Add(time.Duration(i)*time.Minute))
		x.Turn = i + 1
		s.Begin(x)
		y := *x
		s.Finish(&y)
	}
	flush(t, s.Store)
	list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))
	if got := ids(list); got != "1:x0 2:x1 3:x2 " {
		t.Errorf("exchanges %s", got)
	}
	if got := ids(must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 1, 2))); got != "2:x1 " {
		t.Errorf("exchanges after 1 up to 2: %s", got)
	}
	got := must[store.Session](t)(s.Session(t.Context(), ann, "s"))
	want := store.Session{
		ID: "s", Owner: ann, State: store.Open, Turns: 3, Started: at, LastSeen: at.Add(2*time.Minute + time.Second),
		LastSeq: 3, NewTokens: 3 * store.Tokens("hello there"), Dialect: "chat", Model: "m",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("session (-want +got):\n%s", d)
	}
	if n := metric(t, reg, "hindsight_journal_exchanges_total"); n != 3 {
		t.Errorf("%v exchanges counted, want 3", n)
	}
	if x := must[store.Exchange](t)(s.Exchange(t.Context(), "x1")); x.Seq != 2 || x.Events[0].Text != "hello there" {
		t.Errorf("Exchange(x1) = %+v", x)
	}
	if n := len(s.mem.begun); n != 0 {
		t.Errorf("%d begun records left", n)
	}
}

func TestAnotherOwnersSessionIsNotFound(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	tell(t, s.Store, said(ann, "s", "x", "hi", time.Now()))
	for _, o := range []store.Owner{bob, {Tenant: "other", User: "ann"}} {
		if _, err := s.Session(t.Context(), o, "s"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Session of %v: %v", o, err)
		}
		if _, err := s.Exchanges(t.Context(), o, "s", 0, 0); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Exchanges of %v: %v", o, err)
		}
	}
	agent := ann
	agent.Agent = "coder"
	if _, err := s.Session(t.Context(), agent, "s"); err != nil {
		t.Errorf("the agent shouldn't count: %v", err)
	}
	if x := must[store.Session](t)(s.FindSession(t.Context(), "s")); x.Owner != ann {
		t.Errorf("FindSession = %+v", x)
	}
}

func TestReadsCreateNothing(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	_, _ = s.Session(t.Context(), ann, "s")
	_, _ = s.LoadLedger(t.Context(), ann, "s")
	_, _, _ = s.ScopeMemories(t.Context(), "acme", ann.Scope())
	failed := said(ann, "s", "x", "hi", time.Now())
	failed.Status, failed.HTTP = store.Errored, 500
	tell(t, s.Store, failed)
	if list := must[[]store.Tenant](t)(s.Tenants(t.Context())); len(list) != 0 {
		t.Errorf("tenants after reads and a refused request: %v", list)
	}
}

func TestRepeatedExchangeReplacesItsFirst(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	now := time.Now()
	s.Finish(said(ann, "s", "a", "first words here", now))
	tell(t, s.Store, said(ann, "s", "b", "second", now))
	again := said(ann, "s", "a", "first words here, and then some", now)
	tell(t, s.Store, again)
	list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))
	if got := ids(list); got != "2:b 3:a " {
		t.Errorf("exchanges %s", got)
	}
	x := must[store.Session](t)(s.Session(t.Context(), ann, "s"))
	if want := store.Tokens("second") + again.Tokens; x.NewTokens != want || x.LastSeq != 3 {
		t.Errorf("session has %d new tokens and seq %d, want %d and 3", x.NewTokens, x.LastSeq, want)
	}
}

func TestAnExchangeIDOfAnotherOwnerIsDropped(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s := open(t, Config{Reg: reg})
	s.Finish(said(ann, "s", "x", "ann's", time.Now()))
	tell(t, s.Store, said(bob, "t", "x", "bob's", time.Now()))
	if x := must[store.Exchange](t)(s.Exchange(t.Context(), "x")); x.Owner != ann {
		t.Errorf("the exchange is %v's now", x.Owner)
	}
	if n := metric(t, reg, "hindsight_journal_dropped_total", itemFinish, dropOther); n != 1 {
		t.Errorf("%v dropped, want 1", n)
	}
}

func TestLargeExchangesAreCutAndRead(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	text := strings.Repeat("0123456789abcdef", 3<<16) // 3 MiB
	x := said(ann, "s", "big", text, time.Now())
	s.Begin(x)
	flush(t, s.Store) // so that the begun form is written too
	y := *x
	s.Finish(&y)
	tell(t, s.Store, said(ann, "s", "small", "hi", time.Now()))
	list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))
	if ids(list) != "1:big 2:small " || list[0].Events[0].Text != text {
		t.Fatalf("exchanges %s, first text of %d bytes", ids(list), len(list[0].Events[0].Text))
	}
	tell(t, s.Store, said(ann, "s", "big", "small now", time.Now()))
	if n := count(t, s.Store, famPart); n != 0 {
		t.Errorf("%d parts left of exchanges that are gone", n)
	}
}

// count counts the keys of a family.
func count(t *testing.T, s *Store, family byte) int {
	t.Helper()
	n := 0
	err := s.view(func(v view) error {
		for range v.rows([]byte{family}, nil) {
			n++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestManyPlacesAndAnchors(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	key := must[store.IdentityKey](t)(s.Key())
	x := said(ann, "s", "x", "hi", time.Now())
	for i := range 5000 {
		x.Places = append(x.Places, store.Place{Key: key.Hash("p", fmt.Sprint(i)), Turn: i})
		x.Anchors = append(x.Anchors, store.Anchor{Key: key.Hash("a", fmt.Sprint(i)), Length: i, Time: x.Started})
	}
	tell(t, s.Store, x)
	if n := len(must[[]store.Place](t)(s.Places(t.Context(), ann, "s"))); n != 5000 {
		t.Errorf("%d places, want 5000", n)
	}
	if n := count(t, s.Store, famAnchor); n != 5000 {
		t.Errorf("%d anchors, want 5000", n)
	}
}

func TestAnchorsOfOneUserNewestFirst(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	key := must[store.IdentityKey](t)(s.Key())
	k, other := key.Hash("a", "k"), key.Hash("a", "other")
	now := time.Now().UTC().Round(0)
	for i, name := range []string{"old", "new"} {
		x := said(ann, name, "x"+name, "hi", now)
		x.Anchors = []store.Anchor{{Key: k, Length: 2 + i, Alone: true, Time: now.Add(time.Duration(i) * time.Hour)}}
		s.Finish(x)
	}
	flush(t, s.Store)
	got := must[[][]store.Anchor](t)(s.Anchors(t.Context(), ann, []store.Hash{other, k}))
	want := [][]store.Anchor{nil, {
		{Key: k, Session: "new", Length: 3, Alone: true, Time: now.Add(time.Hour)},
		{Key: k, Session: "old", Length: 2, Alone: true, Time: now},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("anchors (-want +got):\n%s", d)
	}
	if got := must[[][]store.Anchor](t)(s.Anchors(t.Context(), bob, []store.Hash{k})); len(got[0]) != 0 {
		t.Errorf("bob sees ann's anchors: %v", got)
	}
}

func TestLedgerAndWhy(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	key := must[store.IdentityKey](t)(s.Key())
	now := time.Now().UTC().Round(0)
	e := store.LedgerEntry{Owner: ann, Session: "s", Key: key.Hash("l", "1"), Text: "block", Refs: []store.Ref{{ID: "m1", Revision: 1}}, Created: now, LastUsed: now}
	s.SaveLedger([]store.LedgerEntry{e})
	s.SaveLedger(nil)
	w := store.Why{Exchange: "x", Session: "s", Owner: ann, Time: now, Status: "injected", Query: "q",
		Considered: []store.Candidate{{ID: "m1", Text: "t", Parts: map[string]float64{"words": 0.5}, Verdict: "chosen"}}}
	s.SaveWhy(w)
	flush(t, s.Store)
	if d := cmp.Diff([]store.LedgerEntry{e}, must[[]store.LedgerEntry](t)(s.LoadLedger(t.Context(), ann, "s"))); d != "" {
		t.Errorf("ledger (-want +got):\n%s", d)
	}
	if got := must[[]store.LedgerEntry](t)(s.LoadLedger(t.Context(), bob, "s")); len(got) != 0 {
		t.Errorf("bob reads ann's ledger: %v", got)
	}
	if d := cmp.Diff(w, must[store.Why](t)(s.Why(t.Context(), "x"))); d != "" {
		t.Errorf("why (-want +got):\n%s", d)
	}
	if _, err := s.Why(t.Context(), "y"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Why of an unknown exchange: %v", err)
	}
}

// What a block asks to check is known at once, and after a restart.
func TestOffered(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	key := must[store.IdentityKey](t)(s.Key())
	now := time.Now().UTC().Round(0)
	s.SaveLedger([]store.LedgerEntry{{Owner: ann, Session: "s", Key: key.Hash("l", "1"), Text: "block", Refs: []store.Ref{{ID: "m1"}, {ID: "m2"}}, Checks: []string{"m1"}, Created: now, LastUsed: now}})
	for _, when := range []string{"at once", "after a restart"} {
		if one, two := s.Offered("m1"), s.Offered("m2"); !one.Equal(now) || !two.IsZero() {
			t.Errorf("%s: m1 was offered at %v, m2 at %v", when, one, two)
		}
		flush(t, s.Store)
		s.stop()
		s = open(t, Config{Dir: dir})
	}
}

func TestQueueOverflowIsCountedNotWaitedFor(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s := open(t, Config{Reg: reg, QueueBytes: 10_000, Linger: time.Hour})
	for i := range 100 {
		s.Finish(said(ann, "s", fmt.Sprint(i), "hi", time.Now()))
	}
	dropped := metric(t, reg, "hindsight_journal_dropped_total", itemFinish, dropFull)
	flush(t, s.Store)
	stored := len(must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0)))
	if dropped == 0 || stored == 0 || int(dropped)+stored != 100 {
		t.Errorf("%v dropped + %d stored, want 100 together and neither 0", dropped, stored)
	}
	if n := metric(t, reg, "hindsight_journal_queue_bytes"); n != 0 {
		t.Errorf("%v bytes wait after a flush", n)
	}
}

func TestWatermarkStopsRecordingAndReadingGoesOn(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	var space atomic.Uint64
	space.Store(1 << 40)
	s := open(t, Config{Reg: reg, Free: func(string) (uint64, error) { return space.Load(), nil }})
	m := put(t, s.Store, written("tea"))
	tell(t, s.Store, said(ann, "s", "before", "hi", time.Now()))

	space.Store(1 << 20)
	tell(t, s.Store, said(ann, "s", "lost", "hi", time.Now()))
	on, reason := s.State()
	if !on {
		t.Fatalf("memory is off: %s", reason)
	}
	wantIn(t, reason, "nothing is recorded", "1 MiB")
	if n := metric(t, reg, "hindsight_journal_dropped_total", itemFinish, dropSpace); n != 1 {
		t.Errorf("%v dropped, want 1", n)
	}
	var off *store.Off
	if _, _, err := s.PutMemory(t.Context(), written("coffee")); !errors.As(err, &off) {
		t.Errorf("PutMemory on a full disk: %v", err)
	}
	if _, err := s.Memory(t.Context(), m.ID); err != nil {
		t.Errorf("reading on a full disk: %v", err)
	}
	if _, err := s.EraseMemory(t.Context(), m.ID); err != nil {
		t.Errorf("forgetting on a full disk: %v", err)
	}

	space.Store(1 << 40)
	tell(t, s.Store, said(ann, "s", "after", "hi", time.Now()))
	if on, reason := s.State(); !on || reason != "" {
		t.Errorf("State with space back = %v, %q", on, reason)
	}
	if got := ids(must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))); got != "1:before 2:after " {
		t.Errorf("exchanges %s", got)
	}
}

func TestShutdownCommitsWhatIsQueued(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir, Linger: time.Hour})
	s.Finish(said(ann, "s", "x", "hi", time.Now()))
	s.stop()
	if on, reason := s.State(); on || reason != "closed" {
		t.Errorf("State after Run = %v, %q", on, reason)
	}
	again := open(t, Config{Dir: dir})
	if got := ids(must[[]store.Exchange](t)(again.Exchanges(t.Context(), ann, "s", 0, 0))); got != "1:x " {
		t.Errorf("exchanges after a restart: %s", got)
	}
}

func TestAFailedCommitOpensAnewAndKeepsTheQueue(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Retry: 10 * time.Millisecond, Linger: time.Hour})
	s.Finish(said(ann, "s", "x", "hi", time.Now()))
	s.broken <- &commitError{errors.New("disk on fire")}
	until(t, "the failure to be seen", func() bool { return len(s.broken) == 0 })
	until(t, "the store to open again", func() bool { return s.Flush(t.Context()) == nil })
	if got := ids(must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))); got != "1:x " {
		t.Errorf("exchanges %s", got)
	}
}
