package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hindsight/store"
)

// recalls is how often recall has run.
func (w *world) recalls() float64 {
	w.t.Helper()
	sum := 0.0
	for line := range strings.Lines(string(w.admin(http.MethodGet, "/metrics", ""))) {
		if strings.HasPrefix(line, "hindsight_recalls_total") {
			var v float64
			if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &v); err != nil {
				w.t.Fatalf("%v in %q", err, line)
			}
			sum += v
		}
	}
	return sum
}

// Seven identical requests while the upstream is unwell: recall runs once, the
// upstream gets the same bytes each time, and one exchange with one user input
// is kept. The second turn of the conversation goes the same way.
func TestSevenTriesOfOneRequest(t *testing.T) {
	t.Parallel()
	faults := map[string][]broken{
		"refusals": {status(500), status(503), status(500), status(502), status(529), status(503)},
		"cuts":     {cutShort, cutShort, cutShort, cutShort, cutShort, cutShort},
		"mixed":    {status(503), cutShort, hangUp, status(500), cutShort, status(500)},
	}
	for name, six := range faults {
		for _, announced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, announced=%t", name, announced), func(t *testing.T) {
				oneInThree(t)
				t.Parallel()
				w := newWorld(t)
				w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
				w.remember("local", `"text":"Olga keeps the boat shed's key.","type":"user_fact"`)
				c := w.conversation()
				var session string
				for turn, words := range []string{craneCode, shedCode} {
					w.breaks(six...)
					recalls, from := w.recalls(), len(w.seen())
					c.add("user", words)
					exchanges := map[string]bool{}
					for try := range 7 {
						headers := []string{fmt.Sprint("X-Stainless-Retry-Count: ", try)}
						if !announced {
							headers = nil
						}
						r, err := w.trySend(c.body(), headers...)
						if good := err == nil && r.status == 200; good != (try == 6) {
							t.Fatalf("try %d: %v, status %d", try, err, r.status)
						}
						if id := r.exchange(); id != "" {
							exchanges[id] = true
						}
						if try == 6 {
							session = r.session()
							c.add("assistant", r.text())
						}
					}
					tries := w.seen()[from:]
					for _, a := range tries {
						if !bytes.Equal(a.body, tries[0].body) {
							t.Fatalf("not the same bytes:\n%s\n%s", tries[0].body, a.body)
						}
					}
					if n := w.recalls() - recalls; len(tries) != 7 || n != 1 {
						t.Errorf("%d requests upstream, %v recalls, want 7 and 1", len(tries), n)
					}
					if !strings.Contains(tries[0].blocks(t)[2*turn], []string{"4411", "Olga"}[turn]) {
						t.Errorf("nothing was injected: %s", tries[0].body)
					}
					if len(exchanges) != 1 {
						t.Errorf("%d exchanges for one message", len(exchanges))
					}
				}
				s := w.wantSaid(session, "local", craneCode, shedCode)
				if len(s.Exchanges) != 2 || s.Exchanges[0].Status != store.Complete || s.Exchanges[1].Status != store.Complete {
					t.Errorf("exchanges %+v", s.Exchanges)
				}
				w.wantSessions(1)
			})
		}
	}
}

// What broke off and never came again stays as what it is, without the answer
// counting as a good one.
func TestCutForGood(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.breaks(cutShort)
	c := w.conversation("Hindsight-Session: crane").add("user", "My badge is B4411.")
	r, err := w.trySend(c.body(), c.headers...)
	if err == nil {
		t.Fatalf("the client saw a whole answer: %s", r.body)
	}
	s := w.wantSaid(r.session(), "local", "My badge is B4411.")
	if len(s.Exchanges) != 1 || s.Exchanges[0].Status != store.Truncated {
		t.Errorf("exchanges %+v", s.Exchanges)
	}
}
