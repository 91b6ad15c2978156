package main

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hindsight/store"
)

// Half of the sessions are held out: they are told nothing, are recorded all the
// same, stay in their group over a restart, and are compared with the others by
// the upstream's own figures.
func TestHoldout(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_INJECT_HOLDOUT=0.5", "HINDSIGHT_SESSION_IDLE=1h")
	w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	var with, without []*conversation
	for i := 0; i < 64 && (len(with) < 5 || len(without) < 5); i++ {
		c := w.conversation("Hindsight-User: local", fmt.Sprintf("Hindsight-Session: talk-%d", i))
		sent := c.add("user", craneCode).body()
		switch r := c.send(); r.memory() {
		case "injected":
			with = append(with, c)
		case "skipped;reason=holdout":
			without = append(without, c)
			if string(w.last().body) != sent {
				t.Fatalf("a session that is held out was changed: %s", w.last().body)
			}
		default:
			t.Fatalf("session %d: %s", i, r.memory())
		}
	}
	if len(with) < 5 || len(without) < 5 {
		t.Fatalf("64 sessions, and %d got memories, %d didn't", len(with), len(without))
	}
	w.restart()
	for _, c := range without {
		if r := c.say("No, I meant the other crane's code."); !strings.Contains(r.memory(), "holdout") {
			t.Errorf("after a restart a session has left its group: %s", r.memory())
		}
	}
	if n := len(w.sessions()); n != len(with)+len(without) {
		t.Errorf("%d sessions are recorded, want %d", n, len(with)+len(without))
	}
	c := w.stats().Comparison
	if c == nil || c.With != len(with) || c.Without != len(without) {
		t.Fatalf("compared: %+v", c)
	}
	for _, f := range c.Figures {
		switch f.Name {
		case "turns":
			if f.With != 1 || f.Without != 2 || f.Low == nil || *f.Low != -1 || *f.High != -1 {
				t.Errorf("turns: %+v", f)
			}
		case "corrections":
			if f.With != 0 || f.Without != 1 {
				t.Errorf("corrections: %+v", f)
			}
		case "tokens":
			if f.With <= 0 || f.Without <= 0 || math.IsNaN(f.Difference) {
				t.Errorf("tokens: %+v", f)
			}
		}
	}
	w.until("the comparison is on /metrics", func() bool {
		m := string(w.admin(http.MethodGet, "/metrics", ""))
		return strings.Contains(m, fmt.Sprintf(`hindsight_trial_sessions{group="holdout"} %d`, len(without))) &&
			strings.Contains(m, `hindsight_trial_difference{bound="low",figure="turns"}`) && strings.Contains(m, `hindsight_memories_by_age{days="1"} 1`)
	})
}

// Without the setting nobody is held out and nothing is counted.
func TestNoHoldout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("local", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	for range 12 {
		if r := w.conversation().say(craneCode); r.memory() != "injected" {
			t.Fatal(r.memory())
		}
	}
	w.flush()
	if c := w.stats().Comparison; c != nil {
		t.Errorf("compared: %+v", c)
	}
}

// A scope that gains too many sessions is paused: new ones get no memory, those
// that have begun go on, and so does everybody else. It ends when fewer come.
func TestRunawayScopeIsPaused(t *testing.T) {
	t.Parallel()
	var ahead atomic.Int64 // of this machine's clock, in minutes
	w := newWorld(t, "HINDSIGHT_SESSION_PER_HOUR=3", "HINDSIGHT_SESSION_IDLE=24h")
	w.adjust = func(c *Config) {
		c.Now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load()) * time.Minute) }
	}
	w.restart()
	w.remember("ann", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	talk := func() *conversation { return w.conversation("Hindsight-User: ann") }
	first := talk()
	for i := range 3 {
		c := first
		if i > 0 {
			c = talk()
		}
		if r := c.say(craneCode); r.memory() != "injected" {
			t.Fatalf("session %d: %s", i, r.memory())
		}
	}
	late := talk()
	sent := late.add("user", craneCode).body()
	if r := late.send(); r.memory() != "off;reason=paused" || r.session() != "" || string(w.last().body) != sent {
		t.Errorf("one too many: %s, session %q, upstream %s", r.memory(), r.session(), w.last().body)
	}
	if r := first.say("And again?"); r.session() == "" || strings.Contains(r.memory(), "paused") {
		t.Errorf("a session that had begun: %s", r.memory())
	}
	if r := w.conversation("Hindsight-User: bob").say("hello"); r.session() == "" {
		t.Errorf("somebody else: %s", r.memory())
	}
	if s := w.stats().Paused; len(s) != 1 || s[0] != store.UserScope("ann") {
		t.Errorf("paused: %v", s)
	}
	if n := len(w.sessions()); n != 4 {
		t.Errorf("%d sessions are recorded, want 4", n)
	}
	ahead.Store(59)
	if r := talk().say(craneCode); r.memory() != "off;reason=paused" {
		t.Errorf("after 59 minutes: %s", r.memory())
	}
	ahead.Store(61)
	if r := talk().say(craneCode); r.memory() != "injected" {
		t.Errorf("an hour after the rush: %s", r.memory())
	}
	if s := w.stats().Paused; len(s) != 0 {
		t.Errorf("still paused: %v", s)
	}
}
