package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"hindsight/store"
)

const path = "/api/v1/memories"

func TestLifeOfAMemory(t *testing.T) {
	r := newRig(t, alone())
	m := r.must(201, "POST", path, `{"text":"  Prefers metric units. ","type":"preference","metadata":{"from":"a form"}}`)
	for field, want := range map[string]any{
		"text": "Prefers metric units.", "type": "preference", "layer": "semantic", "tenant": "default", "scope": "user:local",
		"importance": 0.7, "confidence": 1.0, "state": "active", "attributed_to": "user", "revision": 1.0,
	} {
		if m[field] != want {
			t.Errorf("%s is %v, want %v", field, m[field], want)
		}
	}
	if m["evidence"] == nil || m["source_ids"] == nil {
		t.Errorf("lists are null: %v", m)
	}
	id := m["id"].(string)
	again := r.must(200, "POST", path, `{"text":"prefers METRIC units","type":"preference"}`)
	if again["id"] != id {
		t.Errorf("the same text again made %v", again["id"])
	}
	one := path + "/" + id
	if got := r.must(200, "GET", one, ""); got["text"] != m["text"] {
		t.Errorf("read back %v", got)
	}

	edited := r.must(200, "PATCH", one, `{"text":"Prefers SI units.","type":"solution","importance":0,"metadata":{}}`)
	if edited["text"] != "Prefers SI units." || edited["importance"] != 0.0 || edited["layer"] != "skill" || edited["revision"] != 2.0 {
		t.Errorf("edited: %v", edited)
	}
	if edited["confidence"] != 1.0 || edited["subject"] != "" {
		t.Errorf("an edit changed what it doesn't name: %v", edited)
	}
	if v := r.must(200, "POST", one+"/verify", ""); v["last_verified"] == nil {
		t.Errorf("verified: %v", v)
	}

	if f := r.must(200, "DELETE", one, ""); f["state"] != "archived" {
		t.Errorf("forgotten: %v", f)
	}
	if n := len(list(r.must(200, "GET", path, ""), "memories")); n != 0 {
		t.Errorf("%d active memories after forgetting", n)
	}
	if n := len(list(r.must(200, "GET", path+"?state=archived", ""), "memories")); n != 1 {
		t.Errorf("%d archived memories", n)
	}
	if b := r.must(200, "POST", one+"/restore", ""); b["state"] != "active" {
		t.Errorf("restored: %v", b)
	}
	r.must(200, "DELETE", one+"?erase=true", "")
	r.must(404, "GET", one, "")
	r.must(404, "DELETE", one, "")
}

func TestPages(t *testing.T) {
	r := newRig(t, alone())
	for i := range 5 {
		r.must(201, "POST", path, fmt.Sprintf(`{"text":"Fact number %d","type":"user_fact"}`, i))
	}
	r.must(201, "POST", path, `{"text":"How to deploy","type":"solution"}`)
	var seen []string
	cursor := ""
	for range 4 {
		out := r.must(200, "GET", path+"?type=user_fact&limit=2&cursor="+cursor, "")
		for _, m := range list(out, "memories") {
			seen = append(seen, m["text"].(string))
		}
		if cursor, _ = out["next_cursor"].(string); cursor == "" {
			break
		}
	}
	if got := strings.Join(seen, ", "); got != "Fact number 4, Fact number 3, Fact number 2, Fact number 1, Fact number 0" {
		t.Errorf("pages: %s", got)
	}
}

