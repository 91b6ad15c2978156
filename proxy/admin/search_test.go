package admin

import (
	"fmt"
	"strings"
	"testing"

	"hindsight/inject"
	"hindsight/store/index"
)

// withSearch is a rig whose search is the proxy's.
func withSearch(t *testing.T, cfg Config) *rig {
	t.Helper()
	r := newRig(t, cfg)
	x := index.New(index.Config{}, r.store)
	t.Cleanup(x.Close)
	engine, err := inject.New(inject.Config{}, x, r.store, r.store, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Store, cfg.Token, cfg.Searcher, cfg.Ready = r.store, "0123456789abcdef", engine, steady(true, "on", "")
	r.Handler = New(cfg).Handler()
	return r
}

func TestSearch(t *testing.T) {
	r := withSearch(t, alone())
	for _, m := range []string{
		`"text":"Deploy the billing service with make ship","type":"solution"`,
		`"text":"Prefers short answers about the billing service","type":"preference"`,
		`"text":"平时喜欢喝乌龙茶","type":"preference"`,
		`"text":"Bob owns the billing service","type":"user_fact","scope":"user:bob"`,
		`"text":"The billing service of another tenant","type":"user_fact","tenant":"two"`,
	} {
		r.must(201, "POST", path, "{"+m+"}")
	}
	search := path + "/search"
	out := r.must(200, "POST", search, `{"query":"billing service"}`)
	texts := fmt.Sprint(out["results"])
	if len(list(out, "results")) != 3 || !strings.Contains(texts, "Bob") || strings.Contains(texts, "another tenant") {
		t.Errorf("all scopes of the tenant: %v", out)
	}
	for _, hit := range list(out, "results") {
		parts, _ := hit["parts"].(map[string]any)
		score, _ := hit["score"].(float64)
		if score <= 0 || score > 1 || parts["words"] == nil || parts["final"] == nil {
			t.Errorf("score %v, parts %v", hit["score"], parts)
		}
	}
	own := r.must(200, "POST", search, `{"query":"billing service","scopes":["user:local"],"types":["solution"]}`)
	if len(list(own, "results")) != 1 || fmt.Sprint(own["excluded_by_filter"]) != "map[preference:1]" {
		t.Errorf("filtered: %v", own)
	}
	if tea := r.must(200, "POST", search, `{"query":"喝什么茶"}`); len(list(tea, "results")) != 1 {
		t.Errorf("Chinese: %v", tea)
	}
	if none := r.must(200, "POST", search, `{"query":"volcano"}`); none["results"] == nil || len(list(none, "results")) != 0 {
		t.Errorf("nothing: %v", none)
	}
	for body, says := range map[string]string{
		`{}`:                                   "query",
		`{"query":""}`:                         "query",
		`{"query":" "}`:                        "query",
		`{"query":"x","scopes":[]}`:            "scopes",
		`{"query":"x","scopes":["bob"]}`:       "scopes[0]",
		`{"query":"x","types":["noise"]}`:      "types[0]",
		`{"query":"x","layers":[]}`:            "layers",
		`{"query":"x","top_k":0}`:              "top_k",
		`{"query":"x","top_k":51}`:             "top_k",
		`{"query":"x","filter":"all of them"}`: "filter",
	} {
		if code, out := r.do("POST", search, body); code != 422 || !strings.Contains(fmt.Sprint(out), says) {
			t.Errorf("%s: %d %v", body, code, out)
		}
	}
}
