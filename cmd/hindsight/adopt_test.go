package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A history that never passed through us is context, and material only where
// that is asked for; then it is recorded once.
func TestAdoptHistory(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		"false": {"How deep is the sea?", "And the lake?"},
		"true":  {"I live in Lyon.", "How deep is the sea?", "And the lake?"},
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "HINDSIGHT_REFLECT_ADOPT_HISTORY="+value)
			c := w.conversation()
			c.add("system", "You help.").add("user", "I live in Lyon.").add("assistant", "A fine town, that is what I hear.")
			first := c.say("How deep is the sea?")
			second := c.say("And the lake?")
			if first.session() != second.session() {
				t.Fatal("two sessions")
			}
			s := w.session(first.session())
			if diff := cmp.Diff(want, s.said()); diff != "" || s.Turns != len(want) {
				t.Errorf("%d turns: %s", s.Turns, diff)
			}
			if kept, _ := w.close(first.session()); (len(kept) == 1) != (value == "true") {
				t.Errorf("kept %q", texts(kept))
			}
		})
	}
}
