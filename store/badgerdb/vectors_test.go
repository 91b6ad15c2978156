package badgerdb

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hindsight/store"
)

func model(name string) store.EmbeddingModel {
	return store.EmbeddingModel{Name: name, Dim: 3, Fingerprint: []float32{0.1, 0.2, 0.3}}
}

// unembedded lists the texts of the memories that wait, up to n.
func unembedded(t *testing.T, s *Store, n int) []store.Memory {
	t.Helper()
	return must[[]store.Memory](t)(s.Unembedded(t.Context(), n))
}

// settled says that no memory waits for its vector.
func settled(t *testing.T, s *Store) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if list, err := s.Unembedded(ctx, 10); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d memories wait, %v", len(list), err)
	}
}

func scopeVectors(t *testing.T, s *Store) map[string][]float32 {
	t.Helper()
	out := map[string][]float32{}
	must[uint64](t)(s.ScopeVectors(t.Context(), "acme", ann.Scope(), func(id string, v []float32) { out[id] = append([]float32(nil), v...) }))
	return out
}

func sameVectors(t *testing.T, want, got map[string][]float32) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-4)); d != "" {
		t.Errorf("vectors (-want +got):\n%s", d)
	}
}

func TestVectorsFollowTheTexts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	tea := put(t, s.Store, written("tea"))
	settled(t, s.Store) // no model yet
	if err := s.UseVectors(t.Context(), model("a"), false); err != nil {
		t.Fatal(err)
	}
	list := unembedded(t, s.Store, 10)
	if len(list) != 1 || list[0].ID != tea.ID {
		t.Fatalf("%+v wait", list)
	}
	settled(t, s.Store)
	want := map[string][]float32{tea.ID: {0.6, -0.8, 0}}
	if err := s.PutVectors(t.Context(), list, [][]float32{want[tea.ID]}); err != nil {
		t.Fatal(err)
	}
	sameVectors(t, want, scopeVectors(t, s.Store))

	// What doesn't change the text leaves the vector; a changed text drops it.
	version := s.VectorVersion("acme", ann.Scope())
	edit := func(fn func(*store.Memory)) {
		t.Helper()
		must[store.Memory](t)(s.EditMemory(t.Context(), tea.ID, func(m *store.Memory) error { fn(m); return nil }))
	}
	edit(func(m *store.Memory) { m.Importance = 0.1 })
	settled(t, s.Store)
	if v := s.VectorVersion("acme", ann.Scope()); v != version {
		t.Error("another importance changed the vectors")
	}
	edit(func(m *store.Memory) { m.Text = "coffee" })
	sameVectors(t, map[string][]float32{}, scopeVectors(t, s.Store))
	gone := false
	if now, ok := s.VectorChanges("acme", ann.Scope(), version, func(id string, v []float32) { gone = id == tea.ID && v == nil }); !ok || !gone || now == version {
		t.Errorf("the change: ok %v, gone %v, version %d after %d", ok, gone, now, version)
	}
	// The vector of the text before comes too late.
	if err := s.PutVectors(t.Context(), list, [][]float32{{1, 0, 0}}); err != nil {
		t.Fatal(err)
	}
	sameVectors(t, map[string][]float32{}, scopeVectors(t, s.Store))
	if list = unembedded(t, s.Store, 10); len(list) != 1 || list[0].Text != "coffee" {
		t.Errorf("%+v wait", list)
	}

	// A restart before it is embedded forgets nothing.
	s.stop()
	s = open(t, Config{Dir: dir})
	if err := s.UseVectors(t.Context(), model("a"), false); err != nil {
		t.Fatal(err)
	}
	if list = unembedded(t, s.Store, 10); len(list) != 1 || list[0].Text != "coffee" {
		t.Errorf("%+v wait after a restart", list)
	}
	if have, n, err := s.CountVectors(t.Context()); have != 0 || n != 1 || err != nil {
		t.Errorf("%d of %d embedded, %v", have, n, err)
	}
	if err := s.PutVectors(t.Context(), list, [][]float32{{0, 1, 0}}); err != nil {
		t.Fatal(err)
	}
	must[store.Receipt](t)(s.EraseMemory(t.Context(), tea.ID))
	if n := count(t, s.Store, famVector); n != 0 {
		t.Errorf("%d vectors of an erased memory", n)
	}
}

