package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/store"
)

func TestSessionEnd(t *testing.T) {
	w := newWorld(t, acme)
	got := w.ask(by("ann", "Hindsight-Session-End", "true"), "bye", user("that was all"))
	if !w.st.exchanges[got.Exchange].SessionInfo.End {
		t.Error("the end isn't in the record")
	}
}

func TestRestart(t *testing.T) {
	w := newWorld(t, acme)
	c := talk{w: w, h: by("ann")}
	c.say("hello", "OK.")
	c.say("continue", "OK.")
	before := c.turns[1]
	w.start(acme)
	after := c.say("continue", "OK.")
	wantSame(t, "session", before.Session, after.Session)
	for i, p := range before.Places {
		if after.Places[i].Key != p.Key {
			t.Errorf("place %d changed", i)
		}
	}
	want := "1 user_input: hello|1 final_output: OK.|2 user_input: continue|2 final_output: OK.|3 user_input: continue|3 final_output: OK."
	if got := strings.Join(w.st.events(after.Session), "|"); got != want {
		t.Errorf("events %s\nwant   %s", got, want)
	}
	named := talk{w: w, h: by("ann", "Hindsight-Session", "n1")}
	first := named.say("one", "1")
	w.start(acme)
	again := w.ask(named.h, "1", user("one")) // regenerated
	wantSame(t, "named session", first.Session, again.Session)
	if got := w.st.events(first.Session); len(got) != 3 {
		t.Errorf("a known message is new after a restart: %q", got)
	}
}

func TestStoreOff(t *testing.T) {
	w := newWorld(t, acme)
	w.st.off = errOff
	got := w.ask(by("ann"), "hi", user("hello"))
	if got.Off != "store" || got.Session != "" || len(w.st.exchanges) > 0 {
		t.Errorf("off %q session %q", got.Off, got.Session)
	}
	w.st.off = nil
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	late := w.k.Identify(ctx, w.incoming(by("ann", "Hindsight-Session", "s1"), nil, user("hello")))
	if late.Off != "deadline" {
		t.Errorf("off %q after the deadline", late.Off)
	}
	w.answer(late, dialect.Answer{Text: "hi"})
	if len(w.st.exchanges) > 0 {
		t.Error("recorded without a session")
	}
}

func TestNothingIsCreatedBeforeAnAnswer(t *testing.T) {
	w := newWorld(t, loopback)
	for _, h := range [][]string{{}, {"Hindsight-User", "ann"}, {"Hindsight-Session", "s1"}} {
		w.fail(w.identify(w.incoming(bearer("sk-bad", h...), nil, user("hello"))), 401)
	}
	w.k.saveFacts()
	if len(w.st.facts)+len(w.st.sessions)+len(w.st.exchanges) > 0 {
		t.Errorf("left behind: %v %v %v", w.st.facts, w.st.sessions, w.st.exchanges)
	}
}

func TestNextRequestWaitsForTheAnswerBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, acme)
		first := w.identify(w.incoming(by("ann"), nil, user("hello")))
		w.st.journal(w.k.Begin(first, inject.Plan{}))
		w.k.Ended(first)

		var second *Turn
		var settled error
		var all sync.WaitGroup
		all.Go(func() {
			second = w.identify(w.incoming(by("ann"), nil, user("hello"), assistant("hi"), user("and?")))
		})
		settling := make(chan struct{})
		all.Go(func() { settled = w.k.Settle(context.Background(), first.Session); close(settling) })
		if other := w.identify(w.incoming(by("bob"), nil, user("hello"))); other.Off != "" { // never waits
			t.Errorf("another user: off %q", other.Off)
		}
		synctest.Wait()
		if second != nil {
			t.Error("the next request didn't wait")
		}
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		if err := w.k.Settle(ctx, first.Session); err == nil {
			t.Error("Settle didn't wait")
		}
		x := w.k.Finish(first, dialect.Answer{Text: "hi"}, End{Status: store.Complete, HTTP: 200})
		synctest.Wait()
		select {
		case <-settling:
			t.Error("Settle didn't wait for the journal")
		default:
		}
		w.st.journal(x)
		w.k.Recorded(first)
		all.Wait()
		if settled != nil {
			t.Error(settled)
		}
		wantSame(t, "session", first.Session, second.Session)
	})
}

func TestFinishWithoutEndedAndTwice(t *testing.T) {
	w := newWorld(t, acme)
	turn := w.identify(w.incoming(by("ann"), nil, user("hello")))
	if x := w.k.Finish(turn, dialect.Answer{Text: "hi"}, End{Status: store.Complete, HTTP: 200}); x == nil || len(x.Events) != 2 {
		t.Errorf("record %+v", x)
	}
	if x := w.k.Finish(turn, dialect.Answer{Text: "hi"}, End{Status: store.Complete, HTTP: 200}); x != nil {
		t.Error("finished twice")
	}
	w.k.Ended(turn)
	w.k.Recorded(turn)
	if err := w.k.Settle(context.Background(), turn.Session); err != nil {
		t.Error(err)
	}
}

func TestRunSavesFacts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, loopback)
		ctx, cancel := context.WithCancel(context.Background())
		var all sync.WaitGroup
		all.Go(func() {
			if err := w.k.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		w.hello(bearer("sk-1"))
		synctest.Wait()
		w.st.mu.Lock()
		saved := w.st.facts[factFirst]
		w.st.mu.Unlock()
		if saved == "" {
			t.Error("the first credential isn't on disk")
		}
		cancel()
		all.Wait()
	})
}

// Memory is bounded: what is pushed out comes back from the store.
func TestEviction(t *testing.T) {
	cfg := acme
	cfg.Sessions = 2
	w := newWorld(t, cfg)
	first := w.ask(by("ann"), "hi", user("the first"))
	for i := range 5 {
		w.ask(by("ann"), "hi", user(fmt.Sprint("another ", i)))
	}
	if n := len(w.k.live.items); n > 2 {
		t.Errorf("%d sessions in memory", n)
	}
	again := w.ask(by("ann"), "bye", user("the first"), assistant("hi"), user("more"))
	wantSame(t, "session", first.Session, again.Session)
	if x := w.st.exchanges[again.Exchange]; x.Turn != 2 || len(x.Events) != 2 {
		t.Errorf("turn %d, events %+v", x.Turn, x.Events)
	}
}
