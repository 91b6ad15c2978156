package badgerdb

import (
	"cmp"
	"testing"
	"time"

	"hindsight/store"
)

func TestWhatOneSidecarLearnsAnotherHas(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 3)
	a, b, third := all[0], all[1], all[2]
	tea := put(t, a.Store, written("likes tea"))
	put(t, b.Store, written("lives in Bonn"))
	cloud.settle(all...)
	for i, s := range all {
		if got := activeTexts(t, s.Store, ann.Scope()); got != "likes tea|lives in Bonn" {
			t.Errorf("sidecar %d: %s", i, got)
		}
	}
	// Both change it at once, one forgets it meanwhile.
	c.add(time.Second)
	must[store.Memory](t)(a.EditMemory(t.Context(), tea.ID, func(m *store.Memory) error { m.Text = "likes green tea"; return nil }))
	c.add(time.Second)
	for range 3 {
		must[store.Memory](t)(b.EditMemory(t.Context(), tea.ID, func(m *store.Memory) error { m.Importance += 0.1; return nil }))
	}
	must[store.Memory](t)(third.ForgetMemory(t.Context(), tea.ID))
	cloud.settle(all...)
	for i, s := range all {
		if got := activeTexts(t, s.Store, ann.Scope()); got != "lives in Bonn" {
			t.Errorf("sidecar %d: %s", i, got)
		}
		if !s.Gone(tea.ID) {
			t.Errorf("sidecar %d replays what was forgotten", i)
		}
	}
	// Brought back on one, it is back everywhere.
	c.add(time.Second)
	must[store.Memory](t)(b.RestoreMemory(t.Context(), tea.ID, 0))
	cloud.settle(all...)
	for i, s := range all {
		if got := activeTexts(t, s.Store, ann.Scope()); got != "likes tea|lives in Bonn" {
			t.Errorf("sidecar %d: %s", i, got)
		}
		if s.Gone(tea.ID) {
			t.Errorf("sidecar %d doesn't replay what was restored", i)
		}
	}
}

func TestTheIndexAndVectorsFollowWhatIsTakenIn(t *testing.T) {
	t.Parallel()
	all := sidecars(t, 2, nil)
	a, b := all[0], all[1]
	model := store.EmbeddingModel{Name: "m", Dim: 2, Fingerprint: []float32{1, 0}}
	for _, s := range all {
		if err := s.UseVectors(t.Context(), model, false); err != nil {
			t.Fatal(err)
		}
	}
	cloud := newCloud(t)
	m := put(t, a.Store, written("tea"))
	cloud.settle(all...)
	before := b.ScopeVersion("acme", ann.Scope())
	seen := b.VectorVersion("acme", ann.Scope())
	if err := a.PutVectors(t.Context(), []store.Memory{m}, [][]float32{{0.6, 0.8}}); err != nil {
		t.Fatal(err)
	}
	if list := must[[]store.Shipment](t)(a.Outbox(t.Context(), 10)); len(list) != 1 || list[0].Memory == nil || len(list[0].Memory.Vector) != 2 {
		t.Errorf("waiting with the vector: %+v", list)
	}
	m = must[store.Memory](t)(a.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
	cloud.settle(all...)
	list, _, ok := b.ScopeChanges("acme", ann.Scope(), before)
	if !ok || len(list) != 1 || list[0].Importance != 1 {
		t.Errorf("the index hears %v, %+v", ok, list)
	}
	got := 0
	if _, ok := b.VectorChanges("acme", ann.Scope(), seen, func(id string, v []float32) {
		if id == m.ID && len(v) == 2 {
			got++
		}
	}); !ok || got != 1 {
		t.Errorf("%d vectors changed, %v", got, ok)
	}
	// Another text has no vector yet, and not the old one.
	must[store.Memory](t)(a.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Text = "coffee"; return nil }))
	cloud.settle(all...)
	vectors := func() int {
		have, _, err := b.CountVectors(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return have
	}
	if n := vectors(); n != 0 {
		t.Errorf("%d vectors of other words", n)
	}
	// Nor does an older form bring it back.
	if err := b.AbsorbMemories(t.Context(), []store.SharedMemory{{Memory: m, Vector: []float32{0.6, 0.8}}}); err != nil {
		t.Fatal(err)
	}
	if n := vectors(); n != 0 {
		t.Errorf("an older form brings %d vectors", n)
	}
}

func TestForgottenAndLiftedInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, backwards := range []bool{false, true} {
		c, all, cloud := newFleet(t, 2)
		a, b := all[0], all[1]
		m := put(t, a.Store, written("tea"))
		cloud.settle(all...)
		c.add(time.Second)
		must[store.Memory](t)(a.ForgetMemory(t.Context(), m.ID))
		var early []store.SharedRecord
		for _, sh := range must[[]store.Shipment](t)(a.Outbox(t.Context(), 10)) {
			if sh.Record != nil {
				early = append(early, *sh.Record)
			}
		}
		c.add(time.Second)
		must[store.Memory](t)(a.RestoreMemory(t.Context(), m.ID, 0))
		order := cmp.Compare[string]
		if backwards {
			order = func(a, b string) int { return cmp.Compare(b, a) }
		}
		cloud.deliver(a.Store)
		cloud.give(b.Store, order)
		// The tombstone comes late.
		if err := b.AbsorbRecords(t.Context(), early); err != nil {
			t.Fatal(err)
		}
		again := written("Tea!")
		again.ID = "other"
		again.Evidence = []store.Evidence{{Session: "s", Time: c.now().Add(-1500 * time.Millisecond), Quote: "tea"}}
		out := must[store.Job](t)(b.Note(t.Context(), ann, store.Outcome{Memories: []store.Memory{again}}))
		if len(out.Dropped) != 0 || activeTexts(t, b.Store, ann.Scope()) == "" {
			t.Errorf("backwards %v: b takes it for forgotten: %+v, live %q", backwards, out.Dropped, activeTexts(t, b.Store, ann.Scope()))
		}
		cloud.settle(all...)
	}
}
