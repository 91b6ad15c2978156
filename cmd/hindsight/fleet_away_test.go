//go:build weaviate

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/internal/weaviatetest"
	"hindsight/store"
)

// Weaviate that isn't there at the start costs nothing but what others know: the
// sidecar says so, serves what it has itself, and delivers it all when the server
// has come.
func TestFleetStartsWithoutWeaviate(t *testing.T) {
	server, err := weaviatetest.Prepare(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Kill)
	c := newCrewOn(t, server, 2, "MEMORY=degraded")
	a, b := c.members[0], c.members[1]
	if _, reason := c.ready(0); !strings.Contains(reason, "Weaviate") {
		t.Errorf("readyz gives the reason %q", reason)
	}
	a.remember("ann", `"type":"user_fact","text":"The staging database listens on port 5433."`)
	const asks = "Which port does the staging database listen on?"
	if r := a.send(question("ann", asks), "Hindsight-User: ann"); r.memory() != "injected;degraded=cache" {
		t.Errorf("with its own copy: %s", r.memory())
	}
	if r := b.send(question("ann", asks), "Hindsight-User: ann"); r.memory() != "skipped;reason=store" {
		t.Errorf("without any copy: %s", r.memory())
	}
	if r := a.conversation("Hindsight-User: ann").say("Good morning."); r.status != http.StatusOK {
		t.Errorf("a conversation answered %d", r.status)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	for i := range c.members {
		c.members[i].until("memory is on", func() bool { memory, _ := c.ready(i); return memory == "on" })
	}
	c.settled(0)
	r := b.send(question("ann", "Please tell me: w"+asks[1:]), "Hindsight-User: ann")
	if !strings.HasPrefix(r.memory(), "injected") || !bytes.Contains(a.last().body, []byte("5433")) {
		t.Errorf("after Weaviate has come: %s", r.memory())
	}
}

// A hung Weaviate never holds a request longer than recall may take, and what
// was held here is still injected.
func TestFleetDoesntWaitForAHungWeaviate(t *testing.T) {
	const deadline = 150 * time.Millisecond
	c := newCrew(t, 1, "HINDSIGHT_RECALL_DEADLINE="+deadline.String(), "HINDSIGHT_SESSION_PER_HOUR=0")
	a := c.members[0]
	a.remember("ann", `"type":"user_fact","text":"The staging database listens on port 5433."`)
	c.settled(0)
	const asks = "Which port does the staging database listen on?"
	for i := range 2 { // the second finds the scope held here
		a.send(question("ann", fmt.Sprintf("%s (%d)", asks, i)), "Hindsight-User: ann")
	}
	measure := func(what string) time.Duration {
		took := make([]time.Duration, 0, 200)
		for i := range cap(took) {
			user := "ann"
			if i%2 == 1 {
				user = fmt.Sprintf("%s-%d", what, i) // of whom nothing is held
			}
			body := question(user, fmt.Sprintf("%s (%s %d)", asks, what, i))
			begin := time.Now()
			r := a.send(body, "Hindsight-User: "+user)
			took = append(took, time.Since(begin))
			if r.status != http.StatusOK {
				t.Fatalf("status %d", r.status)
			}
			if i == 198 && !strings.HasPrefix(r.memory(), "injected") {
				t.Errorf("%s: what is held here isn't injected: %s", what, r.memory())
			}
		}
		slices.Sort(took)
		t.Logf("%s: p50 %s, p99 %s, longest %s", what, took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
		return took[len(took)*99/100]
	}
	measure("usual")
	if err := c.server.Hang(); err != nil {
		t.Fatal(err)
	}
	hung := measure("hung")
	if err := c.server.Continue(); err != nil {
		t.Fatal(err)
	}
	// All of a request's time stands in for what is added to it.
	if most := deadline + 5*time.Millisecond; hung > most {
		t.Errorf("p99 %s while Weaviate hangs, want at most %s", hung, most)
	}
	c.settled(0)
}

// What a person has erased on one sidecar is gone on the others: from lists, from
// requests, and from what Weaviate has.
func TestFleetForgets(t *testing.T) {
	c := newCrew(t, 2)
	a, b := c.members[0], c.members[1]
	port := a.remember("ann", `"type":"user_fact","text":"The staging database listens on port 5433."`)
	a.remember("ann", `"type":"user_fact","text":"Ann's cat is called Tofu."`)
	a.remember("bob", `"type":"user_fact","text":"Bob's dog is called Rex."`)
	c.settled(0)
	if got := active(b.memories("ann")); len(got) != 2 {
		t.Fatalf("the other sidecar lists %q", got)
	}
	// The sidecar that was written on by nobody takes the words and erases one.
	b.admin(http.MethodDelete, "/api/v1/memories/"+port.ID+"?erase=true", "")
	c.settled(1)
	a.until("the erased memory is gone", func() bool { return len(a.memories("ann")) == 1 })
	r := a.send(question("ann", "Which port does the staging database listen on?"), "Hindsight-User: ann")
	if bytes.Contains(a.last().body, []byte("5433")) {
		t.Errorf("an erased memory is injected: %s", r.memory())
	}
	b.admin(http.MethodDelete, "/api/v1/tenants/acme/scopes/"+url.PathEscape(string(store.UserScope("ann"))), "")
	c.settled(1)
	a.until("the erased scope is empty", func() bool { return len(a.memories("ann")) == 0 })
	for i, w := range c.members {
		c.settled(i)
		if n, err := w.st.shared.db.Count(t.Context(), "acme", store.UserScope("ann")); n != 0 || err != nil {
			t.Errorf("Weaviate has %d of an erased scope, %v", n, err)
		}
		if got := active(w.memories("bob")); len(got) != 1 {
			t.Errorf("another's scope has %q", got)
		}
	}
}

// A sidecar with another identity key would name the same people by other hashes:
// its memory is off and says which two keys there are. It forwards all the same.
func TestFleetRefusesAnotherIdentityKey(t *testing.T) {
	c := newCrew(t, 1)
	c.settled(0)
	w := newWorld(t, append(c.env(8), "MEMORY=off")...)
	c.members = append(c.members, w)
	var reason string
	w.until("memory is off", func() (off bool) {
		var memory string
		memory, reason = c.ready(1)
		return memory == "off" && reason != "starting"
	})
	if !strings.Contains(reason, "fingerprint") || !strings.Contains(reason, "HINDSIGHT_IDENTITY_KEY_FILE") {
		t.Errorf("readyz gives the reason %q", reason)
	}
	if r := w.send(question("ann", "Hello."), "Hindsight-User: ann"); r.status != http.StatusOK || r.memory() != "off;reason=store" {
		t.Errorf("a request: %d %s", r.status, r.memory())
	}
	if status, _ := w.tryAdmin(http.MethodGet, "/api/v1/memories?scope=user:ann", ""); status != http.StatusServiceUnavailable {
		t.Errorf("the management API answers %d, want 503", status)
	}
}

// What a sidecar hasn't reflected when it stops, another does.
func TestFleetTakesOverOpenSessions(t *testing.T) {
	c := newCrew(t, 2, "HINDSIGHT_SESSION_IDLE=4s")
	a, b := c.members[0], c.members[1]
	b.send(question("bob", "Hello."), "Hindsight-User: bob") // it works for the tenant
	a.conversation("Hindsight-User: ann").say("Hello. My project is zeta-nine.")
	a.stop()
	b.until("the other has learned it", func() bool {
		return slices.Contains(active(b.memories("ann")), "The user's project is zeta-nine.")
	})
}

// A Weaviate whose disk is full can still be read: requests go on as ever, what is
// new waits and is said to wait, and all of it arrives when there is room.
func TestFleetWaitsOutAFullDisk(t *testing.T) {
	const deadline = 150 * time.Millisecond
	c := newCrew(t, 2, "HINDSIGHT_RECALL_DEADLINE="+deadline.String(), "HINDSIGHT_SESSION_PER_HOUR=0")
	a, b := c.members[0], c.members[1]
	a.remember("ann", `"type":"user_fact","text":"The staging database listens on port 5433."`)
	c.settled(0)
	c.shards("READONLY")
	a.remember("ann", `"type":"user_fact","text":"Ann's cat is called Tofu."`)
	var reason string
	a.until("it says that nothing is taken", func() bool {
		var memory string
		memory, reason = c.ready(0)
		return memory == "degraded" && strings.Contains(reason, "read-only")
	})
	t.Logf("readyz: %s", reason)
	var took []time.Duration
	for i := range 100 {
		begin := time.Now()
		r := a.send(question("ann", fmt.Sprintf("What is my cat called? (%d)", i)), "Hindsight-User: ann")
		took = append(took, time.Since(begin))
		if r.status != http.StatusOK {
			t.Fatalf("status %d", r.status)
		}
	}
	slices.Sort(took)
	t.Logf("requests: p50 %s, p99 %s", took[50], took[99])
	if most := deadline + 5*time.Millisecond; took[99] > most {
		t.Errorf("p99 %s while Weaviate takes nothing, want at most %s", took[99], most)
	}
	if !bytes.Contains(a.last().body, []byte("Tofu")) {
		t.Error("what is new here isn't injected here")
	}
	if got := active(b.memories("ann")); !slices.Equal(got, []string{"The staging database listens on port 5433."}) {
		t.Errorf("read from Weaviate: %q", got)
	}
	if rows, _ := a.st.store.OutboxDepth(); rows == 0 {
		t.Error("nothing waits in the outbox")
	}
	c.shards("READY")
	for i := range c.members {
		c.members[i].until("memory is on", func() bool { memory, _ := c.ready(i); return memory == "on" })
		c.settled(i)
	}
	if got := active(b.memories("ann")); len(got) != 2 {
		t.Errorf("with room again the other knows %q", got)
	}
}

// shards sets all of Weaviate's shards to a status, as Weaviate does itself when its
// disk has no room, and people when it has again.
func (c *crew) shards(status string) {
	c.t.Helper()
	call := func(method, path, body string, into any) {
		c.t.Helper()
		req, err := http.NewRequestWithContext(c.t.Context(), method, c.server.URL+"/v1/schema"+path, strings.NewReader(body))
		if err != nil {
			c.t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			c.t.Fatal(err)
		}
		defer res.Body.Close()
		if err := json.NewDecoder(res.Body).Decode(into); err != nil || res.StatusCode != http.StatusOK {
			c.t.Fatalf("%s %s: HTTP %d, %v", method, path, res.StatusCode, err)
		}
	}
	var schema struct{ Classes []struct{ Class string } }
	call(http.MethodGet, "", "", &schema)
	for _, x := range schema.Classes {
		var tenants []struct{ Name string }
		call(http.MethodGet, "/"+x.Class+"/tenants", "", &tenants)
		for _, in := range tenants {
			var now struct{ Status string }
			if call(http.MethodPut, "/"+x.Class+"/shards/"+in.Name, `{"status":"`+status+`"}`, &now); now.Status != status {
				c.t.Fatalf("shard %s of %s is %s", in.Name, x.Class, now.Status)
			}
		}
	}
}
