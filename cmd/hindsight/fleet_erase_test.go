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
