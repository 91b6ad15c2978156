package badgerdb

import (
	"fmt"
	"testing"
	"time"

	"hindsight/store"
)

func TestFade(t *testing.T) {
	t.Parallel()
	clk := newClock()
	s := open(t, Config{Now: clk.now})
	old := put(t, s.Store, written("Old."))
	edited := put(t, s.Store, written("Edited meanwhile."))
	used := put(t, s.Store, written("Used meanwhile."))
	dull := put(t, s.Store, written("Dull."))
	sources, product := notes(t, s.Store, clk)
	product = must[store.Memory](t)(s.Consolidate(t.Context(), store.Job{}, product, sources))
	product = must[store.Memory](t)(s.EditMemory(t.Context(), product.ID, func(m *store.Memory) error { m.State = store.Archived; return nil }))
	fate := func(m store.Memory, do store.FateKind) store.Fate {
		return store.Fate{ID: m.ID, Do: do, To: 0.1, Revision: m.Revision, LastUsed: m.LastUsed, State: m.State}
	}
	fates := []store.Fate{
		fate(old, store.FateArchive), fate(edited, store.FateArchive), fate(used, store.FateArchive),
		fate(dull, store.FateLower), fate(product, store.FateDelete), {ID: "mnone", Do: store.FateArchive},
	}
	must[store.Memory](t)(s.EditMemory(t.Context(), edited.ID, func(m *store.Memory) error { m.Importance = 1; return nil }))
	if err := s.change(func(t *tx) error {
		m, at, err := t.memory(used.ID)
		m.LastUsed = clk.now()
		if err == nil {
			err = s.storeMemory(t, at, &m)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if done := must[[]string](t)(s.Fade(t.Context(), "other", fates)); len(done) != 0 {
		t.Errorf("another tenant's: %v", done)
	}
	done := must[[]string](t)(s.Fade(t.Context(), "acme", fates))
	if len(done) != 3 {
		t.Errorf("done %v", done)
	}
	if m := must[store.Memory](t)(s.Memory(t.Context(), old.ID)); m.State != store.Archived || m.ArchivedAt.IsZero() || s.Gone(old.ID) {
		t.Errorf("%+v", m)
	}
	if m := must[store.Memory](t)(s.Memory(t.Context(), dull.ID)); m.Importance != 0.1 || m.State != store.Active {
		t.Errorf("%+v", m)
	}
	if n := count(t, s.Store, famForgotten); n != 0 {
		t.Errorf("%d tombstones", n)
	}
	for _, id := range append(product.SourceIDs, product.ID) {
		if _, err := s.Memory(t.Context(), id); err == nil {
			t.Errorf("%s is still there", id)
		}
	}
	// What faded may be learned and written again, and comes back.
	if m := must[store.Memory](t)(s.RestoreMemory(t.Context(), old.ID, 0)); m.State != store.Active {
		t.Errorf("%+v", m)
	}
}

// Many large memories are more than one transaction holds.
func TestFadeInPieces(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	var fates []store.Fate
	for i := range 50 {
		m := written(fmt.Sprintf("Note %d.", i))
		for range 20 {
			m.Evidence = append(m.Evidence, store.Evidence{Session: "s", Quote: string(make([]byte, 300)), Context: fmt.Sprintf("%01000d", i), Time: time.Now()})
		}
		m = put(t, s.Store, m)
		fates = append(fates, store.Fate{ID: m.ID, Do: store.FateArchive, Revision: m.Revision, State: m.State})
	}
	if done, err := s.Fade(t.Context(), "acme", fates); err != nil || len(done) != 50 {
		t.Errorf("%d, %v", len(done), err)
	}
}
