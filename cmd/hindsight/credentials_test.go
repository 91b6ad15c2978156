package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hindsight/store"
)

// tenants are the tenants by id, with the number of their sessions.
func (w *world) tenants() map[string]int {
	w.t.Helper()
	w.flush()
	var v struct{ Tenants []store.Tenant }
	w.decode(w.admin(http.MethodGet, "/api/v1/tenants", ""), &v)
	out := map[string]int{}
	for _, t := range v.Tenants {
		out[t.ID] = 0
		for _, s := range t.Scopes {
			out[t.ID] += s.Sessions
		}
	}
	return out
}

// link joins two tenants.
func (w *world) link(from, to string) {
	w.t.Helper()
	w.admin(http.MethodPost, "/api/v1/tenants/link", fmt.Sprintf(`{"from":%q,"to":%q}`, from, to))
}

// jwt is a token that its issuer replaces every hour.
const jwt = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ.c2ln"

// Where the tenant is named, the credential may change in the middle of a
// conversation, also to tokens that expire: one tenant, one session, the same
// blocks. The upstream gets each caller's own credential.
func TestCredentialChangesInANamedTenant(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TENANT=acme", "HINDSIGHT_DEFAULT_USER=ann")
	w.remember("ann", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	c := w.conversation()
	var session string
	var before arrived
	for i, credential := range []string{"Authorization: Bearer sk-one", "Authorization: Bearer sk-two", "Authorization: Bearer " + jwt, "Authorization: Bearer ya29.token"} {
		c.headers = []string{credential}
		if i == 2 {
			w.restart()
		}
		r := c.say([]string{craneCode, "thanks", "go on", "bye"}[i])
		got := w.last()
		if i > 0 {
			wantPrefix(t, before, got)
		}
		if before = got; session == "" {
			session = r.session()
		}
		if r.session() != session || !strings.Contains(got.blocks(t)[0], "4411") {
			t.Errorf("%s: session %s, want %s; %s", credential, r.session(), session, r.memory())
		}
		if name, value, _ := strings.Cut(credential, ": "); got.header.Get(name) != value {
			t.Errorf("%s arrived as %q", credential, got.header.Get(name))
		}
	}
	w.wantSaid(session, "ann", craneCode, "thanks", "go on", "bye")
	if got := w.tenants(); len(got) != 1 || got["acme"] != 1 {
		t.Errorf("tenants %v", got)
	}
}

// Where it isn't named, another credential is another tenant until somebody
// links the two: then what each has learned is there for both, for good, and
// the conversation that changed its credential is one again.
func TestCredentialChangesAndTenantsAreLinked(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t)
	w.remember("ann", `"text":"The harbour crane's access code is 4411.","type":"user_fact"`)
	old := []string{"Hindsight-User: ann", "Authorization: Bearer sk-old"}
	rotated := []string{"Hindsight-User: ann", "Authorization: Bearer sk-new"}
	c := w.conversation(old...)
	session := c.say(craneCode).session()
	history := append([]string(nil), c.messages...)
	c.headers = rotated
	r := c.say("And who keeps it?")
	if r.session() == session || r.session() == "" || strings.Join(w.last().blocks(t), "") != "" {
		t.Errorf("a stranger's credential: session %s, %s", r.session(), w.last().body)
	}
	between := w.conversation(rotated...)
	between.say("Remember this: Olga keeps the boat shed's key.")
	var fresh string
	for id := range w.tenants() {
		if id != "default" {
			fresh = id
		}
	}
	if got := w.tenants(); len(got) != 2 || got["default"] != 1 || got[fresh] != 2 || strings.Contains(fresh, "sk-new") {
		t.Fatalf("tenants %v", got)
	}
	w.link(fresh, "default")
	for _, when := range []string{"at once", "after a restart"} {
		if got := w.tenants(); len(got) != 1 || got["default"] < 3 {
			t.Errorf("%s: tenants %v", when, got)
		}
		c := w.conversation(rotated...)
		c.messages = append(c.messages, history...)
		if r := c.say("thanks"); r.session() != session || !strings.Contains(w.last().blocks(t)[0], "4411") {
			t.Errorf("%s: the conversation from before is session %s, want %s", when, r.session(), session)
		}
		if got := w.conversation(rotated...).say("Tell me the harbour crane's access code."); got.memory() != "injected" || !strings.Contains(w.last().blocks(t)[0], "4411") {
			t.Errorf("%s: the new credential: %s, %s", when, got.memory(), got.text())
		}
		w.restart()
	}
	// A third one is a stranger still.
	if r := w.conversation("Hindsight-User: ann", "Authorization: Bearer sk-third").say(craneCode); r.memory() != "none" {
		t.Errorf("a third credential: %s", r.memory())
	}
}

