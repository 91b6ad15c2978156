package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// callerKey is a key of Hindsight's own, as its holder has it.
type callerKey struct{ key, tenant, user, role string }

// authKeys are keys as the settings want them.
func authKeys(keys []callerKey) string {
	type setting struct {
		Name   string `json:"name"`
		SHA256 string `json:"sha256"`
		Tenant string `json:"tenant"`
		User   string `json:"user,omitempty"`
		Role   string `json:"role,omitempty"`
	}
	var all []setting
	for _, k := range keys {
		all = append(all, setting{k.key, fmt.Sprintf("%x", sha256.Sum256([]byte(k.key))), k.tenant, k.user, k.role})
	}
	raw, _ := json.Marshal(all) // strings alone
	return string(raw)
}

// newKeyed is a product whose callers show Hindsight keys.
func newKeyed(t *testing.T) *world {
	t.Helper()
	keys := authKeys([]callerKey{
		{"hs-ann", "acme", "ann", ""}, {"hs-shared", "acme", "", ""}, {"hs-other", "globex", "ann", ""}, {"hs-admin", "acme", "ann", "admin"},
	})
	w := newWorld(t, "HINDSIGHT_AUTH_MODE=keys", "HINDSIGHT_AUTH_KEYS="+keys, "LLM_API_KEY=sk-upstream")
	for user, code := range map[string]string{"ann": "4411", "bob": "7702"} {
		w.remember(user, `"tenant":"acme","text":"The harbour crane's access code is `+code+`.","type":"user_fact"`)
	}
	w.remember("ann", `"tenant":"globex","text":"The harbour crane's access code is 9999.","type":"user_fact"`)
	return w
}

// Whoever shows no key of ours gets a 401 in OpenAI's shape, and nothing of his
// request leaves.
func TestUnknownKey(t *testing.T) {
	t.Parallel()
	w := newKeyed(t)
	for _, header := range []string{"Authorization: Bearer sk-real", "Authorization: Bearer hs-admin", "Authorization: Bearer hs-ann2", "Authorization: ", "X-Api-Key: hs-ann"} {
		r := w.send(w.conversation().add("user", craneCode).body(), header)
		var e struct {
			Error struct{ Message, Type, Code string }
		}
		w.decode(r.body, &e)
		if r.status != http.StatusUnauthorized || e.Error.Code != "invalid_api_key" || e.Error.Type == "" || e.Error.Message == "" {
			t.Errorf("%s: %d %s", header, r.status, r.body)
		}
		if _, value, _ := strings.Cut(header, ": "); r.session() != "" || len(value) > 8 && strings.Contains(string(r.body), value) {
			t.Errorf("%s: %v %s", header, r.header, r.body)
		}
	}
	resp, err := http.Get(w.st.proxyURL() + "/v1/models")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("another route answers %d", resp.StatusCode)
	}
	if n := len(w.seen()); n != 0 {
		t.Errorf("%d requests reached the upstream", n)
	}
	if got := w.tenants(); got["default"] != 0 || got["acme"] != 0 {
		t.Errorf("tenants %v", got)
	}
}

// A known key stands for its tenant and user, whatever the request says, and
// never leaves: the upstream gets its own.
func TestKnownKey(t *testing.T) {
	t.Parallel()
	w := newKeyed(t)
	for _, c := range []struct {
		headers []string
		code    string // "" where memory has nothing or is off
		status  string
		user    string
	}{
		{[]string{"Authorization: Bearer hs-ann"}, "4411", "injected", "ann"},
		{[]string{"Authorization: bearer hs-ann", "Hindsight-User: bob"}, "4411", "injected", "ann"},
		{[]string{"Authorization: Bearer hs-ann", "Hindsight-User: {{USER_ID}}", "X-OpenWebUI-User-Id: bob"}, "4411", "injected", "ann"},
		{[]string{"Authorization: Bearer hs-shared", "Hindsight-User: bob"}, "7702", "injected", "bob"},
		{[]string{"Authorization: Bearer hs-shared", "Hindsight-User: carl"}, "", "none", "carl"},
		{[]string{"Authorization: Bearer hs-shared"}, "", "off;reason=no_user", ""},
		{[]string{"Authorization: Bearer hs-other"}, "9999", "injected", "ann"},
		{[]string{"Authorization: ", "X-Api-Key: hs-ann"}, "4411", "injected", "ann"},
		{[]string{"Authorization: ", "Api-Key: hs-ann"}, "4411", "injected", "ann"},
		{[]string{"X-Api-Key: sk-own", "Authorization: Bearer hs-ann"}, "4411", "injected", "ann"},
	} {
		r := w.conversation(c.headers...).say(craneCode)
		got := w.last()
		if r.memory() != c.status {
			t.Errorf("%v: %s, want %s", c.headers, r.memory(), c.status)
		}
		for _, code := range []string{"4411", "7702", "9999"} {
			if strings.Contains(string(got.body), code) != (code == c.code) {
				t.Errorf("%v: upstream got %s", c.headers, got.body)
			}
		}
		for name, values := range got.header {
			if v := strings.Join(values, ""); strings.Contains(v, "hs-") || strings.Contains(v, "sk-own") || strings.HasPrefix(name, "Hindsight") {
				t.Errorf("%v: the upstream got %s: %s", c.headers, name, v)
			}
		}
		auth := got.header.Get("Authorization") + got.header.Get("X-Api-Key") + got.header.Get("Api-Key")
		if strings.ReplaceAll(auth, "Bearer ", "") != strings.Repeat("sk-upstream", strings.Count(auth, "sk-upstream")) || auth == "" {
			t.Errorf("%v: the upstream's key is %q", c.headers, auth)
		}
		if c.user != "" {
			w.wantSaid(r.session(), c.user, craneCode)
		}
	}
	req, err := http.NewRequest(http.MethodGet, w.st.proxyURL()+"/v1/models", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer hs-ann")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := w.last(); resp.StatusCode != http.StatusOK || got.path != "/v1/models" || got.header.Get("Authorization") != "Bearer sk-upstream" {
		t.Errorf("another route: %d, %s with %s", resp.StatusCode, got.path, got.header.Get("Authorization"))
	}
}
