package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// countReflections counts the requests by which the model is asked to reflect.
func (w *world) countReflections() *atomic.Int64 {
	var n atomic.Int64
	inner := w.answer
	w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("hindsight_memories")) {
			n.Add(1)
		}
		return inner != nil && inner(rw, r, body)
	}
	return &n
}

// wantQuiet fails if anything was reflected or waits for it.
func (w *world) wantQuiet(reflections *atomic.Int64) {
	w.t.Helper()
	var v struct{ Reflections []struct{ ID string } }
	w.decode(w.admin(http.MethodGet, "/api/v1/reflections", ""), &v)
	if n := reflections.Load(); n != 0 || len(v.Reflections) != 0 {
		w.t.Errorf("%d reflections asked of the model, %d in the queue, want none", n, len(v.Reflections))
	}
}

// A client that sends only the last six messages has one session, and no turn
// of it is reflected by itself. What was recalled goes along as long as its
// message does.
func TestOnlyTheLastSixMessages(t *testing.T) {
	t.Parallel()
	for _, constant := range []bool{false, true} {
		t.Run(fmt.Sprintf("constant answers=%t", constant), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
			if constant {
				w.answers(func([]byte) string { return "OK." })
			}
			reflections := w.countReflections()
			var all, words []string
			var session, block string
			for turn := range 20 {
				said := fmt.Sprintf("Note that pallet %d stands in row %d", turn, turn*7)
				if turn == 4 {
					said = "What is the harbour crane's access code?"
				}
				words = append(words, said)
				c := w.conversation().add("system", "You keep a list.")
				c.messages = append(c.messages, all[max(0, len(all)-5):]...)
				sent := c.add("user", said).body()
				r := c.send()
				if session == "" {
					session = r.session()
				}
				if r.session() != session {
					t.Fatalf("turn %d is in another session", turn)
				}
				got := w.last()
				got.wantSpliced(t, sent)
				with := strings.Join(got.blocks(t), "")
				switch {
				case turn == 4:
					if block = with; !strings.Contains(block, "4411") {
						t.Fatalf("nothing was injected: %s", r.memory())
					}
				case turn == 5 || turn == 6:
					if with != block {
						t.Errorf("turn %d carries %q, want %q", turn, with, block)
					}
				case with != "":
					t.Errorf("turn %d carries %q", turn, with)
				}
				all = append(all, c.messages[len(c.messages)-2:]...)
			}
			s := w.wantSaid(session, "local", words...)
			if len(s.Exchanges) != 20 {
				t.Errorf("%d exchanges", len(s.Exchanges))
			}
			w.wantSessions(1)
			w.wantQuiet(reflections)
		})
	}
}

// A client that puts a summary in place of the first thirty messages goes on
// in the same session: whether the last answers stay, or only the person's own
// words do.
func TestSummaryInPlaceOfTheBeginning(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	turns := 18
	w := newWorld(t)
	reflections := w.countReflections()
	ownWords := func(all []string) []string {
		var own []string
		for _, m := range all {
			if strings.Contains(m, `"role":"user"`) {
				own = append(own, m)
			}
		}
		return append(own, w.conversation().add("user", "Another language model started to solve this problem and produced a summary of its thinking process: pallets were noted.").messages...)
	}
	for name, compact := range map[string]func(all []string) []string{
		"as a user message, the end kept": func(all []string) []string {
			return append(w.conversation().add("user", "This session is being continued from a previous conversation that ran out of context. The conversation is summarized below: pallets were noted.").messages, all[30:]...)
		},
		"as a system message, the end kept": func(all []string) []string {
			return append(w.conversation().add("system", "Summary: pallets were noted.").messages, all[30:]...)
		},
		"every answer dropped":                    ownWords,
		"every answer dropped, the session named": ownWords,
	} {
		c := w.conversation()
		if strings.HasSuffix(name, "named") {
			c.headers = []string{"Hindsight-Session: lot-8"}
		}
		var words []string
		var session string
		for turn := range turns {
			words = append(words, fmt.Sprintf("Pallet %d of the lot %q stands in row %d", turn, name, turn*7))
			session = c.say(words[turn]).session()
		}
		c.messages = compact(c.messages)
		for _, said := range []string{"Where is pallet 3 of " + name + "?", "And pallet 4?"} {
			words = append(words, said)
			if r := c.say(said); r.session() != session {
				t.Errorf("%s: %q is in another session", name, said)
			}
		}
		w.wantSaid(session, "local", words...)
	}
	w.wantSessions(4)
	w.wantQuiet(reflections)
}
