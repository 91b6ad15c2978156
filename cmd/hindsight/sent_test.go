package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"hindsight/inject"
	"hindsight/store"
)

// messages are the messages of a request that reached the upstream, each in
// its own bytes.
func (a arrived) messages(t testing.TB) []json.RawMessage {
	t.Helper()
	var v struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(a.body, &v); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return v.Messages
}

// contents are the texts of a request's messages, ours included.
func (a arrived) contents(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, raw := range a.messages(t) {
		var m struct{ Content *string }
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatalf("%v in %s", err, raw)
		}
		if m.Content == nil {
			out = append(out, "")
			continue
		}
		out = append(out, *m.Content)
	}
	return out
}

// blocks are the blocks of ours at the head of each message, "" where there is
// none. A block anywhere else fails the test.
func (a arrived) blocks(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, text := range a.contents(t) {
		words := inject.Strip(text)
		block, ok := strings.CutSuffix(text, words)
		if !ok || inject.HasBlock(words) {
			t.Fatalf("a block isn't at the head of %q", text)
		}
		if block != "" && !strings.HasSuffix(block, ">\n") {
			t.Fatalf("no newline between block and words in %q", text)
		}
		out = append(out, block)
	}
	return out
}

// wantSpliced fails unless the upstream got the client's body with nothing but
// blocks of ours in it.
func (a arrived) wantSpliced(t *testing.T, body string) {
	t.Helper()
	left := string(a.body)
	for _, block := range a.blocks(t) {
		if block == "" {
			continue
		}
		inJSON, _ := json.Marshal(block)
		raw := string(inJSON[1 : len(inJSON)-1])
		if !strings.Contains(left, raw) { // the proxy needn't escape < and >
			raw = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(raw)
		}
		left = strings.Replace(left, raw, "", 1)
	}
	if left != body {
		t.Errorf("the upstream got other bytes than the client sent:\n%s\n%s", left, body)
	}
}

// wantPrefix fails unless the messages of later begin with all messages of
// earlier, byte for byte.
func wantPrefix(t *testing.T, earlier, later arrived) {
	t.Helper()
	was, is := earlier.messages(t), later.messages(t)
	if len(is) < len(was) {
		t.Fatalf("%d messages after %d", len(is), len(was))
	}
	for i := range was {
		if !bytes.Equal(was[i], is[i]) {
			t.Errorf("message %d was\n%s\nand is\n%s", i, was[i], is[i])
		}
	}
}

// saying are the requests that hold a text, in the order of their arrival.
func (w *world) saying(text string) []arrived {
	w.t.Helper()
	var out []arrived
	for _, a := range w.seen() {
		if bytes.Contains(a.body, []byte(text)) {
			out = append(out, a)
		}
	}
	return out
}

// answers makes the upstream say a text, unless it is asked to reflect.
func (w *world) answers(text func(body []byte) string) {
	var n atomic.Int64
	w.answer = func(rw http.ResponseWriter, _ *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("hindsight_memories")) {
			return false
		}
		said, _ := json.Marshal(text(body))
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{"id":"chatcmpl-%d","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}]}`, n.Add(1), said)
		return true
	}
}

// exchange is the id of the answer's exchange.
func (r reply) exchange() string { return r.header.Get("Hindsight-Exchange") }

// memories are the ids of what was new in the request.
func (r reply) memories() string { return r.header.Get("Hindsight-Memories") }

// wantSaid fails unless a session is a user's and holds exactly these human
// words, turn by turn.
func (w *world) wantSaid(session, user string, words ...string) keptSession {
	w.t.Helper()
	s := w.session(session)
	if s.Scope != store.UserScope(user) {
		w.t.Errorf("session %s is of %s, want %s", session, s.Scope, store.UserScope(user))
	}
	if got := strings.Join(s.said(), "|"); got != strings.Join(words, "|") {
		w.t.Errorf("session %s holds %q, want %q", session, s.said(), words)
	}
	if s.Turns != len(words) {
		w.t.Errorf("session %s has %d turns, want %d", session, s.Turns, len(words))
	}
	return s
}

// wantSessions fails unless exactly so many sessions exist.
func (w *world) wantSessions(n int) {
	w.t.Helper()
	if ids := w.sessions(); len(ids) != n {
		w.t.Errorf("%d sessions, want %d", len(ids), n)
	}
}
