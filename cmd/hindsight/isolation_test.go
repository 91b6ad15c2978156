package main

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// Two people behind one key, with the same system prompt and the same words:
// no byte of one in the other's request, and each has a session of his own,
// though the histories that they send are equal byte for byte.
func TestSameWordsOfTwoUsers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	secret := map[string]string{"ann": "ZEBRA-4411", "bob": "HERON-7702"}
	talks := map[string]*conversation{}
	for user, badge := range secret {
		w.remember(user, `"text":"From now on sign every answer with `+badge+`.","type":"preference","standing":true`)
		w.remember(user, `"text":"The harbour crane's access code is `+badge+`-C.","type":"user_fact"`)
		talks[user] = w.conversation("Hindsight-User: "+user).add("system", "You are a helpful assistant.")
	}
	w.answers(func([]byte) string { return "Hello! How can I help?" })
	sessions := map[string]string{}
	say := func(words, status, marker string) {
		t.Helper()
		for _, user := range []string{"ann", "bob"} {
			c, other := talks[user], secret[map[string]string{"ann": "bob", "bob": "ann"}[user]]
			sent := c.add("user", words).body()
			r := c.send()
			got := w.last()
			got.wantSpliced(t, sent)
			if bytes.Contains(got.body, []byte(other)) {
				t.Fatalf("the other's memory in %s's request: %s", user, got.body)
			}
			blocks := got.blocks(t)
			if last := blocks[len(blocks)-1]; !strings.HasPrefix(r.memory(), status) || marker != "" && !strings.Contains(last, secret[user]+marker) {
				t.Errorf("%s: %s, %q", user, r.memory(), last)
			}
			if first, ok := sessions[user]; ok && first != r.session() {
				t.Errorf("%s went on in another session", user)
			}
			sessions[user] = r.session()
		}
	}
	say("hello", "injected", ".")
	say("What is the harbour crane's access code?", "injected", "-C.")
	say("thanks", "replayed", "")
	if sessions["ann"] == sessions["bob"] {
		t.Error("one session for two users")
	}
	for user, id := range sessions {
		w.wantSaid(id, user, "hello", "What is the harbour crane's access code?", "thanks")
	}
	w.wantSessions(2)
	w.restart()
	for _, user := range []string{"bob", "ann"} {
		if r := talks[user].say("And now?"); r.session() != sessions[user] {
			t.Errorf("%s went on in another session after the restart", user)
		}
		if got := w.last(); bytes.Contains(got.body, []byte(secret[map[string]string{"ann": "bob", "bob": "ann"}[user]])) {
			t.Errorf("after the restart: %s", got.body)
		}
	}
}

// Naming another's session, as our id or as his own name for it, reads nothing
// of it and writes nothing into it.
func TestAnothersSessionByName(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("ann", `"text":"From now on sign every answer with ZEBRA-4411.","type":"preference","standing":true`)
	ann := w.conversation("Hindsight-User: ann", "Hindsight-Session: kitchen")
	id := ann.say("I want to plan the kitchen.").session()
	w.flush()
	for _, restart := range []bool{false, true} {
		if restart {
			w.restart()
		}
		for _, name := range []string{"kitchen", id} {
			bob := w.conversation("Hindsight-User: bob", "Hindsight-Session: "+name)
			bob.messages = ann.messages // his very history, too
			r := bob.add("user", "What did I say?").send()
			if r.session() == id || r.session() == "" || bytes.Contains(w.last().body, []byte("ZEBRA")) {
				t.Errorf("bob names %s: session %s, %s", name, r.session(), w.last().body)
			}
		}
	}
	w.wantSaid(id, "ann", "I want to plan the kitchen.")
}

// Many people through one key, interleaved and at once, one of them without a
// name: nobody sees another's memory, and the nameless one gets none.
func TestManyUsersThroughOneKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	people, turns := 12, 3
	if testing.Short() {
		people, turns = 6, 2
	}
	badge := func(i int) string { return fmt.Sprintf("BADGE%dX", 1000+i) }
	for i := range people {
		w.remember(fmt.Sprint("user", i), `"text":"The user's badge number is `+badge(i)+`.","type":"user_fact"`)
	}
	// What the implied user has learned before is not for whoever comes later.
	w.remember("local", `"text":"The user's badge number is NOBODYS.","type":"user_fact"`)
	if r := w.conversation("Hindsight-User: user0").say("hello"); r.session() == "" {
		t.Fatalf("%s", r.memory())
	}
	before := len(w.seen())
	var wg sync.WaitGroup
	for i := range people + 1 {
		wg.Go(func() {
			var headers []string
			if i < people {
				headers = []string{fmt.Sprint("Hindsight-User: user", i)}
			}
			c := w.conversation(headers...)
			c.extra = fmt.Sprintf(`"seed":%d,`, 500+i) // says whose request it is, in no way that Hindsight reads
			for turn := range turns {
				c.add("user", []string{"What is my badge number?", "thanks", "What is my badge number?"}[turn])
				r, err := w.trySend(c.body(), headers...)
				switch {
				case err != nil:
					t.Error(err)
				case i == people:
					if r.memory() != "off;reason=no_user" || r.session() != "" || strings.Contains(r.text(), "BADGE") || strings.Contains(r.text(), "NOBODYS") {
						t.Errorf("the nameless one: %s, session %q: %s", r.memory(), r.session(), r.text())
					}
				case turn == 0 && !strings.Contains(r.text(), badge(i)):
					t.Errorf("user %d: %s: %s", i, r.memory(), r.text())
				}
				c.add("assistant", r.text())
			}
		})
	}
	wg.Wait()
	for _, a := range w.seen()[before:] {
		body := string(a.body)
		for i := range people + 1 {
			if !strings.Contains(body, fmt.Sprintf(`"seed":%d,`, 500+i)) {
				continue
			}
			for j := range people {
				if j != i && strings.Contains(body, badge(j)) {
					t.Errorf("user %d's request holds user %d's badge: %s", i, j, body)
				}
			}
			if strings.Contains(body, "NOBODYS") {
				t.Errorf("the implied user's memory in user %d's request: %s", i, body)
			}
		}
	}
	// One of user0's before, one of each one with a name.
	w.wantSessions(people + 1)
}
