package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// list lists memories by a query.
func (w *world) list(query string) []store.Memory {
	w.t.Helper()
	var v struct{ Memories []store.Memory }
	w.decode(w.admin(http.MethodGet, "/api/v1/memories?"+query, ""), &v)
	return v.Memories
}

// search searches by the fields of a body.
func (w *world) search(fields map[string]any) admin.Found {
	w.t.Helper()
	body, err := json.Marshal(fields)
	if err != nil {
		w.t.Fatal(err)
	}
	var f admin.Found
	w.decode(w.admin(http.MethodPost, "/api/v1/memories/search", string(body)), &f)
	return f
}

// Every filter of the listing and of the search lets through what it names and
// nothing else.
func TestEachFilterIsExact(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	put := func(user, text, fields string) store.Memory {
		return w.remember(user, `"text":"`+text+` harbour",`+fields)
	}
	one := put("ann", "first", `"type":"user_fact","subject":"Home Town"`)
	two := put("ann", "second", `"type":"event","scenario":"When planning a trip"`)
	three := put("ann", "third", `"type":"solution"`)
	four := put("bob", "fourth", `"type":"preference","layer":"episodic"`)
	kept, _ := w.learn("I live in Harbour.", "Hindsight-User: ann")
	if len(kept) != 1 {
		t.Fatalf("kept %q", texts(kept))
	}
	learned, session := kept[0], kept[0].Evidence[0].Session
	gone := put("ann", "fifth", `"type":"event","subject":"archive"`)
	w.admin(http.MethodDelete, "/api/v1/memories/"+gone.ID, "")
	all := []store.Memory{one, two, three, four, learned}
	at := three.CreatedAt.Format(time.RFC3339Nano)
	for name, c := range map[string]struct {
		list   string
		search map[string]any
		want   []store.Memory
	}{
		"nothing":   {"", nil, all},
		"type":      {"type=event", map[string]any{"types": []string{"event"}}, []store.Memory{two}},
		"layer":     {"layer=semantic", map[string]any{"layers": []string{"semantic"}}, []store.Memory{one, learned}},
		"episodic":  {"layer=episodic", map[string]any{"layers": []string{"episodic"}}, []store.Memory{two, four}},
		"skill":     {"layer=skill", map[string]any{"layers": []string{"skill"}}, []store.Memory{three}},
		"subject":   {"subject=home+town", map[string]any{"subject": "home town"}, []store.Memory{one}},
		"a part of": {"subject=home", map[string]any{"subject": "home"}, append([]store.Memory(nil), subjectIs(kept, "home")...)},
		"scenario":  {"scenario=when+planning+a+trip", map[string]any{"scenario": "when planning a trip"}, []store.Memory{two}},
		"session":   {"session=" + session, map[string]any{"session": session}, []store.Memory{learned}},
		"no such":   {"session=s0", map[string]any{"session": "s0"}, nil},
		"scope":     {"scope=user:bob", map[string]any{"scopes": []string{"user:bob"}}, []store.Memory{four}},
		"since":     {"since=" + url.QueryEscape(at), map[string]any{"since": at}, []store.Memory{three, four, learned}},
		"until":     {"until=" + url.QueryEscape(at), map[string]any{"until": at}, []store.Memory{one, two}},
		"several":   {"scope=user:ann&layer=semantic&since=" + url.QueryEscape(at), map[string]any{"scopes": []string{"user:ann"}, "layers": []string{"semantic"}, "since": at}, []store.Memory{learned}},
		"archived":  {"state=archived", nil, []store.Memory{gone}},
	} {
		want := idsOf(c.want)
		if got := idsOf(w.list(c.list)); !slices.Equal(got, want) {
			t.Errorf("list, %s: %v, want %v", name, got, want)
		}
		if c.search == nil {
			continue
		}
		c.search["query"] = "harbour"
		found := w.search(c.search)
		var got []store.Memory
		for _, r := range found.Results {
			got = append(got, r.Memory)
		}
		if got := idsOf(got); !slices.Equal(got, want) {
			t.Errorf("search, %s: %v, want %v", name, got, want)
		}
		out := 0
		for _, n := range found.ExcludedByFilter {
			out += n
		}
		if out != len(all)-len(want) && c.search["scopes"] == nil {
			t.Errorf("search, %s: %v kept out, %d found of %d", name, found.ExcludedByFilter, len(want), len(all))
		}
	}
	if n := len(w.search(map[string]any{"query": "harbour", "include_archived": true, "subject": "Archive"}).Results); n != 1 {
		t.Errorf("archived ones too: %d found", n)
	}
	// Pages of two, under a filter, hold everything once.
	var paged []store.Memory
	for cursor := ""; ; {
		var v struct {
			Memories   []store.Memory
			NextCursor string `json:"next_cursor"`
		}
		w.decode(w.admin(http.MethodGet, "/api/v1/memories?scope=user:ann&limit=2&cursor="+cursor, ""), &v)
		paged = append(paged, v.Memories...)
		if cursor = v.NextCursor; cursor == "" {
			break
		}
	}
	if got, want := idsOf(paged), idsOf([]store.Memory{one, two, three, learned}); !slices.Equal(got, want) {
		t.Errorf("pages: %v, want %v", got, want)
	}
}

