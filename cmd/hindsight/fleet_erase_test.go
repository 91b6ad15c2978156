//go:build weaviate

package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"hindsight/store"
)

// filesWith lists the files below a directory that hold one of some words.
func filesWith(t *testing.T, dir string, words ...string) (in []string) {
	t.Helper()
	for _, word := range words {
		in = append(in, filesHolding(t, dir, word)...)
	}
	return in
}

// everythingOf reads all objects of all tenants that the crew's Weaviate gives out.
func (c *crew) everythingOf(classes ...string) string {
	c.t.Helper()
	get := func(path string) []byte {
		resp, err := http.Get(c.server.URL + path)
		if err != nil {
			c.t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			c.t.Fatalf("%s: %d %v: %s", path, resp.StatusCode, err, b)
		}
		return b
	}
	var out strings.Builder
	for _, class := range classes {
		var tenants []struct{ Name string }
		if err := json.Unmarshal(get("/v1/schema/"+class+"/tenants"), &tenants); err != nil {
			c.t.Fatal(err)
		}
		for _, tenant := range tenants {
			out.Write(get("/v1/objects?limit=1000&class=" + class + "&tenant=" + url.QueryEscape(tenant.Name)))
		}
	}
	return out.String()
}

// What one sidecar has erased of a tenant stays erased on another that links the
// tenant without having heard of it: what it holds of the person, and what the person
// said to it before. While the others can't be asked, nothing is linked.
func TestFleetErasureOutlivesALink(t *testing.T) {
	c := newCrew(t, 2, "HINDSIGHT_SESSION_IDLE=1h")
	a, b := c.members[0], c.members[1]
	const ann = "/api/v1/tenants/before/scopes/user:ann"
	remember := func(w *world, text string) {
		w.admin(http.MethodPost, "/api/v1/memories", `{"tenant":"before","scope":"user:ann","type":"user_fact","text":"`+text+`"}`)
	}
	remember(a, "The staging database listens on port 5433.")
	c.settled(0)
	all := func(w *world, tenant string) (v struct{ Memories []store.Memory }) {
		w.decode(w.admin(http.MethodGet, "/api/v1/memories?tenant="+tenant, ""), &v)
		return v
	}
	b.until("the other sidecar has it", func() bool { return len(all(b, "before").Memories) == 1 })
	b.stop()
	var rec store.Receipt
	a.decode(a.admin(http.MethodDelete, ann, ""), &rec)
	c.settled(0)
	remember(a, "The person is back.")
	c.settled(0)
	c.server.Stop()
	b.env["MEMORY"] = "degraded"
	b.start()
	link := `{"from":"before","to":"acme"}`
	if status, body := b.tryAdmin(http.MethodPost, "/api/v1/tenants/link", link); status != http.StatusServiceUnavailable || !strings.Contains(string(body), "tenants can't be linked now") {
		t.Errorf("while Weaviate is away: %d %s", status, body)
	}
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	b.until("it is linked", func() bool {
		status, _ := b.tryAdmin(http.MethodPost, "/api/v1/tenants/link", link)
		return status == http.StatusOK
	})
	if got := all(b, "acme").Memories; len(got) > 0 {
		t.Errorf("in sight by the other name: %q", texts(got))
	}
	var got store.Receipt
	b.decode(b.admin(http.MethodGet, strings.Replace(ann, "before", "acme", 1)+"/erasure", ""), &got)
	if !got.ErasedAt.Equal(rec.ErasedAt) || got.Memories != 1 || got.Tenant != "acme" {
		t.Errorf("receipt %+v", got)
	}
	c.settled(1)
	if all := c.everythingOf("Agent_memory"); strings.Contains(all, "5433") {
		t.Error("Weaviate has it again")
	}
}

// The receipt of a memory says when the shared store was told of all that went with it.
func TestFleetReceiptOfAMemory(t *testing.T) {
	c := newCrew(t, 1)
	w := c.members[0]
	m := w.remember("ann", `"type":"user_fact","text":"The staging database listens on port 5433."`)
	if r := w.send(question("ann", "Which port does the staging database listen on?"), "Hindsight-User: ann"); !strings.HasPrefix(r.memory(), "injected") {
		t.Fatal(r.memory())
	}
	c.settled(0)
	c.server.Stop()
	var gone struct{ Erasure *store.Receipt }
	w.decode(w.admin(http.MethodDelete, "/api/v1/memories/"+m.ID+"?erase=true", ""), &gone)
	if r := gone.Erasure; r == nil || r.Shared != store.ErasureWaiting || r.Outbox < 2 || r.Ledger != 1 {
		t.Fatalf("receipt %+v", r)
	}
	receipt := func() (is store.Receipt) {
		w.decode(w.admin(http.MethodGet, "/api/v1/tenants/acme/scopes/user:ann/erasure?memory="+m.ID, ""), &is)
		return is
	}
	w.until("its bytes have left the files", func() bool { return receipt().State == store.ErasureDone })
	if is := receipt(); is.Shared != store.ErasureWaiting {
		t.Errorf("while Weaviate is away: %+v", is)
	}
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	w.until("all of it is told", func() bool { return receipt().Shared == store.ErasureDone })
	if all := c.everythingOf("Agent_memory", "Agent_memoryState"); strings.Contains(all, "5433") {
		t.Error("told, and Weaviate has it")
	}
}

