package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// past is a memory's history as the management API tells it.
func (w *world) past(id string) admin.History {
	w.t.Helper()
	var h admin.History
	w.decode(w.admin(http.MethodGet, "/api/v1/memories/"+id+"/history", ""), &h)
	return h
}

// A correction that was none is undone, and the undoing too; at every step one
// form is live and only that one is recalled, in both languages.
func TestUndoACorrection(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	for name, c := range map[string]struct{ first, then, question, old, new string }{
		"English": {"I live in Lisbon.", "I live in Oslo.", "Where do I live?", "Lisbon", "Oslo"},
		"Chinese": {"我住在杭州。", "我住在成都。", "我住在哪里？", "杭州", "成都"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			before, _ := w.learn(c.first)
			after, _ := w.learn(c.then)
			if len(before) != 1 || len(after) != 1 {
				t.Fatalf("kept %q, then %q", texts(before), texts(after))
			}
			old, newer := before[0].ID, after[0].ID
			asked := 0
			check := func(step, id, want, not string) {
				t.Helper()
				if live := w.memories("local"); len(live) != 1 || live[0].ID != id {
					t.Fatalf("%s: live %+v", step, live)
				}
				asked++
				r := w.conversation().add("system", fmt.Sprint("Talk ", asked)).say(c.question) // the same bytes would get the same block
				if body := string(w.last().body); !strings.Contains(body, want) || strings.Contains(body, not) {
					t.Errorf("%s: %s, %s", step, r.memory(), body)
				}
			}
			check("corrected", newer, c.new, c.old)
			w.admin(http.MethodPost, "/api/v1/memories/"+old+"/restore", "")
			check("undone", old, c.old, c.new)
			w.restart()
			check("undone, after a restart", old, c.old, c.new)
			w.admin(http.MethodPost, "/api/v1/memories/"+newer+"/restore", "")
			check("done again", newer, c.new, c.old)

			h := w.past(newer)
			var by []store.Cause
			for _, r := range h.Revisions {
				by = append(by, r.Change.By)
			}
			if len(by) != 3 || by[0] != store.Restored || by[1] != store.Undone || by[2] != store.Reflection || h.Revisions[2].Change.Session == "" {
				t.Errorf("changed by %v", by)
			}
			if len(h.Chain) != 2 || h.Chain[0].ID != old || h.Chain[0].SupersededBy != newer || h.Chain[1].Evidence[0].Quote == "" {
				t.Errorf("chain %+v", h.Chain)
			}
		})
	}
}
