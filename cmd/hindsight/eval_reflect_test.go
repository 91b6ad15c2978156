package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hindsight/internal/fakellm"
)

// reflectCases are three conversations: something to find beside what was
// known, nothing to find, and one whose expectation nobody can meet.
const reflectCases = `{"cases":[
{"id":"move","lang":"en","prior_memories":[{"type":"user_fact","content":"The user lives in Leeds.","importance":0.8}],
 "messages":[{"role":"user","content":"I live in Porto.","time":"2026-03-01T10:00:00+01:00"},{"role":"assistant","content":"Noted."}],
 "expected":[{"types":["user_fact"],"must":[["porto"]]}],"max_memories":1,"supersedes":[]},
{"id":"weather","lang":"en","messages":[{"role":"user","content":"What lovely weather."}],"expect_nothing":true},
{"id":"名字","lang":"zh","messages":[{"role":"user","content":"我叫小满。"}],"expected":[{"types":["user_fact"],"must":[["大满"]]}],"must_not_store":["无关"]}
]}`

func TestEvalReflectMeasuresTheProduct(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	up := httptest.NewServer(fakellm.New(fakellm.Config{}))
	t.Cleanup(up.Close)
	file := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(file, []byte(reflectCases), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(env map[string]string, args ...string) (int, string, string) {
		var out, errs bytes.Buffer
		a := &app{env: environ{get: func(n string) string { return env[n] }, pid: 2, home: t.TempDir()}, out: &out, err: &errs}
		code := run(t.Context(), a, append([]string{"eval", "reflect", "--cases", file, "--embedder", "none"}, args...))
		return code, out.String(), errs.String()
	}
	env := map[string]string{"HINDSIGHT_REFLECT_MODEL": fakellm.Model, "HINDSIGHT_REFLECT_API_BASE": up.URL + "/v1"}
	code, out, errs := run(env, "--json", "--parallel", "2")
	var rep struct {
		Model string
		Total struct {
			Cases, Found, Missed, Beyond, Superseded, Failed int
			NothingCases                                     int `json:"nothing_cases"`
			NothingBroken                                    int `json:"nothing_broken"`
		}
		Results []struct{ ID, Strategy string }
	}
	if err := json.Unmarshal([]byte(out), &rep); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s %s", code, err, out, errs)
	}
	got := rep.Total
	if rep.Model != fakellm.Model || got.Cases != 3 || got.Found != 1 || got.Missed != 1 || got.NothingCases != 1 || got.NothingBroken != 0 || got.Failed != 0 {
		t.Errorf("%+v", got)
	}
	for _, r := range rep.Results {
		if r.Strategy == "" || r.Strategy == "rules" {
			t.Errorf("%s was found by %q", r.ID, r.Strategy)
		}
	}
	if code, out, _ = run(env, "--only", "名字"); code != 0 || !strings.Contains(out, "名字: missed 大满") {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, _, errs = run(nil); code != exitUsage || !strings.Contains(errs, "HINDSIGHT_REFLECT_MODEL") {
		t.Errorf("no model: exit %d: %s", code, errs)
	}
	if code, _, errs = run(map[string]string{"HINDSIGHT_REFLECT_MODEL": "m"}); code != exitUsage || !strings.Contains(errs, "LLM_API_BASE") {
		t.Errorf("no address: exit %d: %s", code, errs)
	}
}

// The offset of a reported time is the user's clock: half past midnight in
// Shanghai and late evening in Los Angeles are other days than at UTC.
func TestReportedOffsetsDecideTheDay(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cases.json")
	if err := os.WriteFile(file, []byte(`{"cases":[
{"id":"zh","lang":"zh","messages":[{"role":"user","content":"昨天我搬到了苏州。","time":"2026-05-01T00:20:00+08:00"}],
 "expected":[{"types":["user_fact","event"],"must":[["2026-04-30"]]}]},
{"id":"en","lang":"en","messages":[{"role":"user","content":"I moved to Reno yesterday.","time":"2026-05-01T23:20:00-07:00"}],
 "expected":[{"types":["user_fact","event"],"must":[["2026-04-30"]]}]},
{"id":"none","lang":"en","messages":[{"role":"user","content":"I moved to Reno yesterday.","time":"2026-05-01T17:20:00Z"}],
 "expected":[{"types":["user_fact","event"],"must":[["2026-05-01"]]}]}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HINDSIGHT_REFLECT_MODEL": "rules", "HINDSIGHT_TZ": "Asia/Tokyo"}
	var out, errs bytes.Buffer
	a := &app{env: environ{get: func(n string) string { return env[n] }, pid: 2, home: t.TempDir()}, out: &out, err: &errs}
	code := run(t.Context(), a, []string{"eval", "reflect", "--cases", file, "--embedder", "none"})
	if code != 0 || strings.Contains(out.String(), "missed") {
		t.Errorf("exit %d: %s %s", code, out.String(), errs.String())
	}
}
