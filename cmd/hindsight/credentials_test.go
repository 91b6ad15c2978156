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
