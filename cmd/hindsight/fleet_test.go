//go:build weaviate

package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"hindsight/inject"
)

// What one sidecar learned another injects within five seconds, without a
// restart and for a user whom it has met before.
func TestFleetInjectsWhatAnotherSidecarLearned(t *testing.T) {
	c := newCrew(t, 2)
	a, b := c.members[0], c.members[1]
	if r := b.send(question("ann", "Which port does the staging database listen on?"), "Hindsight-User: ann"); r.memory() != "none" {
		t.Fatalf("before anything is known: %s", r.memory())
	}
	talk := a.conversation("Hindsight-User: ann")
	r := talk.say("Remember this: the staging database listens on port 5433.")
	learned := time.Now()
	a.close(r.session())
	every := time.NewTicker(200 * time.Millisecond) // more would be a runaway's
	defer every.Stop()
	a.until("the other sidecar injects it", func() bool {
		<-every.C
		r := b.send(question("ann", "Which port does the staging database listen on?"), "Hindsight-User: ann")
		return strings.HasPrefix(r.memory(), "injected") && bytes.Contains(a.last().body, []byte("5433"))
	})
	if took := time.Since(learned); took > 5*time.Second {
		t.Errorf("took %s, want at most 5s", took)
	} else {
		t.Logf("took %s", took)
	}
}

// A conversation whose every turn meets another sidecar keeps its session and
// its prompt: each request begins with the one before.
func TestFleetKeepsAConversationsPrompt(t *testing.T) {
	c := newCrew(t, 3)
	a := c.members[0]
	a.remember("ann", `"type":"user_fact","text":"The staging database listens on port 5433."`)
	a.remember("ann", `"type":"user_fact","text":"Ann's cat is called Tofu."`)
	c.settled(0)
	talk := a.conversation("Hindsight-User: ann")
	var sessions []string
	blocks := 0
	for i, words := range []string{"Good morning.", "Which port does the staging database listen on?", "OK.", "What is my cat called?", "Thanks.", "OK."} {
		r := c.say(i%3, talk, words)
		sessions = append(sessions, r.session())
		for m := range 3 {
			c.settled(m)
		}
	}
	seen := a.seen()
	for i := 1; i < len(seen); i++ {
		was, is := seen[i-1].body, seen[i].body
		was = was[:bytes.LastIndex(was, []byte("]}"))]
		if !bytes.HasPrefix(is, was) {
			t.Errorf("turn %d doesn't begin with turn %d:\n%s\n%s", i, i-1, is, was)
		}
		if sessions[i] != sessions[0] {
			t.Errorf("turn %d is of session %s, want %s", i, sessions[i], sessions[0])
		}
	}
	for _, m := range strings.Split(string(seen[len(seen)-1].body), `"role"`) {
		if inject.HasBlock(strings.ReplaceAll(m, `\n`, "\n")) {
			blocks++
		}
	}
	if blocks < 2 {
		t.Errorf("the last request carries %d blocks, want 2: %s", blocks, seen[len(seen)-1].body)
	}
}
