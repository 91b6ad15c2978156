//go:build weaviate

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// long asks for the long form of the tests of a fleet: `make fleet`.
var long = os.Getenv("HINDSIGHT_FLEET_LONG") != ""

// size is a number of the short form, or of the long one.
func size(short, whole int) int {
	if long {
		return whole
	}
	return short
}

// caller is one conversation of a load: a client that keeps its history and names
// nobody but its user, in the body.
type caller struct {
	user    string
	turns   []string
	history []string  // JSON
	said    int       // turns that were answered
	first   time.Time // when the first turn was answered
	by      string    // who answered it
	next    time.Time
	busy    bool
}

// chats are conversations of users of whom each has several, with something to
// learn and something to ask in each.
func chats(n, turns, each int) []*caller {
	var out []*caller
	for i := range n {
		user := fmt.Sprintf("user-%d", i/each)
		c := &caller{user: user}
		thing := string([]byte{'k', byte('a' + i%26), 'u', byte('a' + i/26)}) // the model wants letters
		for t := range turns {
			switch t {
			case 0:
				c.turns = append(c.turns, fmt.Sprintf("Hello. My project%s is zeta-%s.", thing, thing))
			case turns - 1:
				c.turns = append(c.turns, fmt.Sprintf("What is my project%s?", thing))
			default:
				c.turns = append(c.turns, fmt.Sprintf("Step %d of %s is done.", t, thing))
			}
		}
		out = append(out, c)
	}
	return out
}

// traffic is a run of conversations against sidecars.
type traffic struct {
	to    func() string   // a sidecar's address for the next request
	rate  time.Duration   // between two requests
	pause time.Duration   // between an answer and the next turn
	until <-chan struct{} // not nil: go on with new turns of the last conversations until it is closed
}

// run holds all conversations to their end. A request that fails is sent again,
// as a client does, and an `until` keeps them going until it is closed.
func (l traffic) run(t *testing.T, all []*caller) {
	t.Helper()
	var mu sync.Mutex
	var sent sync.WaitGroup
	left := len(all)
	tick := time.NewTicker(l.rate)
	defer tick.Stop()
	for {
		mu.Lock()
		if left == 0 {
			mu.Unlock()
			break
		}
		if c := nextOf(all); c != nil {
			c.busy = true
			sent.Go(func() {
				ok := c.turn(l.to())
				mu.Lock()
				defer mu.Unlock()
				c.busy, c.next = false, time.Now().Add(l.pause)
				switch {
				case !ok:
					return
				case c.said == len(c.turns) && l.goesOn():
					c.turns = append(c.turns, "OK.")
				}
				if c.said == len(c.turns) {
					left--
				}
			})
		}
		mu.Unlock()
		<-tick.C
	}
	sent.Wait()
}

// goesOn says whether the conversations aren't to end yet.
func (l traffic) goesOn() bool {
	if l.until == nil {
		return false
	}
	select {
	case <-l.until:
		return false
	default:
		return true
	}
}

// atOnce is how many conversations are under way.
const atOnce = 40

// nextOf is the conversation that has waited for longest for its next turn.
func nextOf(all []*caller) (best *caller) {
	under := 0
	for _, c := range all {
		if c.said == len(c.turns) {
			continue
		}
		if under++; under > atOnce {
			break
		}
		if !c.busy && time.Now().After(c.next) && (best == nil || c.next.Before(best.next)) {
			best = c
		}
	}
	return best
}

// turn sends the next turn with the history so far.
func (c *caller) turn(to string) bool {
	words, err := json.Marshal(map[string]string{"role": "user", "content": c.turns[c.said]})
	if err != nil {
		return false
	}
	messages := append(slices.Clone(c.history), string(words))
	body := fmt.Sprintf(`{"model":%q,"user":%q,"messages":[%s]}`, fakellm.Model, c.user, strings.Join(messages, ","))
	req, err := http.NewRequest(http.MethodPost, to+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-test")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if c.said == 0 {
		c.first, c.by = time.Now(), to
	}
	var v struct {
		Choices []struct{ Message json.RawMessage }
	}
	if err != nil || json.Unmarshal(raw, &v) != nil || len(v.Choices) == 0 {
		return false
	}
	c.history = append(messages, string(v.Choices[0].Message))
	c.said++
	return true
}

