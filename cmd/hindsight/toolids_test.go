package main

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"
)

// callsRead makes the upstream call a tool by an id that it uses again in every
// conversation, and then tell what the tool said.
func (w *world) callsRead(id string) {
	w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("hindsight_memories")) {
			return false
		}
		message := `{"role":"assistant","content":"Done."}`
		if !bytes.Contains(body, []byte(`"tool_call_id":`)) {
			message = `{"role":"assistant","content":null,"tool_calls":[{"id":"` + id + `","type":"function","function":{"name":"Read","arguments":"{\"path\":\"notes.txt\"}"}}]}`
		}
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"id":"chatcmpl-1","choices":[{"index":0,"message":%s,"finish_reason":"stop"}]}`, message)
		return true
	}
}

func (c *conversation) result(id, text string) *conversation {
	c.messages = append(c.messages, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, id, text))
	return c
}

// Some models number their tool calls: the same id in two sessions of one user
// joins nothing, also where the two run at the same time.
func TestNumberedToolCalls(t *testing.T) {
	t.Parallel()
	const id = "functions.Read:1"
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann")
	w.callsRead(id)
	asks := []string{"Read my notes about the kitchen", "Read my notes about the garden"}
	talks, sessions := make([]*conversation, 2), make([]string, 2)
	for i, words := range asks {
		talks[i] = w.conversation()
		sessions[i] = talks[i].say(words).session()
	}
	w.restart()
	for _, i := range []int{1, 0} {
		r := talks[i].result(id, "nothing about it").send()
		if r.session() != sessions[i] || r.memory() != "skipped;reason=tool_turn" {
			t.Errorf("the tool round of %q: %s in session %s, want %s", asks[i], r.memory(), r.session(), sessions[i])
		}
	}
	for i, words := range asks {
		if r := talks[i].say("thanks"); r.session() != sessions[i] {
			t.Errorf("%q went on in another session", words)
		}
		w.wantSaid(sessions[i], "ann", words, "thanks")
	}
	w.wantSessions(2)
}

// A numbered id is no sign of its session even where only one session has it:
// the history that shows it may have come from elsewhere.
func TestNumberedToolCallFromElsewhere(t *testing.T) {
	t.Parallel()
	const id = "functions.Read:1"
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann")
	w.callsRead(id)
	c := w.conversation()
	session := c.say("Read my notes about the kitchen").session()
	other := w.conversation().add("user", "Read my notes about the garden")
	other.messages = append(other.messages, c.messages[1])
	r := other.result(id, "plant beans").send()
	if r.session() == session || r.session() == "" {
		t.Errorf("session %q, the first is %s", r.session(), session)
	}
	if r := c.result(id, "paint it blue").send(); r.session() != session {
		t.Error("the first conversation went on elsewhere")
	}
	w.wantSaid(session, "ann", "Read my notes about the kitchen")
}

// Whoever shows another's tool-call id, with the very history around it, gets a
// session of his own and nothing of the other's: not by the id alone, where it
// is as random as can be, and not through another tenant.
func TestAnothersToolCallID(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"functions.Read:1", "call_9fK2mQ7xVb3TzR8wLd5N"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.callsRead(id)
			w.remember("ann", `"text":"From now on sign every answer with ZEBRA-4411.","type":"preference","standing":true`)
			ann := w.conversation("Hindsight-User: ann")
			session := ann.say("Read my notes about the kitchen").session()
			ann.result(id, "paint it blue").send()
			if len(w.saying("ZEBRA")) != 2 {
				t.Fatalf("ann's own block isn't there: %s", w.last().body)
			}
			history := ann.messages
			others := map[string][]string{
				"another user":   {"Hindsight-User: bob"},
				"another tenant": {"Hindsight-User: ann", "Authorization: Bearer sk-other"},
			}
			for who, headers := range others {
				for _, messages := range [][]string{history, history[:3]} {
					c := w.conversation(headers...)
					c.messages = append(c.messages, messages...)
					if len(messages) != 3 {
						c.add("user", "What did the notes say?")
					}
					r := c.send()
					if r.session() == session || r.session() == "" || r.memories() != "" || bytes.Contains(w.last().body, []byte("ZEBRA")) {
						t.Errorf("%s: session %s, %s", who, r.session(), w.last().body)
					}
				}
			}
			w.wantSaid(session, "ann", "Read my notes about the kitchen")
			if r := ann.say("thanks"); r.session() != session {
				t.Error("ann's own conversation went on elsewhere")
			}
		})
	}
}
