package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// "continue" after "OK." three times in one conversation: three places, each
// with its own block or none, and all of it replayed byte for byte, after a
// restart too.
func TestTheSameWordsThreeTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.answers(func([]byte) string { return "OK." })
	m := w.remember("local", `"text":"From now on answer in French.","type":"preference","standing":true`)
	c := w.conversation()
	session := c.say("Tell me a story.").session()
	tell := []string{"French"}
	before := w.last()
	for i, news := range []string{"", "Greek", "", "Latin", ""} {
		if news != "" {
			w.admin(http.MethodPatch, "/api/v1/memories/"+m.ID, `{"text":"From now on answer in `+news+`."}`)
		}
		if i == 3 {
			w.restart()
		}
		r := c.say("continue")
		tell = append(tell, news)
		w.wantBlocks(tell...)
		wantPrefix(t, before, w.last())
		before = w.last()
		if want := map[bool]string{true: "injected", false: "replayed"}[news != ""]; r.memory() != want || r.session() != session {
			t.Errorf("%d: %s in session %s, want %s", i, r.memory(), r.session(), want)
		}
	}
	if n := len(w.last().messages(t)); n != 11 {
		t.Fatalf("%d messages", n)
	}
	if twice := strings.Count(fmt.Sprint(w.last().blocks(t)), "Greek"); twice != 1 {
		t.Errorf("one block at %d places", twice)
	}
	w.wantSaid(session, "local", "Tell me a story.", "continue", "continue", "continue", "continue", "continue")
	w.wantSessions(1)
}