// TestPagesWhileOthersWrite walks pages while memories are written, edited and
// forgotten: what was there before and still is comes once.
func TestPagesWhileOthersWrite(t *testing.T) {
	r := newRig(t, alone())
	const old = 120
	stays, goes := map[string]int{}, []string{}
	for i := range old {
		id := r.must(201, "POST", path, fmt.Sprintf(`{"text":"Old fact number %d","type":"user_fact"}`, i))["id"].(string)
		if i%3 == 0 {
			goes = append(goes, id)
		} else {
			stays[id] = 0
		}
	}
	steady := slices.Collect(maps.Keys(stays))
	pages := make(chan struct{})
	written := make(chan struct{})
	go func() {
		defer close(written)
		n := 0
		for range pages { // some of each between two pages, some beside the next
			for range 2 {
				m := r.must(201, "POST", path, fmt.Sprintf(`{"text":"New fact number %d","type":"user_fact"}`, n))
				r.must(200, "PATCH", path+"/"+steady[n%len(steady)], fmt.Sprintf(`{"importance":0.%d}`, n%8+1))
				if n%2 == 0 {
					r.must(200, "DELETE", path+"/"+m["id"].(string), "")
				}
				if n < len(goes) {
					r.must(200, "DELETE", fmt.Sprintf("%s/%s?erase=%t", path, goes[n], n%2 == 0), "")
				}
				n++
			}
		}
	}()
	twice := map[string]bool{}
	for cursor, first := "", true; first || cursor != ""; first = false {
		out := r.must(200, "GET", path+"?limit=7&cursor="+cursor, "")
		for _, m := range list(out, "memories") {
			id := m["id"].(string)
			if twice[id] {
				t.Errorf("%s came twice", m["text"])
			}
			twice[id] = true
			if _, ok := stays[id]; ok {
				stays[id]++
			}
		}
		cursor, _ = out["next_cursor"].(string)
		pages <- struct{}{}
	}
	close(pages)
	<-written
	for id, n := range stays {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
}

func TestBadCallsOnMemories(t *testing.T) {
	r := newRig(t, alone())
	long := strings.Repeat("界", 8001)
	for _, c := range []struct {
		method, path, body string
		want               int
		says               string
	}{
		{"POST", path, `{"type":"preference"}`, 422, "text"},
		{"POST", path, `{"text":"","type":"preference"}`, 422, "text"},
		{"POST", path, `{"text":" \n ","type":"preference"}`, 422, "text"},
		{"POST", path, `{"text":"...","type":"preference"}`, 422, "text"},
		{"POST", path, `{"text":"a\u0000b","type":"preference"}`, 422, "text"},
		{"POST", path, `{"text":"` + long + `","type":"preference"}`, 422, "text"},
		{"POST", path, `{"text":"x1"}`, 422, "type"},
		{"POST", path, `{"text":"x1","type":"noise"}`, 422, "type"},
		{"POST", path, `{"text":"x1","type":"event","layer":"working"}`, 422, "layer"},
		{"POST", path, `{"text":"x1","type":"event","importance":1.4}`, 422, "importance"},
		{"POST", path, `{"text":"x1","type":"event","confidence":-0.1}`, 422, "confidence"},
		{"POST", path, `{"text":"x1","type":"event","scope":"people:ann"}`, 422, "scope"},
		{"POST", path, `{"text":"x1","type":"event","scope":"user:"}`, 422, "scope"},
		{"POST", path, `{"text":"x1","type":"event","weight":1}`, 422, "weight"},
		{"POST", path, `{"text":"x1","type":"event","valid_to":"tomorrow"}`, 422, "valid_to"},
		{"POST", path, `{"text":"x1","type":"event","valid_from":"2026-02-01T00:00:00Z","valid_to":"2026-01-01T00:00:00Z"}`, 422, "valid_to"},
		{"POST", path, `{"text":"x1","type":"event","tenant":"a\u0007"}`, 422, "tenant"},
		{"POST", path, `{"text":"x1","type":"event","tenant":"` + long[:300] + `"}`, 422, "tenant"},
		{"POST", path, `{"text":`, 400, "JSON"},
		{"POST", path, ``, 400, "body"},
		{"GET", path + "?type=fact", "", 422, "query.type"},
		{"GET", path + "?state=gone", "", 422, "query.state"},
		{"GET", path + "?limit=0", "", 422, "query.limit"},
		{"GET", path + "?limit=ten", "", 422, "query.limit"},
		{"GET", path + "?cursor=!!", "", 422, "query.cursor"},
		{"GET", path + "?scop=user:ann", "", 422, "scop"},
		{"GET", path + "?scope=ann", "", 422, "scope"},
		{"GET", path + "?since=yesterday", "", 422, "since"},
		{"GET", path + "?since=2026-02-01T00:00:00Z&until=2026-01-01T00:00:00Z", "", 422, "until"},
		{"GET", path + "/m0", "", 404, "m0"},
		{"PATCH", path + "/m0", `{}`, 422, "changes nothing"},
		{"PATCH", path + "/m0", `{"text":"x1"}`, 404, "m0"},
		{"PATCH", path + "/m0", `{"scope":"user:ann"}`, 422, "scope"},
		{"DELETE", path + "/", "", 404, "nothing at"},
		{"DELETE", path, "", 405, "DELETE"},
		{"GET", path + "/search", "", 405, "POST"},
		{"DELETE", path + "/m0?erase=maybe", "", 422, "erase"},
		{"POST", path + "/m0/restore", "", 404, "m0"},
		{"POST", path + "/m0/verify", "", 404, "m0"},
		{"GET", "/api/v2/memories", "", 404, "nothing at"},
	} {
		code, out := r.do(c.method, c.path, c.body)
		if code != c.want || !strings.Contains(fmt.Sprint(out), c.says) {
			t.Errorf("%s %s %.80s: status %d, want %d with %q: %v", c.method, c.path, c.body, code, c.want, c.says, out)
		}
	}
	if n := len(list(r.must(200, "GET", path, ""), "memories")); n != 0 {
		t.Errorf("%d memories were written by bad calls", n)
	}
	for _, text := range []string{strings.Repeat("界", 8000), "a"} {
		r.must(201, "POST", path, `{"text":"`+text+`","type":"preference","importance":1,"confidence":0}`)
	}
}

func TestTenantAndScopeLeftOut(t *testing.T) {
	r := newRig(t, Config{})
	add := func(where string) (int, map[string]any) {
		return r.do("POST", path, `{"text":"Lives in Oslo","type":"user_fact"`+where+`}`)
	}
	if code, out := add(`,"scope":"user:ann"`); code != 400 || !strings.Contains(fmt.Sprint(out), "HINDSIGHT_TENANT") {
		t.Errorf("no tenant at all: %d %v", code, out)
	}
	if code, out := add(`,"tenant":"one"`); code != 400 || !strings.Contains(fmt.Sprint(out), "HINDSIGHT_DEFAULT_USER") {
		t.Errorf("no default user: %d %v", code, out)
	}
	if code, _ := add(`,"tenant":"one","scope":"user:ann"`); code != 201 {
		t.Errorf("both named: %d", code)
	}
	if n := len(list(r.must(200, "GET", path, ""), "memories")); n != 1 {
		t.Errorf("the only tenant: %d memories", n)
	}
	if code, _ := add(`,"tenant":"two","scope":"user:ann"`); code != 201 {
		t.Errorf("another tenant: %d", code)
	}
	if code, _ := r.do("GET", path, ""); code != 400 {
		t.Errorf("two tenants, none named: %d", code)
	}
	if n := len(list(r.must(200, "GET", path+"?tenant=two", ""), "memories")); n != 1 {
		t.Errorf("tenant two: %d memories", n)
	}
	// The default user is asked for at every call: an implied one can end.
	user := "ann"
	own := New(Config{Store: r.store, Token: "0123456789abcdef", Tenant: "two", User: func(context.Context) string { return user }, Ready: steady(true, "on", "")})
	r.Handler = own.Handler()
	if m := r.must(201, "POST", path, `{"text":"Drinks tea","type":"preference"}`); m["scope"] != "user:ann" || m["tenant"] != "two" {
		t.Errorf("defaults: %v", m)
	}
	user = ""
	r.must(400, "POST", path, `{"text":"Drinks coffee","type":"preference"}`)
}

func TestMemoryOfAnotherTenantIsReadByItsID(t *testing.T) {
	// The admin token is for all tenants; ids alone name a memory.
	r := newRig(t, Config{Tenant: "one"})
	m := r.must(201, "POST", path, `{"tenant":"two","scope":"shared","text":"The office closes at six","type":"user_fact"}`)
	if got := r.must(200, "GET", path+"/"+m["id"].(string), ""); got["tenant"] != "two" || got["scope"] != string(store.Shared) {
		t.Errorf("%v", got)
	}
}
