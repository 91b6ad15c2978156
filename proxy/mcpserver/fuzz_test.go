package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"hindsight/store"
)

// memoryless is a management API that knows nothing: what reaches it was let
// through by the checks of the arguments.
type memoryless struct{}

func (memoryless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusNotFound, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(
		`{"status":404,"detail":"nothing is here","next":"Look elsewhere."}`))}, nil
}

// bench is a desk over an API, and the tools under all their names.
func bench(t testing.TB, api http.RoundTripper, g Grant) (*desk, []tool) {
	t.Helper()
	s, err := New(Config{API: api, Names: NamesBoth, Screen: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.desk(g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.close)
	return d, s.tools()
}

var annsGrant = Grant{Name: "ann", Owner: store.Owner{Tenant: "acme", User: "ann"}, Read: []store.Scope{"user:ann"}, Write: []store.Scope{"user:ann"}}

// FuzzArguments calls every tool with arguments of any kind: what can't be used is
// a JSON-RPC error that names an argument, never a panic, and what can is
// answered.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `[]`, `"text"`, `7`, `{`, `{"content":"I live in Oslo."}`, `{"query":"Oslo","top_k":5}`,
		`{"query":"Oslo","top_k":0}`, `{"query":"Oslo","top_k":1e99}`, `{"query":"Oslo","top_k":"5"}`, `{"query":null}`, `{"query":{"a":[]}}`,
		`{"query":"x","time_range":{"since":"yesterday"}}`, `{"query":"x","time_range":{"since":"2026-02-01","until":"2026-01-01"}}`,
		`{"query":"x","time_range":[]}`, `{"query":"x","time_range":{"from":"2026-01-01"}}`, `{"query":"x","scope":"user:bob"}`,
		`{"content":"x","memory_type":"working"}`, `{"content":"x","memory_type":"poem"}`, `{"content":"","importance":0.5}`,
		`{"content":"x","importance":1.5}`, `{"content":"x","metadata":{"":"x"}}`, `{"content":"x","metadata":{"a":{"b":1}}}`,
		`{"content":"x","metadata":{"a":1e400}}`, `{"content":"\ud800"}`, `{"id":"../../sessions","confirmed":true}`, `{"id":"a\u0000b","mode":"delete"}`,
		`{"id":"x","confirmed":"yes"}`, `{"id":"x","mode":"burn"}`, `{"id":"x","confidence":-1}`, `{"cursor":"9.x"}`, `{"cursor":"-1.x","limit":3}`,
		`{"limit":1000}`, `{"state":"gone"}`, `{"wait":26}`, `{"wait":-1,"session":"s"}`, `{"topic":7}`, `{"frob":1}`, `{"":0}`, `{"content":"x","Content":"y"}`,
		`{"subject":"` + strings.Repeat("长", 501) + `","query":"x"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, args []byte) {
		d, tools := bench(t, memoryless{}, annsGrant)
		for i := range tools {
			tl := &tools[i]
			func() {
				defer func() {
					if p := recover(); p != nil {
						t.Fatalf("%s(%s) panics: %v", tl.name, args, p)
					}
				}()
				_, err := tl.run(context.Background(), d, json.RawMessage(args))
				if err == nil {
					return
				}
				wrong, told := tl.wire(context.Background(), err, d.cfg.Limit)
				if wrong == nil {
					if told == "" {
						t.Fatalf("%s(%s): nothing is said of %v", tl.name, args, err)
					}
					return
				}
				var data struct{ Argument string }
				if wrong.Code != jsonrpc.CodeInvalidParams || json.Unmarshal(wrong.Data, &data) != nil || data.Argument == "" || !strings.Contains(wrong.Message, tl.name) {
					t.Fatalf("%s(%s): %+v doesn't name an argument", tl.name, args, wrong)
				}
			}()
		}
	})
}

// TestBadArgumentsAreNamed says which argument each of some calls gets wrong.
func TestBadArgumentsAreNamed(t *testing.T) {
	d, tools := bench(t, memoryless{}, annsGrant)
	for _, c := range []struct{ tool, args, argument string }{
		{"memory_write", `{}`, "content"},
		{"memory_write", `[]`, "arguments"},
		{"memory_write", `{"content":"x","importance":2}`, "importance"},
		{"memory_write", `{"content":"x","memory_type":"working"}`, "memory_type"},
		{"memory_write", `{"content":"x","scope":"user:bob"}`, "scope"},
		{"memory_write", `{"content":"x","metadata":{"a":[]}}`, "metadata"},
		{"store_memory", `{"content":"x","memory_type":"event"}`, "memory_type"},
		{"memory_search", `{"query":""}`, "query"},
		{"memory_search", `{"query":"x","top_k":51}`, "top_k"},
		{"search_memory", `{"query":"x","time_range":{"until":"noon"}}`, "time_range"},
		{"memory_search", `{"query":"x","scope":"user:bob"}`, "scope"},
		{"list_memories", `{"cursor":"5.x"}`, "cursor"},
		{"memory_list", `{"state":"gone"}`, "state"},
		{"update_memory", `{"id":"x"}`, "content"},
		{"delete_memory", `{"id":"x","mode":"burn"}`, "mode"},
		{"memory_verify", `{"id":"x"}`, "confirmed"},
		{"memory_consolidate", `{"topic":7}`, "topic"},
		{"session_close", `{"wait":26}`, "wait"},
		{"session_close", `{"frob":1}`, "frob"},
		{"session_close", `{"":0}`, "arguments"},
	} {
		i := slices.IndexFunc(tools, func(tl tool) bool { return tl.name == c.tool })
		_, err := d.call(t.Context(), &tools[i], json.RawMessage(c.args))
		var wrong *jsonrpc.Error
		var data struct{ Argument string }
		if !errors.As(err, &wrong) || wrong.Code != jsonrpc.CodeInvalidParams || json.Unmarshal(wrong.Data, &data) != nil || data.Argument != c.argument {
			t.Errorf("%s(%s): %v %+v, want one that names %s", c.tool, c.args, err, data, c.argument)
		}
	}
}
