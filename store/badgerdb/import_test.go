package badgerdb

import (
	"slices"
	"testing"
	"time"

	"hindsight/store"
)

// TestImport brings memories of every state with what refers to what, twice,
// into a store that knows some of it, has forgotten some, and holds an id
// elsewhere.
func TestImport(t *testing.T) {
	t.Parallel()
	from := open(t, Config{})
	first := put(t, from.Store, written("Lives in Oslo."))
	second := put(t, from.Store, written("Lives in Bergen."))
	archived := put(t, from.Store, written("Owns a boat."))
	if _, err := from.ForgetMemory(t.Context(), archived.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := from.EditMemory(t.Context(), first.ID, func(m *store.Memory) error {
		m.State, m.SupersededBy, m.SourceIDs = store.Superseded, second.ID, []string{archived.ID}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	ids := []string{first.ID, second.ID, archived.ID}
	var ms []store.Memory
	for _, id := range ids {
		m, err := from.Memory(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		ms = append(ms, m)
	}
	copies := func() []store.Memory {
		out := slices.Clone(ms)
		for i := range out {
			out[i].SourceIDs = slices.Clone(out[i].SourceIDs)
		}
		return out
	}
	load := func(s *Store, ms []store.Memory, want ...store.ImportResult) []store.Imported {
		t.Helper()
		out, err := s.ImportMemories(t.Context(), ms)
		if err != nil {
			t.Fatal(err)
		}
		var got []store.ImportResult
		for _, o := range out {
			got = append(got, o.Result)
		}
		if !slices.Equal(got, want) {
			t.Errorf("imported: %v, want %v", got, want)
		}
		return out
	}

	to := open(t, Config{})
	load(to.Store, copies(), store.ImportAdded, store.ImportAdded, store.ImportAdded)
	load(to.Store, copies(), store.ImportKnown, store.ImportKnown, store.ImportKnown)
	got, err := to.Memory(t.Context(), first.ID)
	if err != nil || got.State != store.Superseded || got.SupersededBy != second.ID || got.SourceIDs[0] != archived.ID || !got.CreatedAt.Equal(first.CreatedAt) || got.Change.By != store.Copied {
		t.Errorf("the copy: %+v, %v", got, err)
	}
	// What was forgotten there isn't learned here.
	if _, err := to.EraseMemory(t.Context(), second.ID); err != nil {
		t.Fatal(err)
	}
	load(to.Store, copies(), store.ImportKnown, store.ImportForgotten, store.ImportKnown)
	fresh := written("Owns a boat.")
	fresh.ID = ""
	load(to.Store, []store.Memory{fresh}, store.ImportForgotten)
	// Unless the user has said it since.
	fresh.Evidence = []store.Evidence{{Session: "s", Turn: 1, Quote: "I own a boat.", Time: time.Now().Add(time.Hour)}}
	fresh.AttributedTo = store.ByUser
	fresh.Text = "Lives in Bergen."
	load(to.Store, []store.Memory{fresh}, store.ImportAdded)

	// Into another tenant of the store that holds the ids: they are replaced, in
	// the references too, and found again.
	other := copies()
	for i := range other {
		other[i].Tenant = "other"
	}
	out := load(from.Store, other, store.ImportAdded, store.ImportAdded, store.ImportAdded)
	if slices.Contains(ids, out[0].ID) {
		t.Errorf("an id of another tenant was taken: %v", out)
	}
	got, err = from.Memory(t.Context(), out[0].ID)
	if err != nil || got.Tenant != "other" || got.SupersededBy != out[1].ID || got.SourceIDs[0] != out[2].ID {
		t.Errorf("the references: %+v, %v", got, err)
	}
	again := copies()
	for i := range again {
		again[i].Tenant = "other"
	}
	load(from.Store, again, store.ImportKnown, store.ImportKnown, store.ImportKnown)
	if m, err := from.Memory(t.Context(), first.ID); err != nil || m.Tenant != "acme" {
		t.Errorf("the original: %+v, %v", m, err)
	}
}