func idsOf(ms []store.Memory) []string {
	ids := []string{}
	for _, m := range ms {
		ids = append(ids, m.ID)
	}
	slices.Sort(ids)
	return ids
}

func subjectIs(ms []store.Memory, subject string) []store.Memory {
	return slices.DeleteFunc(slices.Clone(ms), func(m store.Memory) bool { return store.Fold(m.Subject) != subject })
}

// The working layer is what was said in open sessions, listed and searched like
// memories and kept as none.
func TestTheWorkingLayer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.conversation("Hindsight-User: ann", "Hindsight-Session: kitchen")
	id := c.say("The kitchen budget is 4000 euros.").session()
	c.say("厨房要浅蓝色的瓷砖。")
	w.conversation("Hindsight-User: bob").say("The garage budget is 700 euros.")
	got := w.list("layer=working&scope=user:ann")
	if len(got) != 4 || got[3].Text != "The kitchen budget is 4000 euros." || got[1].Text != "厨房要浅蓝色的瓷砖。" ||
		got[3].Layer != store.Working || got[3].AttributedTo != store.ByUser || got[3].Evidence[0].Session != id || got[2].AttributedTo != store.ByAssistant {
		t.Fatalf("working: %+v", got)
	}
	for _, session := range []string{id, "kitchen"} {
		if n := len(w.list("layer=working&session=" + session)); n != 4 {
			t.Errorf("session %s: %d events", session, n)
		}
	}
	if n := len(w.list("layer=working")); n != 6 {
		t.Errorf("all open sessions: %d events", n)
	}
	if n := len(w.list("layer=working&type=user_fact")) + len(w.list("layer=working&state=archived")) + len(w.list("layer=working&scope=shared")) + len(w.list("layer=working&until=2020-01-01T00:00:00Z")); n != 0 {
		t.Errorf("filtered: %d events", n)
	}
	for q, want := range map[string]string{"kitchen budget": "4000", "瓷砖什么颜色": "浅蓝"} {
		found := w.search(map[string]any{"query": q, "layers": []string{"working"}, "session": id})
		if len(found.Results) == 0 || !strings.Contains(found.Results[0].Memory.Text, want) || found.Results[0].Score <= 0 || found.Results[0].Score > 1 {
			t.Errorf("%s: %+v", q, found.Results)
		}
	}
	if found := w.search(map[string]any{"query": "budget", "layers": []string{"working"}, "scopes": []string{"user:bob"}}); len(found.Results) == 0 || strings.Contains(found.Results[0].Memory.Text, "kitchen") {
		t.Errorf("bob's: %+v", found.Results)
	}
	m := w.remember("ann", `"text":"The budget of the kitchen was agreed.","type":"event"`)
	found := w.search(map[string]any{"query": "kitchen budget", "layers": []string{"working", "episodic"}, "scopes": []string{"user:ann"}})
	layers := map[store.Layer]int{}
	for _, r := range found.Results {
		layers[r.Memory.Layer]++
	}
	if layers[store.Working] == 0 || layers[store.Episodic] != 1 {
		t.Errorf("both layers: %+v", found.Results)
	}
	// Page by page, each once.
	var paged []store.Memory
	for cursor := ""; ; {
		var v struct {
			Memories   []store.Memory
			NextCursor string `json:"next_cursor"`
		}
		w.decode(w.admin(http.MethodGet, "/api/v1/memories?layer=working&limit=4&cursor="+cursor, ""), &v)
		paged = append(paged, v.Memories...)
		if cursor = v.NextCursor; cursor == "" {
			break
		}
	}
	if ids := idsOf(paged); len(ids) != 6 || len(slices.Compact(ids)) != 6 {
		t.Errorf("pages: %v", ids)
	}
	if status, _ := w.tryAdmin(http.MethodGet, "/api/v1/memories/"+got[0].ID, ""); status != http.StatusNotFound {
		t.Errorf("an event is a memory: %d", status)
	}
	if live := w.memories("ann"); len(live) != 1 || live[0].ID != m.ID {
		t.Errorf("kept: %+v", live)
	}
	w.close(id)
	if n := len(w.list("layer=working&session=" + id)); n != 0 {
		t.Errorf("after its end: %d events", n)
	}
}
