package session

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"hindsight/proxy/dialect"
	"hindsight/store"
)

// twin is another process: what is fetched from it is copied as the shared store
// would bring it.
type twin struct {
	from, to *fakeStore
	asked    int
}

func (o *twin) Fetch(_ context.Context, owner store.Owner, session string, keys []store.Hash) []string {
	o.asked++
	owner.Agent = ""
	o.from.mu.Lock()
	defer o.from.mu.Unlock()
	o.to.mu.Lock()
	defer o.to.mu.Unlock()
	var ids []string
	if _, ok := o.from.sessions[session]; ok {
		ids = append(ids, session)
	}
	for _, key := range keys {
		for _, a := range o.from.anchors[owner][key] {
			if !slices.Contains(ids, a.Session) {
				ids = append(ids, a.Session)
			}
		}
	}
	for _, id := range ids {
		o.to.sessions[id] = o.from.sessions[id]
		for _, p := range o.from.places[id] {
			if !slices.Contains(o.to.places[id], p) {
				o.to.places[id] = append(o.to.places[id], p)
			}
		}
		for key, anchors := range o.from.anchors[owner] {
			for _, a := range anchors {
				if a.Session != id {
					continue
				}
				if o.to.anchors[owner] == nil {
					o.to.anchors[owner] = map[store.Hash][]store.Anchor{}
				}
				if !slices.Contains(o.to.anchors[owner][key], a) {
					o.to.anchors[owner][key] = append(o.to.anchors[owner][key], a)
				}
			}
		}
	}
	return ids
}

// pair is two processes that know of each other.
func pair(t *testing.T) (a, b *world, asks [2]*twin) {
	a, b = newWorld(t, acme), newWorld(t, acme)
	asks = [2]*twin{{from: b.st, to: a.st}, {from: a.st, to: b.st}}
	for i, w := range []*world{a, b} {
		cfg := acme
		cfg.Others = asks[i]
		w.start(cfg)
	}
	return a, b, asks
}

// A conversation whose every turn meets the other process is one session there
// and here, with one number for each turn, and nothing in it is told twice.
func TestTurnsThatMeetAnotherProcessStayInTheirSession(t *testing.T) {
	for _, h := range [][]string{nil, {"Hindsight-Session", "thread-1"}} {
		a, b, _ := pair(t)
		talks := [2]talk{{w: a, h: by("ann", h...)}, {w: b, h: by("ann", h...)}}
		var turns []*Turn
		for i := range 6 {
			c := &talks[i%2]
			turns = append(turns, c.say(fmt.Sprintf("question %d", i), fmt.Sprintf("answer %d", i)))
			talks[(i+1)%2].history = slices.Clone(c.history)
		}
		for i, turn := range turns {
			wantSame(t, fmt.Sprintf("session of turn %d", i), turns[0].Session, turn.Session)
			w := []*world{a, b}[i%2]
			if got := w.st.exchanges[turn.Exchange]; got.Turn != i+1 || len(got.Events) != 2 {
				t.Errorf("turn %d is number %d with %d events, want %d with 2", i, got.Turn, len(got.Events), i+1)
			}
		}
	}
}

// The others are asked about what they alone can know, and about nothing else.
func TestOthersAreAskedOnlyWhereTheNewestTurnIsUnknown(t *testing.T) {
	a, b, asks := pair(t)
	here := talk{w: a, h: by("ann")}
	for i := range 3 {
		here.say(fmt.Sprintf("question %d", i), fmt.Sprintf("answer %d", i))
	}
	if asks[0].asked != 0 {
		t.Errorf("asked %d times about a conversation that was held here", asks[0].asked)
	}
	there := talk{w: b, h: by("ann"), history: slices.Clone(here.history)}
	there.say("question 3", "answer 3")
	there.say("question 4", "answer 4")
	if asks[1].asked != 1 {
		t.Errorf("asked %d times, want once: when the conversation came", asks[1].asked)
	}
}

// A tool round that another process began goes on here.
func TestToolRoundGoesOnInAnotherProcess(t *testing.T) {
	a, b, _ := pair(t)
	first := a.identify(a.incoming(by("ann"), nil, user("what is the time?")))
	a.answer(first, dialect.Answer{Calls: []dialect.Call{{ID: "call_Zx81kQp0aB7tR4mN", Name: "clock", Arguments: "{}"}}})
	second := b.identify(b.incoming(by("ann"), nil, user("what is the time?"), calling("call_Zx81kQp0aB7tR4mN", "clock"), tool("call_Zx81kQp0aB7tR4mN", "noon")))
	wantSame(t, "session", first.Session, second.Session)
}
