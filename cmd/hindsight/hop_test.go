package main

import (
	"bytes"
	"strings"
	"testing"
)

// Two in a row: the second finds the first one's notes and adds none, and what
// it records are the person's words alone.
func TestSecondHindsightAddsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"type":"user_fact","text":"The user's locker is number 88."`)
	first := w.conversation().say("Which number is my locker?")
	if first.memory() != "injected" {
		t.Fatal(first.memory())
	}
	injected := w.last().body
	second := w.send(string(injected))
	if second.memory() != "skipped;reason=hop" || !bytes.Equal(w.last().body, injected) {
		t.Errorf("%s, %d bytes became %d", second.memory(), len(injected), len(w.last().body))
	}
	if said := w.session(second.session()).said(); strings.Join(said, "|") != "Which number is my locker?" {
		t.Errorf("recorded %q", said)
	}
	// An answer that quotes a block is not a hop.
	quoted := w.conversation().add("user", "Show me what you got.").add("assistant", "<hindsight-notes:0123456789abcdef>\nx\n</hindsight-notes:0123456789abcdef>").say("Which number is my locker?")
	if quoted.memory() != "injected" {
		t.Errorf("%s behind an answer that quotes a block", quoted.memory())
	}
}
