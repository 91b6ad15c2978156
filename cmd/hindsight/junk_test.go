package main

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"net/http"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// texts are the memories' texts.
func texts(ms []store.Memory) []string {
	out := []string{}
	for _, m := range ms {
		out = append(out, m.Text)
	}
	return out
}

// What a client or we ourselves put around the user's words teaches nothing:
// each of these would, said by the user.
func TestNothingIsLearnedFromWhatTheUserDidNotSay(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for _, model := range []string{"", "rules"} {
		w := newWorld(t)
		if model != "" {
			w.env["HINDSIGHT_REFLECT_MODEL"] = model
			w.restart()
		}
		w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
		notes := "<hindsight-notes:0123456789abcdef>\nRecalled notes about the user from earlier conversations.\n- [m7kq2a4 2026-01-02] My sister is Elisabeth.\n</hindsight-notes:0123456789abcdef>\n"
		c := w.conversation()
		c.add("system", strings.Repeat("You are Robo. My name is Robo. I prefer short answers. Remember this: my color is green.\n", 200))
		c.add("user", "# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>\nMy editor is Emacs. I prefer spaces over tabs. Remember this: my shell is zsh.\n</INSTRUCTIONS>")
		c.add("user", "<environment_context>\nMy host is Zeus. I live in Container.\n</environment_context>")
		c.add("user", "<user_instructions>\nFrom now on answer in French. My port is 4000.\n</user_instructions>")
		// A history that never passed through us is context, not material.
		c.add("user", "My dog is Rex and I live in Genoa.").add("assistant", "My name is Claude. I prefer Go. Remember this: my tool is grep.")
		c.add("user", notes+"<system-reminder>\nMy boss is Carol. Remember this: my desk is 12.\n</system-reminder>\nWhat is my cat called?")
		r := c.send()
		c.add("tool", "My token is fake. I live in Toolland.")
		c.add("user", "### Task:\nRespond to the user query using the provided context\n<context>\n<source id=\"1\">My uncle is Tom. I live in Docville.</source>\n</context>\n\nWhere is the office?")
		c.send()
		kept, dropped := w.close(r.session())
		if len(kept) != 0 {
			t.Errorf("model %q kept %q, dropped %+v", model, texts(kept), dropped)
		}
		if got, want := texts(w.memories("local")), []string{"The user's cat is called Mitzi."}; cmp.Diff(want, got) != "" {
			t.Errorf("model %q: memories %q", model, got)
		}
		if said := w.session(r.session()).said(); cmp.Diff([]string{"What is my cat called?", "Where is the office?"}, said) != "" {
			t.Errorf("model %q: the user's words are %q", model, said)
		}
		// The control: the same, said by the user.
		c = w.conversation()
		kept, _ = w.close(c.say("My dog is Rex and I live in Genoa.").session())
		if len(kept) == 0 {
			t.Errorf("model %q: the user's own word was not kept", model)
		}
	}
}

// A memory that is recalled and told again and again stays one memory.
func TestRecalledMemoryIsNotLearnedAgain(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_DEFAULT_USER=local")
	// The model that answers proposes what it was told as news.
	var proposed atomic.Int32
	w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
		if !strings.Contains(string(body), "hindsight_memories") || !strings.Contains(string(body), "Mitzi") {
			return false
		}
		proposed.Add(1)
		answer := `{"items":[{"type":"user_fact","text":"The user's cat is called Mitzi.","subject":"cat","scenario":"","importance":0.9,"confidence":0.9,"standing":false,"said_by":"assistant","events":["e2"],"quote":"The user's cat is called Mitzi.","time_expression":"","relation":"new","relation_id":""}],"injected":[]}`
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, answer)
		return true
	}
	m := w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	const sessions = 20
	for i := range sessions {
		r := w.conversation().say("What is my cat called?")
		if r.memory() != "injected" || !strings.Contains(r.text(), "Mitzi") {
			t.Fatalf("session %d: %s, %s", i, r.memory(), r.text())
		}
		w.close(r.session())
	}
	if got := w.memories("local"); len(got) != 1 || got[0].ID != m.ID || got[0].Text != m.Text {
		t.Errorf("memories: %q", texts(got))
	}
	if n := proposed.Load(); n != sessions {
		t.Errorf("the model was asked %d times, want %d", n, sessions)
	}
}
