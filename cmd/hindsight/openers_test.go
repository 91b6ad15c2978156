package main

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// Conversations that open with the same words are as many sessions, whether
// they come one after the other or at once, and each keeps its prefix. The
// model answers each of them differently; what it says is all that tells them
// apart.
func TestManyConversationsWithTheSameOpener(t *testing.T) {
	t.Parallel()
	n := 50
	if testing.Short() {
		n = 12
	}
	for _, parallel := range []bool{false, true} {
		t.Run(fmt.Sprintf("parallel=%t", parallel), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann")
			w.remember("ann", `"text":"From now on answer in French.","type":"preference","standing":true`)
			w.remember("ann", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
			var answered atomic.Int64
			w.answers(func([]byte) string { return fmt.Sprintf("Bonjour number %d!", answered.Add(1)) })
			talks, first := make([]*conversation, n), make([]reply, n)
			each := func(f func(i int)) {
				var wg sync.WaitGroup
				for i := range n {
					if !parallel {
						f(i)
						continue
					}
					wg.Go(func() { f(i) })
				}
				wg.Wait()
			}
			say := func(i int, words string) reply {
				c := talks[i]
				r, err := w.trySend(c.add("user", words).body())
				if err != nil || r.status != 200 {
					t.Errorf("conversation %d: %v, status %d", i, err, r.status)
				}
				c.add("assistant", r.text())
				return r
			}
			each(func(i int) {
				talks[i] = w.conversation().add("system", "You are kind.")
				first[i] = say(i, "hello")
			})
			each(func(i int) {
				words := "thanks"
				if i%2 == 0 {
					words = "What is the harbour crane's access code?"
				}
				if r := say(i, words); r.session() != first[i].session() {
					t.Errorf("conversation %d: session %s after %s", i, r.session(), first[i].session())
				}
				if r := say(i, "bye"); r.session() != first[i].session() {
					t.Errorf("conversation %d: third turn in session %s after %s", i, r.session(), first[i].session())
				}
			})
			ids := map[string]bool{}
			for i := range n {
				ids[first[i].session()] = true
				words := []string{"hello", "thanks", "bye"}
				if i%2 == 0 {
					words[1] = "What is the harbour crane's access code?"
				}
				s := w.wantSaid(first[i].session(), "ann", words...)
				if len(s.Exchanges) != 3 {
					t.Errorf("conversation %d: %d exchanges", i, len(s.Exchanges))
				}
				// The opener's answer marks the requests of this conversation.
				mine := w.saying(first[i].text())
				if len(mine) != 2 {
					t.Fatalf("conversation %d: %d requests after the first", i, len(mine))
				}
				wantPrefix(t, mine[0], mine[1])
				mine[1].wantSpliced(t, strings.Replace(talks[i].body(), ","+talks[i].messages[6], "", 1))
				blocks := mine[1].blocks(t)
				if !strings.Contains(blocks[1], "answer in French") || (i%2 == 0) != strings.Contains(blocks[3], "4411") || blocks[5] != "" {
					t.Errorf("conversation %d: blocks %q", i, blocks)
				}
			}
			if len(ids) != n {
				t.Errorf("%d sessions for %d conversations", len(ids), n)
			}
			w.wantSessions(n)
			openers := map[string]int{}
			for _, a := range w.seen() {
				openers[string(a.messages(t)[1])]++
			}
			if len(openers) != 1 {
				t.Errorf("the same opener reached the upstream in %d forms: %v", len(openers), openers)
			}
		})
	}
}