// What is erased on one sidecar can't be read there from the moment of the receipt,
// isn't in Weaviate once the outbox has run, and leaves the other sidecar: memories,
// blocks, and the events of a session that nobody has reflected on. Words are random
// and looked for as bytes.
func TestFleetErasureLeavesNothing(t *testing.T) {
	c := newCrew(t, 2, "HINDSIGHT_SESSION_IDLE=1h")
	a, b := c.members[0], c.members[1]
	memory, said, kept := "Quartz"+rand.Text(), "Zinnia"+rand.Text(), "Walnut"+rand.Text()
	a.remember("ann", `"type":"user_fact","text":"The staging database's code word is `+memory+`."`)
	a.remember("bob", `"type":"user_fact","text":"Bob's boat is called `+kept+`."`)
	talk := a.conversation("Hindsight-User: ann", "Hindsight-Session: one")
	talk.say("What is the staging database's code word? I call it " + said + ".")
	if !bytes.Contains(a.last().body, []byte(memory)) {
		t.Fatalf("the memory wasn't injected: %s", a.last().body)
	}
	c.settled(0)
	c.say(1, talk, "And what else do you know about the staging database's code word?")
	c.settled(1)
	if got := active(b.memories("ann")); len(got) != 1 {
		t.Fatalf("the other sidecar lists %q", got)
	}
	collections := []string{"Agent_memory", "Agent_memoryState"}
	if all := c.everythingOf(collections...); !strings.Contains(all, memory) || !strings.Contains(all, kept) {
		t.Fatal("Weaviate doesn't have it before: the test proves nothing")
	}

	scope := "/api/v1/tenants/acme/scopes/" + url.PathEscape(string(store.UserScope("ann")))
	var rec store.Receipt
	a.decode(a.admin(http.MethodDelete, scope, ""), &rec)
	if rec.Memories != 1 || rec.Exchanges == 0 || rec.Ledger == 0 || rec.Shared == "" || len(rec.OutOfReach) != 3 {
		t.Errorf("receipt %+v", rec)
	}
	if got := a.memories("ann"); len(got) != 0 {
		t.Errorf("listed right after the receipt: %q", texts(got))
	}
	r := a.send(question("ann", "What is the staging database's code word?"), "Hindsight-User: ann")
	if bytes.Contains(a.last().body, []byte(memory)) {
		t.Errorf("injected right after the receipt: %s", r.memory())
	}
	a.until("the shared store has been told", func() bool {
		a.decode(a.admin(http.MethodGet, scope+"/erasure", ""), &rec)
		return rec.Shared == store.ErasureDone && rec.State == store.ErasureDone
	})
	all := c.everythingOf(collections...)
	for _, word := range []string{memory, said} {
		if strings.Contains(all, word) {
			t.Errorf("Weaviate gives %s out after the outbox has run", word)
		}
	}
	if !strings.Contains(all, kept) {
		t.Error("another's memory is gone")
	}
	if in := filesWith(t, a.env["HINDSIGHT_DATA_DIR"], memory, said); in != nil {
		t.Errorf("in the directory of the sidecar: %v", in)
	}
	b.until("the other sidecar's files hold nothing", func() bool {
		return len(b.memories("ann")) == 0 && filesWith(t, b.env["HINDSIGHT_DATA_DIR"], memory, said) == nil
	})
	c.settled(1)
	if all := c.everythingOf(collections...); strings.Contains(all, memory) || strings.Contains(all, said) {
		t.Error("the other sidecar has brought it back")
	}
	// What Weaviate's own files hold until it merges them is for it to say.
	dir := c.server.Dir()
	t.Logf("in Weaviate's files: %v", filesWith(t, dir, memory, said))
	c.server.Stop()
	t.Logf("after it was stopped: %v", filesWith(t, dir, memory, said))
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	if all := c.everythingOf(collections...); strings.Contains(all, memory) || strings.Contains(all, said) {
		t.Error("a restart of Weaviate has brought it back")
	}
}