// breaks counts the requests of a conversation, as the model got them, that
// don't begin with the one before. A request that was sent twice counts once.
func (c *caller) breaks(seen []arrived) (breaks, pairs int) {
	var mine [][]byte
	for _, a := range seen {
		if bytes.Contains(a.body, []byte(c.turns[0][len("Hello. "):])) && bytes.Contains(a.body, []byte(`"user":"`+c.user+`"`)) {
			mine = append(mine, a.body)
		}
	}
	for i := 1; i < len(mine); i++ {
		was := mine[i-1][:bytes.LastIndex(mine[i-1], []byte("]}"))]
		pairs++
		if !bytes.HasPrefix(mine[i], was) {
			breaks++
		}
	}
	return breaks, pairs
}

// active are the texts of a user's active memories, sorted.
func active(ms []store.Memory) []string {
	var out []string
	for _, m := range ms {
		if m.State == store.Active || m.State == "" {
			out = append(out, m.Text)
		}
	}
	slices.Sort(out)
	return out
}

// calls counts what reflection asks the model.
type calls struct {
	mu     sync.Mutex
	bodies []string
}

func (a *calls) watch(w *world) {
	w.answer = func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
		if bytes.Contains(body, []byte("hindsight_memories")) {
			a.mu.Lock()
			a.bodies = append(a.bodies, string(body))
			a.mu.Unlock()
		}
		return false
	}
}

func (a *calls) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.bodies)
}

// about counts the calls that hold a conversation's first words.
func (a *calls) about(c *caller) (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	said := strings.TrimSuffix(strings.TrimPrefix(c.turns[0], "Hello. "), ".")
	for _, body := range a.bodies {
		if strings.Contains(body, said) {
			n++
		}
	}
	return n
}

// quiet waits until nobody has anything left to reflect.
func quiet(members []*world) {
	for _, w := range members {
		w.flush()
	}
	for _, w := range members {
		w.until("every session is reflected", func() bool {
			open, err := w.st.store.Unreflected(w.t.Context())
			if err != nil || len(open) > 0 {
				return false
			}
			jobs, err := w.st.store.Jobs(w.t.Context(), "")
			return err == nil && !slices.ContainsFunc(jobs, func(j store.Job) bool {
				return j.State == store.Queued || j.State == store.Running
			})
		})
	}
}

// Three sidecars, every turn sent to a random one, no header of ours: the
// conversations and what is learned of them are as one sidecar would have them.
func TestFleetIsAsOneSidecar(t *testing.T) {
	n, turns, each := size(40, 200), 5, 4
	env := []string{"HINDSIGHT_IDENTITY_TRUST_HEADERS=true", "HINDSIGHT_SESSION_IDLE=10s"}

	var alone calls
	one := newWorld(t, append(env, "HINDSIGHT_TENANT=acme")...)
	alone.watch(one)
	reference := chats(n, turns, each)
	traffic{to: one.st.proxyURL, rate: 100 * time.Millisecond, pause: 1100 * time.Millisecond}.run(t, reference)
	quiet([]*world{one})

	var together calls
	c := newCrew(t, 3, env...)
	together.watch(c.members[0])
	crowd := chats(n, turns, each)
	traffic{
		to:   func() string { return c.members[rand.IntN(3)].st.proxyURL() },
		rate: 100 * time.Millisecond, pause: 1100 * time.Millisecond,
	}.run(t, crowd)
	quiet(c.members)

	breaks, pairs, twice := 0, 0, 0
	seen := c.members[0].seen()
	for _, x := range crowd {
		if n := together.about(x); n != 1 {
			twice++
			t.Errorf("%s's conversation was reflected %d times, want once", x.user, n)
		}
		b, p := x.breaks(seen)
		breaks, pairs = breaks+b, pairs+p
	}
	t.Logf("%d conversations, %d turns after another, %d prompts broken, %d reflected more or less than once; reflection asked %d times, %d times by one sidecar", n, pairs, breaks, twice, together.count(), alone.count())
	if breaks > 0 || pairs != n*(turns-1) {
		t.Errorf("%d of %d prompts don't begin with the one before (want %d pairs)", breaks, pairs, n*(turns-1))
	}
	if alone.count() == 0 || float64(together.count()) > 1.1*float64(alone.count()) {
		t.Errorf("reflection asked %d times, one sidecar alone %d times", together.count(), alone.count())
	}
	for i := range 3 {
		c.settled(i)
	}
	for u := range n / each {
		user := fmt.Sprintf("user-%d", u)
		want := active(one.memories(user))
		if len(want) == 0 {
			t.Errorf("one sidecar learned nothing of %s", user)
		}
		for i, w := range c.members {
			if got := active(w.memories(user)); !slices.Equal(got, want) {
				t.Errorf("sidecar %d knows of %s:\n%q\none sidecar alone:\n%q", i, user, got, want)
			}
		}
	}
}
