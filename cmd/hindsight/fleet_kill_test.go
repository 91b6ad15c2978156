//go:build weaviate

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/internal/weaviatetest"
	"hindsight/store"
	"hindsight/store/index"
	"hindsight/store/weaviatedb"
)

// killed is the end of a sidecar without a word.
type killed struct {
	sidecar string
	at      time.Time
}

// uncommitted is what a sidecar may lose when it is killed: what ended so shortly
// before.
const uncommitted = 250 * time.Millisecond

// lost says whether a conversation's first exchange may be lost.
func (c *caller) lost(kills []killed) bool {
	return slices.ContainsFunc(kills, func(k killed) bool {
		d := k.at.Sub(c.first)
		return k.sidecar == c.by && d >= 0 && d < uncommitted
	})
}

// told is what a sidecar learns of a conversation.
func (c *caller) told() string {
	return "The user's " + strings.TrimSuffix(strings.TrimPrefix(c.turns[0], "Hello. My "), ".") + "."
}

// Ten kills of Weaviate and ten of a sidecar under load (one of each in the short
// form): what was committed is learned once, everywhere, and found by its vector.
func TestFleetSurvivesKills(t *testing.T) {
	kills, n, each := size(1, 10), size(24, 200), 4
	p := newPods(t, weaviatetest.New(t), "HINDSIGHT_SESSION_IDLE=6s")
	crew := []*sidecar{p.start(), p.start(), p.start()}

	var mu sync.Mutex
	var dead []killed
	stop, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		pause := func() bool {
			select {
			case <-time.After(4 * time.Second):
				return true
			case <-stop:
				return false
			}
		}
		for i := range kills {
			if !pause() {
				return
			}
			s := crew[i%len(crew)]
			mu.Lock()
			dead = append(dead, killed{s.url(), time.Now()})
			mu.Unlock()
			s.end(os.Kill)
			s.start()
			s.isOn()
			if !pause() {
				return
			}
			p.server.Kill()
			if err := p.server.Start(); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	all := chats(n, 4, each)
	traffic{
		to: func() string {
			for {
				if s := crew[rand.IntN(len(crew))]; s.isUp() {
					return s.url()
				}
			}
		},
		rate: 100 * time.Millisecond, pause: 1100 * time.Millisecond, until: over,
	}.run(t, all)
	close(stop)
	<-over

	for _, s := range crew {
		s.until("everything is delivered", s.delivered)
	}
	spared := 0
	want := map[string][]string{} // by user
	for _, c := range all {
		if c.lost(dead) {
			spared++
		} else {
			want[c.user] = append(want[c.user], c.told())
		}
	}
	doubled := 0
	for user, texts := range want {
		for _, s := range crew {
			got := s.learns(user, texts...)
			if len(slices.Compact(slices.Clone(got))) != len(got) {
				doubled++
				t.Errorf("%s is remembered twice: %q", user, got)
			}
		}
	}
	var unseen []string
	for end := time.Now().Add(time.Minute); ; <-time.After(time.Second) { // the last kill's mending takes a moment
		if unseen = p.unseen(want); len(unseen) == 0 || time.Now().After(end) {
			break
		}
	}
	t.Logf("%d kills of each, %d conversations, %d doubled, %d not found by vector, %d weren't committed", kills, n, doubled, len(unseen), spared)
	if len(unseen) > 0 {
		t.Errorf("not found in Weaviate by their vector: %q", unseen)
	}
}

// learns waits until a sidecar lists what a user said among the user's memories,
// and returns all of them.
func (s *sidecar) learns(user string, texts ...string) (got []string) {
	s.t.Helper()
	s.until(fmt.Sprintf("what %s said is learned: %q", user, texts), func() bool {
		got = active(s.memories(user))
		return !slices.ContainsFunc(texts, func(text string) bool { return !slices.Contains(got, text) })
	})
	return got
}

// unseen lists, of what users are remembered by, and of what else Weaviate has of
// them, what isn't found there by its vector, and why.
func (p *pods) unseen(want map[string][]string) (unseen []string) {
	p.t.Helper()
	db := weaviatetest.Open(p.t, p.server, func(c *weaviatedb.Config) { c.Key = p.key })
	for user, texts := range want {
		sc := store.UserScope(user)
		ms, _, err := db.Load(p.t.Context(), "acme", sc, "", 1000)
		if err != nil {
			p.t.Fatal(err)
		}
		var there []string
		for _, m := range ms {
			if m.Memory.State != store.Active {
				continue
			}
			there = append(there, m.Memory.Text)
			if len(m.Vector) == 0 {
				unseen = append(unseen, m.Memory.Text+" (has no vector)")
				continue
			}
			res, err := db.Search(p.t.Context(), index.Query{Tenant: "acme", Scopes: []store.Scope{sc}, Vector: m.Vector, Now: time.Now()})
			if err != nil {
				p.t.Fatal(err)
			}
			if !slices.ContainsFunc(res.Hits, func(h index.Hit) bool { return h.Memory.ID == m.Memory.ID && h.Embedded }) {
				unseen = append(unseen, m.Memory.Text+" (is hidden)")
			}
		}
		for _, text := range texts {
			if !slices.Contains(there, text) {
				unseen = append(unseen, text+" (isn't there)")
			}
		}
	}
	return unseen
}

// A sidecar that dies with its disk takes nothing along that it had delivered:
// the session is reflected with the next of the same user.
func TestFleetSurvivesALostDisk(t *testing.T) {
	p := newPods(t, weaviatetest.New(t), "HINDSIGHT_SESSION_IDLE=4s")
	a, b := p.start(), p.start()
	talk := func(s *sidecar, words string) {
		t.Helper()
		if c := (&caller{user: "ann", turns: []string{words}}); !c.turn(s.url()) {
			t.Fatalf("%q isn't answered", words)
		}
	}
	talk(a, "Hello. My project is zeta-nine.")
	a.until("it is delivered", func() bool {
		return strings.Contains(a.get("/metrics"), `hindsight_fleet_delivered_total{kind="record"}`) && a.delivered()
	})
	a.end(os.Kill) // and isn't started again
	talk(b, "Hello. My cat is zeta-ten.")
	b.learns("ann", "The user's project is zeta-nine.", "The user's cat is zeta-ten.")
}
