package mcpserver

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// silent is a management API that never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestACallEndsWithin30Seconds has every tool call an API that never answers.
func TestACallEndsWithin30Seconds(t *testing.T) {
	args := map[string]string{
		"memory_write": `{"content":"x"}`, "memory_search": `{"query":"x"}`, "memory_list": `{}`, "memory_update": `{"id":"x","content":"y"}`,
		"memory_forget": `{"id":"x"}`, "memory_consolidate": `{}`, "memory_verify": `{"id":"x","confirmed":true}`, "session_close": `{"session":"x"}`,
	}
	synctest.Test(t, func(t *testing.T) {
		d, tools := bench(t, silent{}, annsGrant)
		for i := range tools {
			given, ok := args[tools[i].name]
			if !ok {
				continue // the other name of one of these
			}
			begun := time.Now()
			res, err := d.call(t.Context(), &tools[i], json.RawMessage(given))
			if err != nil {
				t.Fatalf("%s: %v", tools[i].name, err)
			}
			told := res.Content[0].(*mcp.TextContent).Text
			if took := time.Since(begun); took != callLimit || !res.IsError || !strings.Contains(told, "30s") {
				t.Errorf("%s ends after %v with %q", tools[i].name, took, told)
			}
		}
		synctest.Wait()
	})
}

// TestToolNames says under which names the tools are offered.
func TestToolNames(t *testing.T) {
	memory := []string{"memory_write", "memory_search", "memory_list", "memory_update", "memory_forget", "memory_consolidate", "memory_verify", "session_close"}
	plain := []string{"store_memory", "search_memory", "list_memories", "update_memory", "delete_memory"}
	for names, want := range map[string][]string{
		"": memory, NamesMemory: memory,
		NamesStore: append(slices.Clone(plain), "memory_consolidate", "memory_verify", "session_close"),
		NamesBoth:  append(slices.Clone(memory), plain...),
	} {
		s, err := New(Config{API: silent{}, Names: names, Screen: func(string) string { return "" }})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, tl := range s.tools() {
			got = append(got, tl.name)
			if !strings.Contains(tl.about, "Call it") || !strings.Contains(tl.about, "Don't call it") || tl.out == nil {
				t.Errorf("%s doesn't say when to call it and when not, or what it answers", tl.name)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("names %q (-want +got):\n%s", names, diff)
		}
	}
	if _, err := New(Config{API: silent{}, Names: "all", Screen: func(string) string { return "" }}); err == nil || !strings.Contains(err.Error(), "mcp.names") {
		t.Errorf("names all: %v", err)
	}
}
