package main

import (
	"strings"
	"testing"
)

// The main job: the second session knows what the first one taught, also when
// the process was restarted in between.
func TestSecondSessionKnows(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.conversation()
	first.say("My name is Ann and my badge is B4411.")
	r := first.say("I prefer tabs over spaces.")
	kept, _ := w.close(r.session())
	if len(kept) < 2 {
		t.Fatalf("kept %+v", kept)
	}
	w.restart()
	second := w.conversation().say("What is my name?")
	if !strings.Contains(second.text(), "Ann") || second.memory() != "injected" || second.header.Get("Hindsight-Memories") == "" {
		t.Errorf("%s: %s", second.memory(), second.text())
	}
	if got := w.conversation().say("How deep is the Mariana Trench?"); got.memory() != "none" {
		t.Errorf("%s for a question that nothing answers", got.memory())
	}
}
