package badgerdb

import (
	"testing"

	"hindsight/store"
)

// TestImportRevisions brings older forms to memories that an import brought, and to
// no others.
func TestImportRevisions(t *testing.T) {
	t.Parallel()
	from := open(t, Config{})
	first := put(t, from.Store, written("Lives in Oslo."))
	for _, text := range []string{"Lives in Bergen.", "Lives in Turku."} {
		must[store.Memory](t)(from.EditMemory(t.Context(), first.ID, func(m *store.Memory) error { m.Text = text; return nil }))
	}
	now := must[store.Memory](t)(from.Memory(t.Context(), first.ID))
	older := must[[]store.Memory](t)(from.Revisions(t.Context(), first.ID))
	if len(older) != 2 {
		t.Fatalf("older forms: %+v", older)
	}
	bring := func(s *Store, want ...store.ImportResult) {
		t.Helper()
		for i, done := range must[[]store.Imported](t)(s.ImportRevisions(t.Context(), older)) {
			if done.Result != want[i] {
				t.Errorf("revision %d (%s): %s, want %s", older[i].Revision, older[i].Text, done.Result, want[i])
			}
		}
	}
	said := func(s *Store) (out []string) {
		for _, m := range must[[]store.Memory](t)(s.Revisions(t.Context(), first.ID)) {
			out = append(out, m.Text)
		}
		return out
	}

	to := open(t, Config{}).Store
	bring(to, store.ImportLeft, store.ImportLeft) // the memory isn't here
	must[[]store.Imported](t)(to.ImportMemories(t.Context(), []store.Memory{now}))
	bring(to, store.ImportAdded, store.ImportAdded)
	bring(to, store.ImportKnown, store.ImportKnown)
	if m := must[store.Memory](t)(to.Memory(t.Context(), first.ID)); m.Revision != now.Revision || m.Text != now.Text {
		t.Errorf("the memory is %+v", m)
	}
	if back := must[store.Memory](t)(to.RestoreMemory(t.Context(), first.ID, 1)); back.Text != "Lives in Oslo." || len(said(to)) != 3 {
		t.Errorf("restored %q over %q", back.Text, said(to))
	}

	changed := open(t, Config{}).Store
	must[[]store.Imported](t)(changed.ImportMemories(t.Context(), []store.Memory{now}))
	must[store.Memory](t)(changed.EditMemory(t.Context(), first.ID, func(m *store.Memory) error { m.Text = "Lives in Kiel."; return nil }))
	bring(changed, store.ImportLeft, store.ImportKnown) // the number 1 is what was imported

	forgot := open(t, Config{}).Store
	oslo := put(t, forgot, written("Lives in Oslo."))
	must[store.Receipt](t)(forgot.EraseMemory(t.Context(), oslo.ID))
	must[[]store.Imported](t)(forgot.ImportMemories(t.Context(), []store.Memory{now}))
	bring(forgot, store.ImportAdded, store.ImportForgotten)

	elsewhere := now
	elsewhere.Scope = store.UserScope("eve")
	other := open(t, Config{}).Store
	must[[]store.Imported](t)(other.ImportMemories(t.Context(), []store.Memory{elsewhere}))
	bring(other, store.ImportLeft, store.ImportLeft)
}