func TestVectorsOfTwoModelsAreNeverMixed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	for i := range 5 {
		put(t, s.Store, written(fmt.Sprint("memory ", i)))
	}
	use := func(m store.EmbeddingModel, renew bool) error { return s.UseVectors(t.Context(), m, renew) }
	fill := func(n int) {
		t.Helper()
		list := unembedded(t, s.Store, n)
		values := make([][]float32, len(list))
		for i := range values {
			values[i] = []float32{1, 0, 0}
		}
		if err := s.PutVectors(t.Context(), list, values); err != nil {
			t.Fatal(err)
		}
	}
	if err := use(model("a"), false); err != nil {
		t.Fatal(err)
	}
	fill(10)
	close := model("a")
	close.Fingerprint = []float32{0.1005, 0.2, 0.3}
	if err := use(close, false); err != nil {
		t.Errorf("a fingerprint within 0.001: %v", err)
	}
	drifted := model("a")
	drifted.Fingerprint = []float32{0.11, 0.2, 0.3}
	wider := model("a")
	wider.Dim = 4
	for _, m := range []store.EmbeddingModel{model("b"), drifted, wider} {
		var other *store.OtherModel
		if err := use(m, false); !errors.As(err, &other) || other.Stored.Name != "a" {
			t.Errorf("%v: %v", m, err)
		}
		if got := scopeVectors(t, s.Store); len(got) != 0 {
			t.Errorf("%d vectors of another model are given out", len(got))
		}
		settled(t, s.Store)
	}
	if err := use(model("b"), true); err != nil {
		t.Fatal(err)
	}
	fill(2)
	if got := scopeVectors(t, s.Store); len(got) != 2 {
		t.Errorf("%d vectors, want the 2 new ones", len(got))
	}
	s.stop()
	s = open(t, Config{Dir: dir}) // it goes on where it was
	if err := use(model("b"), true); err != nil {
		t.Fatal(err)
	}
	if have, n, err := s.CountVectors(t.Context()); have != 2 || n != 5 || err != nil {
		t.Errorf("%d of %d embedded, %v", have, n, err)
	}
	fill(10)
	if got := scopeVectors(t, s.Store); len(got) != 5 {
		t.Errorf("%d vectors, want 5", len(got))
	}
	settled(t, s.Store)
}

func TestVectorsGoWithTheirScope(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	put(t, s.Store, written("tea"))
	if err := s.UseVectors(t.Context(), model("a"), false); err != nil {
		t.Fatal(err)
	}
	if err := s.PutVectors(t.Context(), unembedded(t, s.Store, 1), [][]float32{{1, 0, 0}}); err != nil {
		t.Fatal(err)
	}
	if err := s.LinkTenants(t.Context(), "acme", "new"); err != nil {
		t.Fatal(err)
	}
	if got := scopeVectors(t, s.Store); len(got) != 1 { // under the old name too
		t.Errorf("%d vectors after the link", len(got))
	}
	must[store.Receipt](t)(s.EraseScope(t.Context(), "new", ann.Scope()))
	if n := count(t, s.Store, famVector); n != 0 {
		t.Errorf("%d vectors of an erased scope", n)
	}
}

func TestVectorForm(t *testing.T) {
	t.Parallel()
	var d vectorDecoder
	for _, v := range [][]float32{{0, 0}, {1, -1, 0.5}, {1e-9, 2e-9}, nil} {
		if err := d.decode(appendVector(nil, "m1", v)); err != nil || d.id != "m1" || len(d.values) != len(v) {
			t.Fatalf("%v became %v of %q, %v", v, d.values, d.id, err)
		}
		for i := range v {
			if diff := math.Abs(float64(v[i] - d.values[i])); diff > 1e-4*math.Abs(float64(v[i]))+1e-12 {
				t.Errorf("%v became %v", v, d.values)
			}
		}
	}
	good := appendVector(nil, "m1", []float32{1, 2})
	for n := range good {
		if n == len(good)-2 || n == len(good)-4 { // a shorter vector
			continue
		}
		if d.decode(good[:n]) == nil {
			t.Errorf("%d of %d bytes were read", n, len(good))
		}
	}
}

// TestALearnedMemoryBringsItsVector applies an outcome with vectors, of which one
// belongs to another text than the memory has by now.
func TestALearnedMemoryBringsItsVector(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	if err := s.UseVectors(t.Context(), model("a"), false); err != nil {
		t.Fatal(err)
	}
	first, second := written("tea"), written("jam")
	first.ID, second.ID = "m1", "m2"
	want := map[string][]float32{"m1": {0.6, -0.8, 0}, "m2": {0, 1, 0}}
	reflect(t, s.Store, c, 0, store.Outcome{Memories: []store.Memory{first, second}, Vectors: want})
	sameVectors(t, want, scopeVectors(t, s.Store))
	settled(t, s.Store)
	first.Text = "another" // of a new memory, whose id is taken: the old text stays
	reflect(t, s.Store, c, 1, store.Outcome{Memories: []store.Memory{first}, Vectors: map[string][]float32{"m1": {1, 0, 0}}})
	sameVectors(t, want, scopeVectors(t, s.Store))
}
