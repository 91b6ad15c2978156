package index

import (
	"testing"
	"time"

	"hindsight/store"
)

func TestOnlyTheLastAboutOneThingIsFound(t *testing.T) {
	day := func(n int) time.Time { return time.Date(2026, 5, n, 9, 0, 0, 0, time.UTC) }
	badge := func(id, text string, at time.Time, by store.Speaker) store.Memory {
		return store.Memory{ID: id, State: store.Active, AttributedTo: by, Text: text, About: "badge", CreatedAt: at, Evidence: []store.Evidence{{Session: id, Turn: 1, Time: at}}}
	}
	first, then := badge("m1", "badge 4411", day(1), store.ByUser), badge("m2", "badge 4412", day(2), store.ByUser)
	tool := badge("m3", "badge 4413", day(9), store.ByTool)
	other := store.Memory{ID: "m4", State: store.Active, Text: "badge holder", CreatedAt: day(1)}
	want := func(s *scope, ids ...string) {
		t.Helper()
		n := 0
		for _, d := range s.docs {
			if d.active {
				n++
			}
		}
		for _, id := range ids {
			if !s.docs[s.byID[id]].active {
				t.Errorf("%s isn't found", id)
			}
		}
		if n != len(ids) || s.count[own] != len(ids) {
			t.Errorf("%d are found, %d counted, want %v", n, s.count[own], ids)
		}
	}
	for _, order := range [][]store.Memory{{first, then, tool, other}, {tool, other, then, first}, {then, first, other, tool}} {
		s := newScope(order, 1)
		want(s, "m2", "m4")
		a := new(analyser)
		gone := then
		gone.State = store.Archived
		s.put(a, gone)
		want(s, "m1", "m4")
		s.sweep()
		s.put(a, then)
		want(s, "m2", "m4")
		gone.State = store.Superseded // no longer kept at all
		s.put(a, gone)
		want(s, "m1", "m4")
		restored := first
		restored.Evidence = append(restored.Evidence, store.Evidence{Session: "m9", Turn: 1, Time: day(20)})
		s.put(a, then)
		s.put(a, restored)
		want(s, "m1", "m4")
	}
}
