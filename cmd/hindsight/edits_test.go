package main

import (
	"strings"
	"testing"
)

const (
	craneCode = "What is the harbour crane's access code?"
	shedCode  = "Who keeps the boat shed's key?"
)

// newHarbour knows two facts and a standing preference.
func newHarbour(t *testing.T) *world {
	w := newWorld(t)
	w.remember("local", `"text":"From now on answer in French.","type":"preference","standing":true`)
	w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	w.remember("local", `"text":"Olga keeps the boat shed's key.","type":"user_fact"`)
	return w
}

// wantBlocks fails unless the blocks of the last request's user messages hold
// these words, one each; "" wants none.
func (w *world) wantBlocks(words ...string) {
	w.t.Helper()
	blocks := w.last().blocks(w.t)
	for i, b := range blocks {
		want := ""
		if i%2 == 0 && i/2 < len(words) { // answers stand between them
			want = words[i/2]
		}
		if want == "" && b != "" || !strings.Contains(b, want) {
			w.t.Errorf("message %d carries %q, want %q", i, b, want)
		}
	}
	if len(blocks) != 2*len(words)-1 {
		w.t.Errorf("%d messages, want %d", len(blocks), 2*len(words)-1)
	}
}

// An edit of the last message is a new question at its place: recall runs for
// it, the blocks before it stay, and the words that were taken back are no
// part of the request.
func TestEditOfTheLastMessage(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newHarbour(t)
	c := w.conversation()
	session := c.say("hello").session()
	c.say(craneCode)
	before := w.last()
	w.wantBlocks("French", "4411")
	c.messages = c.messages[:2]
	r := c.say(shedCode)
	w.wantBlocks("French", "Olga")
	if r.memory() != "injected" || r.session() != session {
		t.Errorf("%s in session %s, want %s", r.memory(), r.session(), session)
	}
	if a, b := before.messages(t), w.last().messages(t); string(a[0])+string(a[1]) != string(b[0])+string(b[1]) {
		t.Error("the edit changed what stands before it")
	}
	c.say("And the crane's access code, the harbour crane's?") // what the dropped words got isn't in this request
	w.wantBlocks("French", "Olga", "4411")
	w.wantSaid(session, "local", "hello", craneCode, shedCode, "And the crane's access code, the harbour crane's?")
	w.wantSessions(1)
}

// Two branches of one conversation keep their own blocks, also in turn.
func TestFork(t *testing.T) {
	t.Parallel()
	w := newHarbour(t)
	trunk := w.conversation()
	session := trunk.say("hello").session()
	left, right := w.conversation(), w.conversation()
	left.messages, right.messages = append(left.messages, trunk.messages...), append(right.messages, trunk.messages...)
	left.say(craneCode)
	w.wantBlocks("French", "4411")
	right.say(shedCode)
	w.wantBlocks("French", "Olga")
	left.say("thanks")
	w.wantBlocks("French", "4411", "")
	right.say(craneCode) // the other branch has it, this one doesn't
	w.wantBlocks("French", "Olga", "4411")
	left.say(shedCode)
	w.wantBlocks("French", "4411", "", "Olga")
	w.wantSessions(1)
	if s := w.session(session); s.Turns != 6 {
		t.Errorf("%d turns of %q", s.Turns, s.said())
	}
}

// Nothing counts as seen that isn't in the request: what stood in a part of
// the history that is gone comes again when it is asked for.
func TestCutHistory(t *testing.T) {
	t.Parallel()
	w := newHarbour(t)
	c := w.conversation()
	session := c.say("hello").session()
	c.say(craneCode)
	c.say("thanks")
	w.wantBlocks("French", "4411", "")
	c.messages = c.messages[4:] // the client's window slides past both blocks
	r := c.say(craneCode)
	w.wantBlocks("", "4411")
	if !strings.Contains(w.last().blocks(t)[2], "French") {
		t.Error("the standing preference isn't in the request any more, and didn't come again")
	}
	if r.session() != session {
		t.Error("another session")
	}
}

// Words that never were answered and don't come again have used nothing up.
func TestGivenUpMessage(t *testing.T) {
	t.Parallel()
	w := newHarbour(t)
	w.breaks(status(500), cutShort)
	for _, words := range []string{"hello", "hello there"} {
		c := w.conversation("Hindsight-Session: talk").add("user", words)
		w.trySend(c.body(), c.headers...)
	}
	c := w.conversation("Hindsight-Session: talk")
	c.say("good morning")
	w.wantBlocks("French")
	c.messages = nil // the first message edited in a session that has a name
	c.say("good evening")
	w.wantBlocks("French")
}
