package main

import (
	"fmt"
	"strings"
	"testing"
)

// One prompt_cache_key over ten conversations, as prompt templates send it, is
// no session's name: ten sessions, after a restart too. Only the person's
// words tell the conversations apart.
func TestOneCacheKeyForTenConversations(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"a UUID": "7d0f2f26-3a5e-4b0c-9a41-5d1f8c2e9b77", "a name": "support-bot-v3"} {
		for _, interleaved := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, interleaved=%t", name, interleaved), func(t *testing.T) {
				oneInThree(t)
				t.Parallel()
				w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann")
				talks, ids := make([]*conversation, 10), make([]string, 10)
				words := func(i, turn int) string { return fmt.Sprintf("Ticket %d, message %d: the printer jams", i, turn) }
				say := func(i, turn int) {
					t.Helper()
					if turn == 0 {
						talks[i] = w.conversation().add("system", "You are the support desk.")
						talks[i].extra = `"prompt_cache_key":"` + key + `",`
					}
					id := talks[i].say(words(i, turn)).session()
					if turn == 0 {
						ids[i] = id
					}
					if id != ids[i] {
						t.Errorf("conversation %d, message %d: another session", i, turn)
					}
					if got := string(w.last().body); !strings.Contains(got, `"prompt_cache_key":"`+key+`",`) {
						t.Errorf("the key didn't arrive: %s", got)
					}
				}
				if interleaved {
					for turn := range 3 {
						for i := range 10 {
							say(i, turn)
						}
					}
				} else {
					for i := range 10 {
						for turn := range 3 {
							say(i, turn)
						}
					}
				}
				w.restart()
				for i := range 10 {
					say(i, 3)
				}
				for i, id := range ids {
					w.wantSaid(id, "ann", words(i, 0), words(i, 1), words(i, 2), words(i, 3))
				}
				w.wantSessions(10)
			})
		}
	}
}
