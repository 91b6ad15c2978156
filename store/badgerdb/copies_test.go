package badgerdb

import (
	"cmp"
	"errors"
	"testing"
	"time"

	"hindsight/store"
)

func TestDropCopy(t *testing.T) {
	t.Parallel()
	c, all, cloud := newFleet(t, 2)
	a := all[0]
	m := put(t, a.Store, written("tea"))
	must[store.Memory](t)(a.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Text = "green tea"; return nil }))
	forgotten := put(t, a.Store, written("cake"))
	must[store.Memory](t)(a.ForgetMemory(t.Context(), forgotten.ID))
	c.add(time.Hour)
	if _, err := a.DropCopy(t.Context(), "acme", ann.Scope()); !errors.Is(err, ErrInUse) {
		t.Errorf("dropped before it was shipped: %v", err)
	}
	cloud.settle(all...)
	a.UseCopy("acme", ann.Scope())
	used := c.now()
	if _, err := a.DropCopy(t.Context(), "acme", ann.Scope()); !errors.Is(err, ErrInUse) {
		t.Errorf("dropped while it was used: %v", err)
	}
	c.add(time.Hour)
	tell(t, a.Store, said(ann, "s", "x", "hi", c.now()))
	cloud.settle(all...)
	if _, err := a.DropCopy(t.Context(), "acme", ann.Scope()); !errors.Is(err, ErrInUse) {
		t.Errorf("dropped under an open session: %v", err)
	}
	reflectSession(t, a.Store, "s")
	cloud.settle(all...)
	version := a.ScopeVersion("acme", ann.Scope())
	copies := must[[]store.Copy](t)(a.Copies(t.Context()))
	if len(copies) != 1 || !copies[0].Used.Equal(used) || copies[0].Bytes == 0 || copies[0].Scope != ann.Scope() {
		t.Errorf("copies %+v", copies)
	}
	freed, err := a.DropCopy(t.Context(), "acme", ann.Scope())
	if err != nil || freed != copies[0].Bytes {
		t.Fatalf("freed %d, %v, want %d", freed, err, copies[0].Bytes)
	}
	if _, _, ok := a.ScopeChanges("acme", ann.Scope(), version); ok {
		t.Error("an index doesn't hear of it")
	}
	if got := activeTexts(t, a.Store, ann.Scope()); got != "" {
		t.Errorf("left: %s", got)
	}
	if !a.Gone(forgotten.ID) {
		t.Error("it has forgotten what was forgotten")
	}
	if n, _ := a.OutboxDepth(); n != 0 {
		t.Errorf("dropping a copy ships %d rows", n)
	}
	// Taken in again it is as it was, and the shared store is told nothing.
	cloud.give(a.Store, cmp.Compare[string])
	if got := activeTexts(t, a.Store, ann.Scope()); got != "green tea" {
		t.Errorf("taken in again: %s", got)
	}
	if n, _ := a.OutboxDepth(); n != 0 {
		t.Errorf("taking it in ships %d rows", n)
	}
	if old := must[[]store.Memory](t)(a.Revisions(t.Context(), m.ID)); len(old) != 1 || old[0].Text != "tea" {
		t.Errorf("older forms %+v", old)
	}
	cfg := a.cfg
	a.stop()
	a = open(t, cfg)
	if copies = must[[]store.Copy](t)(a.Copies(t.Context())); len(copies) != 1 || !copies[0].Used.Equal(used) {
		t.Errorf("copies after a restart: %+v", copies)
	}
}

// Of users who come once and of whom nothing is kept nothing stays in memory.
func TestUseOfNothingIsForgotten(t *testing.T) {
	t.Parallel()
	c, all, _ := newFleet(t, 1)
	a := all[0]
	put(t, a.Store, written("tea"))
	a.UseCopy("acme", ann.Scope())
	a.UseCopy("acme", store.UserScope("passer-by"))
	c.add(2 * copyRest)
	if err := a.with(a.keepCopies); err != nil {
		t.Fatal(err)
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	if len(a.mem.copies) != 1 {
		t.Errorf("the use of %d scopes is kept, want that of one", len(a.mem.copies))
	}
}
