package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hindsight/proxy/admin"
)

// The answer's headers, the API and the command tell one story of an exchange.
func TestOneStoryOfAnExchange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var m struct{ ID string }
	w.decode(w.admin(http.MethodPost, "/api/v1/memories", `{"text":"The staging database listens on port 5433.","type":"solution"}`), &m)
	w.admin(http.MethodPost, "/api/v1/memories", `{"text":"Cats are called Miso.","type":"user_fact"}`)
	got := w.conversation().say("On which port does the staging database listen?")
	if got.header.Get("Hindsight-Memories") != m.ID {
		t.Fatalf("the headers say %v, want the memory %s", got.header, m.ID)
	}
	exchange := got.header.Get("Hindsight-Exchange")
	w.flush()
	var why admin.Reasons
	w.decode(w.admin(http.MethodGet, "/api/v1/exchanges/"+exchange+"/why", ""), &why)
	if why.Story.Header != got.memory() || len(why.Story.Lines) == 0 || why.Story.Lines[0].ID != m.ID || !why.Story.Lines[0].Chosen {
		t.Errorf("the story is %+v, the header %q", why.Story, got.memory())
	}
	for _, lang := range []string{"", "zh_CN.UTF-8"} {
		out, errs := &strings.Builder{}, &strings.Builder{}
		env := func(name string) string {
			if name == "LANG" {
				return lang
			}
			return w.env[name]
		}
		a := &app{env: environ{get: env, pid: 2, home: w.env["HINDSIGHT_DATA_DIR"]}, out: out, err: errs}
		if code := run(t.Context(), a, []string{"memories", "why", exchange}); code != 0 {
			t.Fatalf("memories why: exit code %d: %s", code, errs)
		}
		headline := why.Story.Headline
		if lang != "" {
			headline = "已在这一轮的话前面加入记忆。"
		}
		for _, part := range []string{got.memory(), headline, m.ID, "importance 0.70", why.Story.Lines[0].Text} {
			if !strings.Contains(out.String(), part) {
				t.Errorf("LANG=%s: %q isn't in\n%s", lang, part, out)
			}
		}
	}
}

func TestSettingsInForceHoldNoSecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_TOP_K=3", "HINDSIGHT_EMBEDDING_API_KEY=sk-embedding-secret")
	raw := string(w.admin(http.MethodGet, "/api/v1/settings", ""))
	for _, secret := range []string{worldToken, "sk-reflection", "sk-embedding-secret"} {
		if strings.Contains(raw, secret) {
			t.Errorf("the settings hold %q", secret)
		}
	}
	var list struct{ Settings []admin.Setting }
	if err := json.Unmarshal([]byte(raw), &list); err != nil {
		t.Fatal(err)
	}
	found := map[string]admin.Setting{}
	for _, s := range list.Settings {
		found[s.Key] = s
	}
	if s := found["top_k"]; s.Value != "3" || s.From != "HINDSIGHT_TOP_K" || s.Group != "injection" {
		t.Errorf("top_k: %+v", s)
	}
	if s := found["admin.token"]; !s.Secret || !s.Set || s.Value != "" {
		t.Errorf("admin.token: %+v", s)
	}
	if s := found["ranking"]; s.Value != "bounded" || s.From != "" {
		t.Errorf("ranking: %+v", s)
	}
}
