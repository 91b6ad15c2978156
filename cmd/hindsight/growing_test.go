package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A ReAct prompt is one user message that grows step by step. Its block stays
// where it was, at the head, byte for byte; it is one turn of one session, and
// what a tool said is no word of the person.
func TestGrowingMessage(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{false, true} {
		t.Run(fmt.Sprintf("named=%t", named), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
			w.remember("local", `"text":"Olga keeps the boat shed's key.","type":"user_fact"`)
			w.answers(func([]byte) string { return "Thought: I need to look.\nAction: look\nAction Input: crane" })
			var headers []string
			if named {
				headers = []string{"Hindsight-Session: react"}
			}
			recalls := w.recalls()
			message, first := craneCode+"\n", reply{}
			var before []byte
			for step := range 5 {
				c := w.conversation(headers...).add("system", "Think, act, observe.")
				sent := c.add("user", message).body()
				r := c.send()
				got := w.last()
				got.wantSpliced(t, sent)
				raw := []byte(got.messages(t)[1])
				if step == 0 {
					first = r
				} else {
					if !bytes.HasPrefix(raw, bytes.TrimSuffix(before, []byte(`","role":"user"}`))) {
						t.Errorf("step %d doesn't begin with the step before:\n%s\n%s", step, before, raw)
					}
					if r.session() != first.session() || !strings.HasPrefix(r.memory(), "replayed") || r.memories() != "" {
						t.Errorf("step %d: %s in session %s, want %s", step, r.memory(), r.session(), first.session())
					}
				}
				if block := got.blocks(t)[1]; !strings.Contains(block, "4411") || strings.Contains(block, "Olga") {
					t.Errorf("step %d carries %q", step, block)
				}
				before = raw
				message += r.text() + "\nObservation: the boat shed's key is not in its place, who keeps it?\n"
			}
			if first.memory() != "injected" {
				t.Errorf("the first step: %s", first.memory())
			}
			if n := w.recalls() - recalls; n != 1 {
				t.Errorf("%v recalls for one turn", n)
			}
			s := w.wantSaid(first.session(), "local", craneCode)
			if len(s.Exchanges) != 5 {
				t.Errorf("%d exchanges", len(s.Exchanges))
			}
			w.wantSessions(1)
		})
	}
}

// Another question is no grown message, and neither is another person's.
func TestNotGrown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("ann", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	ask := func(user, text string) reply {
		return w.conversation("Hindsight-User: " + user).say(text)
	}
	first := ask("ann", craneCode+"\n")
	for what, r := range map[string]reply{
		"another user's longer message": ask("bob", craneCode+"\nObservation: none\n"),
		"another question":              ask("ann", shedCode+"\nObservation: none\n"),
	} {
		if r.session() == first.session() || r.memory() != "none" {
			t.Errorf("%s: %s in session %s", what, r.memory(), r.session())
		}
	}
	if got := w.saying("4411"); len(got) != 1 {
		t.Errorf("%d requests with ann's memory, want 1", len(got))
	}
	w.wantSessions(3)
}
