package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// What a user had forgotten isn't learned again from an old history, however
// long its events have been gone: what was said there is known as not new, by
// the answer that follows it or, in a session with a name, by itself.
func TestOldHistoryAfterTheRetention(t *testing.T) {
	t.Parallel()
	for _, adopt := range []bool{false, true} {
		for _, c := range []struct {
			days              int
			elsewhere         bool // forgotten in another conversation
			named, answerless bool // the session has a name, the history no answers any more
		}{{days: 8}, {days: 300}, {days: 300, elsewhere: true}, {days: 8, named: true}, {days: 300, elsewhere: true, named: true, answerless: true}} {
			t.Run(fmt.Sprintf("adopt %t, %+v", adopt, c), func(t *testing.T) {
				oneInThree(t)
				t.Parallel()
				w := newWorld(t, fmt.Sprintf("HINDSIGHT_REFLECT_ADOPT_HISTORY=%t", adopt))
				old := w.conversation()
				if c.named {
					old.headers = []string{"Hindsight-Session: ours"}
				}
				r := old.say("I live in Lisbon.")
				w.close(r.session())
				if !w.knows("Lisbon") {
					t.Fatalf("not learned: %q", texts(w.memories("local")))
				}
				asks := old
				if c.elsewhere {
					asks = w.conversation()
				}
				w.close(asks.say("Forget that I live in Lisbon.").session())
				if w.knows("Lisbon") {
					t.Fatal("not forgotten")
				}
				w.adjust = func(cfg *Config) {
					cfg.Now = func() time.Time { return time.Now().AddDate(0, 0, c.days) }
				}
				w.restart()
				w.until("the events are gone", func() bool { return len(w.session(r.session()).Events) == 0 })
				if c.answerless {
					old.messages = old.messages[:1]
				}
				again := old.say("Thanks for that. How deep is the sea?")
				kept, _ := w.close(again.session())
				if w.knows("Lisbon") || slices.ContainsFunc(kept, func(m store.Memory) bool { return strings.Contains(m.Text, "Lisbon") }) {
					t.Errorf("learned again: %q", texts(w.memories("local")))
				}
				if said := w.session(again.session()).said(); !slices.Equal(said, []string{"Thanks for that. How deep is the sea?"}) {
					t.Errorf("recorded %q", said)
				}
				if again.session() != r.session() {
					t.Error("the session wasn't found again")
				}
				// Said anew, it is learned anew.
				if w.learn("I live in Lisbon."); !w.knows("Lisbon") {
					t.Errorf("a person's later word counts for nothing: %s", w.admin(http.MethodGet, "/api/v1/memories?state=archived", ""))
				}
			})
		}
	}
}