// Linked tenants are one for erasing too, by whichever name it is asked for: what
// both learned goes, the receipt names the tenant that goes on, and that of an erasure
// from before they were linked is found.
func TestErasureReachesLinkedTenants(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := []string{"Hindsight-User: ann", "Authorization: Bearer sk-old"}
	rotated := []string{"Hindsight-User: ann", "Authorization: Bearer sk-new"}
	gone := []string{"Hindsight-User: bob", "Authorization: Bearer sk-new"}
	w.conversation(old...).say("Remember this: the crane's access code is 4411.")
	w.conversation(rotated...).say("Remember this: Olga keeps the boat shed's key.")
	w.conversation(gone...).say("My badge is B4411.")
	w.flush()
	var fresh string
	for id := range w.tenants() {
		if id != "default" {
			fresh = id
		}
	}
	erasure := func(method, tenant, user, path string) (rec store.Receipt) {
		t.Helper()
		w.decode(w.admin(method, "/api/v1/tenants/"+tenant+"/scopes/user:"+user+path, ""), &rec)
		return rec
	}
	before := erasure(http.MethodDelete, fresh, "bob", "")
	w.link(fresh, "default")
	if n := len(w.memories("ann")); n != 2 {
		t.Fatalf("%d memories of both", n)
	}
	rec := erasure(http.MethodDelete, fresh, "ann", "")
	if rec.Tenant != "default" || rec.Memories != 2 || rec.Sessions != 2 {
		t.Errorf("receipt %+v", rec)
	}
	for _, when := range []string{"at once", "after a restart"} {
		for _, name := range []string{fresh, "default"} {
			if got := erasure(http.MethodGet, name, "ann", "/erasure"); got.Tenant != "default" || got.Memories != 2 || !got.ErasedAt.Equal(rec.ErasedAt) {
				t.Errorf("%s, by the name %s: receipt %+v", when, name, got)
			}
			if got := erasure(http.MethodGet, name, "bob", "/erasure"); got.Sessions != 1 || !got.ErasedAt.Equal(before.ErasedAt) {
				t.Errorf("%s, by the name %s: bob's receipt %+v", when, name, got)
			}
		}
		for _, headers := range [][]string{old, rotated} {
			if r := w.conversation(headers...).say("What are the crane's access code and the boat shed's key?"); r.memory() != "none" {
				t.Errorf("%s: %s, %s", when, r.memory(), r.text())
			}
		}
		if n := len(w.memories("ann")) + len(w.memories("bob")); n != 0 {
			t.Errorf("%s: %d memories", when, n)
		}
		w.restart()
	}
}

// Without a name, a token that expires is nobody's tenant, and neither is no
// credential once another came first.
func TestCredentialsThatNameNobody(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w := newWorld(t)
	w.conversation().say("hello")
	for _, credential := range []string{"Bearer " + jwt, "Bearer sk-ant-oat01-abc", "Bearer ya29.token", "Bearer gho_token", "Bearer ghu_token", ""} {
		c := w.conversation("Hindsight-User: ann", "Authorization: "+credential)
		sent := c.add("user", "hello").body()
		if r := c.send(); r.memory() != "off;reason=no_tenant" || r.session() != "" || string(w.last().body) != sent {
			t.Errorf("%q: %s, session %q", credential, r.memory(), r.session())
		}
	}
	if got := w.tenants(); len(got) != 1 || got["default"] != 1 {
		t.Errorf("tenants %v", got)
	}
}
