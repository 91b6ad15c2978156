package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hindsight/store"
)

// broken is an upstream's fault.
type broken func(w http.ResponseWriter)

func status(code int) broken {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprint(w, `{"error":{"message":"overloaded","type":"server_error"}}`)
	}
}

// cutShort begins a good answer and breaks the connection off.
func cutShort(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `{"id":"chatcmpl-1","choices":[{"index":0,"message":{"role":"assistant","content":"It`)
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// hangUp breaks the connection off before any answer.
func hangUp(http.ResponseWriter) { panic(http.ErrAbortHandler) }

// breaks makes the upstream fail with each of faults, one a request, before it
// answers. It counts by what arrives, so that a retry of the proxy's own would
// use one up.
func (w *world) breaks(faults ...broken) {
	n := 0
	w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("hindsight_memories")) || n == len(faults) {
			return false
		}
		n++
		faults[n-1](rw)
		return true
	}
}

// An unanswered body that comes again within a minute is a retry: one
// exchange, one session, the same block, although something better was learned
// in between.
func TestRetryOfAnUnansweredBody(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]broken{"500": status(500), "429": status(429), "cut": cutShort, "hang up": hangUp} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, named=%t", name, named), func(t *testing.T) {
				oneInThree(t)
				t.Parallel()
				w := newWorld(t)
				w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
				w.breaks(fault)
				c := w.conversation()
				if named {
					c.headers = []string{"Hindsight-Session: crane"}
				}
				c.add("user", "What is the harbour crane's access code?")
				failed, _ := w.trySend(c.body(), c.headers...) // the cut is an error here, and should be
				w.remember("local", `"text":"The harbour crane's access code is kept by Olga.","type":"user_fact"`)
				before := w.seen()
				r := c.send()
				if r.exchange() == "" || failed.exchange() != "" && failed.exchange() != r.exchange() {
					t.Errorf("exchange %q, then %q", failed.exchange(), r.exchange())
				}
				if !bytes.Equal(w.last().body, before[0].body) || !strings.Contains(w.last().blocks(t)[0], "4411") {
					t.Errorf("the retry isn't the same request:\n%s\n%s", before[0].body, w.last().body)
				}
				if r.memory() != "injected" {
					t.Errorf("the retry says %s", r.memory())
				}
				s := w.wantSaid(r.session(), "local", "What is the harbour crane's access code?")
				if len(s.Exchanges) != 1 || s.Exchanges[0].ID != r.exchange() || s.Exchanges[0].Status != store.Complete {
					t.Errorf("exchanges %+v", s.Exchanges)
				}
				w.wantSessions(1)
			})
		}
	}
}

// A complete answer ends a body: the same one again is a conversation of its
// own. It gets the same block within the minute.
func TestTheSameBodyAfterAnAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	ask := func() reply {
		return w.conversation().say("What is the harbour crane's access code?")
	}
	first := ask()
	w.remember("local", `"text":"The harbour crane's access code is kept by Olga.","type":"user_fact"`)
	second := ask()
	all := w.seen()
	if len(all) != 2 || !bytes.Equal(all[0].body, all[1].body) || !strings.Contains(all[0].blocks(t)[0], "4411") {
		t.Errorf("other blocks:\n%s\n%s", all[0].body, all[1].body)
	}
	if first.session() == second.session() || first.exchange() == second.exchange() {
		t.Errorf("one session or exchange for two: %v, %v", first.header, second.header)
	}
	if first.memories() == "" || first.memories() != second.memories() {
		t.Errorf("memories %q, then %q", first.memories(), second.memories())
	}
	for _, r := range []reply{first, second} {
		if s := w.wantSaid(r.session(), "local", "What is the harbour crane's access code?"); len(s.Exchanges) != 1 {
			t.Errorf("exchanges %+v", s.Exchanges)
		}
	}
	w.wantSessions(2)
}
