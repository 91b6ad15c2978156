package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
)

// noted is what the tools say of a memory, as far as these tests look.
type noted struct {
	ID, Text, State string
	Importance      float64
	Confidence      float64
}

func TestMCPFilters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.agent(worldToken)
	for _, args := range []map[string]any{
		{"content": "The blue kettle stands in the kitchen.", "memory_type": "user_fact", "subject": "kettle"},
		{"content": "To descale the kettle use vinegar.", "memory_type": "solution", "subject": "kettle care"},
		{"content": "The kettle was bought in Bergen on Monday.", "memory_type": "event"},
	} {
		a.call("memory_write", args, nil)
	}
	today := time.Now().UTC()
	day := func(days int) string { return today.AddDate(0, 0, days).Format(time.DateOnly) }
	for name, c := range map[string]struct {
		filter map[string]any
		want   []string // a word of each that is found
	}{
		"none":           {nil, []string{"blue", "vinegar", "Bergen"}},
		"a type":         {map[string]any{"memory_type": "solution"}, []string{"vinegar"}},
		"a layer":        {map[string]any{"memory_type": "episodic"}, []string{"Bergen"}},
		"another layer":  {map[string]any{"memory_type": "semantic"}, []string{"blue"}},
		"a subject":      {map[string]any{"subject": "kettle"}, []string{"blue"}},
		"a session":      {map[string]any{"session": "no-such-session"}, nil},
		"a scenario":     {map[string]any{"scenario": "no such scenario"}, nil},
		"since tomorrow": {map[string]any{"time_range": map[string]any{"since": day(2)}}, nil},
		"until today":    {map[string]any{"time_range": map[string]any{"until": day(-2)}}, nil},
		"these days":     {map[string]any{"time_range": map[string]any{"since": day(-2), "until": day(2)}}, []string{"blue", "vinegar", "Bergen"}},
		"a foreign day":  {map[string]any{"time_range": map[string]any{"since": day(-2), "until": day(-1)}}, nil},
	} {
		for tool, field := range map[string]string{"memory_search": "results", "memory_list": "memories"} {
			args := map[string]any{}
			for k, v := range c.filter {
				args[k] = v
			}
			if tool == "memory_search" {
				args["query"], args["top_k"] = "kettle", 10
			}
			text, wrong := a.try(tool, args)
			if wrong {
				if c.want != nil {
					t.Errorf("%s by %s: %s", tool, name, text)
				}
				continue
			}
			var v map[string]json.RawMessage
			var got []noted
			if err := json.Unmarshal([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(v[field], &got); err != nil {
				t.Fatal(err)
			}
			ok := len(got) == len(c.want)
			for _, word := range c.want {
				ok = ok && slices.ContainsFunc(got, func(n noted) bool { return strings.Contains(n.Text, word) })
			}
			if !ok {
				t.Errorf("%s by %s: %+v, want %q", tool, name, got, c.want)
			}
		}
	}
}

func TestMCPChangesHaveTheirEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_MCP_NAMES=both")
	a := w.agent(worldToken)
	var wrote struct{ Memory noted }
	a.call("store_memory", map[string]any{"content": "My locker code word is heron.", "memory_type": "user_fact", "confidence": 0.8}, &wrote)
	id := wrote.Memory.ID
	var now struct {
		Result string
		Memory noted
	}
	a.call("memory_verify", map[string]any{"id": id, "confirmed": false}, &now)
	if now.Result != "doubted" || now.Memory.Confidence >= 0.8 {
		t.Errorf("not confirmed: %+v", now)
	}
	doubted := now.Memory.Confidence
	a.call("memory_verify", map[string]any{"id": id, "confirmed": true}, &now)
	if now.Result != "verified" || now.Memory.Confidence < doubted {
		t.Errorf("confirmed: %+v", now)
	}
	a.call("memory_forget", map[string]any{"id": id, "mode": "downweight"}, &now)
	if now.Result != "downweighted" || now.Memory.Importance >= 0.7 || now.Memory.State != "active" {
		t.Errorf("downweighted: %+v", now)
	}
	a.call("update_memory", map[string]any{"id": id, "content": "My locker code word is magpie."}, &now)
	if got := a.finds("locker code word"); len(got) != 1 || !strings.Contains(got[0], "magpie") {
		t.Errorf("after the update: %v", got)
	}
	if text, wrong := a.try("update_memory", map[string]any{"id": id, "content": "My API key is sk-abcdefghijklmnopqrstuv."}); !wrong || !strings.Contains(text, "secret") {
		t.Errorf("a secret was taken: %s", text)
	}
	a.call("delete_memory", map[string]any{"id": id}, &now)
	if got := a.finds("locker code word"); now.Result != "deleted" || len(got) != 0 {
		t.Errorf("after the forget %+v is found: %v", now, got)
	}
	var found struct{ Results []noted }
	a.call("search_memory", map[string]any{"query": "magpie"}, &found)
	if len(found.Results) != 0 {
		t.Errorf("by the other name it is found: %+v", found)
	}
	// What the person has forgotten isn't injected either.
	w.conversation().say("What is my locker code word?")
	if body := string(w.last().body); strings.Contains(body, "magpie") || strings.Contains(body, "heron") {
		t.Errorf("the proxy tells it still: %s", body)
	}
}
