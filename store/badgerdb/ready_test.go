package badgerdb

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"hindsight/store"
)

// kept is what a snapshot gives back: its parts as one text, and what changed.
type kept struct {
	parts   string
	changed map[string][]float32
	ok      bool
}

func readReady(t *testing.T, s *Store) kept {
	t.Helper()
	k := kept{changed: map[string][]float32{}}
	var err error
	_, _, k.ok, err = s.ReadSnapshot(t.Context(), "acme", ann.Scope(),
		func(p []byte) error { k.parts += string(p) + "|"; return nil },
		func(m store.Memory, v []float32) { k.changed[m.Text] = slices.Clone(v) })
	if err != nil {
		t.Fatal(err)
	}
	if k.ok != s.HasSnapshot("acme", ann.Scope()) {
		t.Errorf("HasSnapshot says %v", !k.ok)
	}
	return k
}

func pieces(texts ...string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, x := range texts {
			if !yield([]byte(x), nil) {
				return
			}
		}
	}
}

func (r running) keep(t *testing.T, version, seen uint64, parts iter.Seq2[[]byte, error]) error {
	t.Helper()
	return r.KeepSnapshot(t.Context(), "acme", ann.Scope(), version, seen, parts)
}

func (r running) versions() (version, seen uint64) {
	return r.ScopeVersion("acme", ann.Scope()), r.VectorVersion("acme", ann.Scope())
}

// holds says whether anything on disk under the scope's snapshots holds a word.
func (r running) holds(t *testing.T, word string) bool {
	t.Helper()
	found := false
	err := r.view(func(v view) error {
		for x := range v.rows([]byte{famReadyPart}, nil) {
			b, err := x.plain()
			if err != nil {
				return err
			}
			found = found || bytes.Contains(b, []byte(word))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestASnapshotAndWhatChangedSince(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	if err := s.UseVectors(t.Context(), model("a"), false); err != nil {
		t.Fatal(err)
	}
	tea, jam := put(t, s.Store, written("tea")), put(t, s.Store, written("jam"))
	if k := readReady(t, s.Store); k.ok {
		t.Fatalf("%+v before any was kept", k)
	}
	version, seen := s.versions()
	put(t, s.Store, written("bread")) // while it is being made
	if err := s.keep(t, version, seen, pieces("one", "two")); err != nil {
		t.Fatal(err)
	}
	if err := s.PutVectors(t.Context(), []store.Memory{tea}, [][]float32{{1, 0, 0}}); err != nil {
		t.Fatal(err)
	}
	must[store.Memory](t)(s.EditMemory(t.Context(), jam.ID, func(m *store.Memory) error { m.Text = "plum jam"; return nil }))
	check := func(want string, texts ...string) {
		t.Helper()
		k := readReady(t, s.Store)
		if !k.ok || k.parts != want || len(k.changed) != len(texts) {
			t.Errorf("read %+v", k)
		}
		for _, x := range texts {
			if v, ok := k.changed[x]; !ok || (len(v) > 0) != (x == "tea" && s.VectorVersion("acme", ann.Scope()) > 0) {
				t.Errorf("%s: changed %v, vector %v", x, ok, v)
			}
		}
	}
	check("one|two|", "bread", "tea", "plum jam")
	s.stop()
	s = open(t, Config{Dir: dir})
	check("one|two|", "bread", "plum jam", "tea") // no model yet: the memories all the same
	if err := s.UseVectors(t.Context(), model("a"), false); err != nil {
		t.Fatal(err)
	}
	check("one|two|", "bread", "tea", "plum jam")
	version, seen = s.versions()
	if err := s.keep(t, version, seen, pieces("three")); err != nil {
		t.Fatal(err)
	}
	check("three|")
	if s.holds(t, "two") {
		t.Error("the old snapshot is still there")
	}
	// Another model's vectors: of no use.
	if err := s.UseVectors(t.Context(), model("b"), true); err != nil {
		t.Fatal(err)
	}
	_, _, ok, err := s.ReadSnapshot(t.Context(), "acme", ann.Scope(), func([]byte) error { return nil }, func(store.Memory, []float32) {})
	if ok || err != nil {
		t.Errorf("another model's snapshot is given: %v, %v", ok, err)
	}
}

// TestForgettingTakesTheSnapshotAway in every way in which a memory can go.
func TestForgettingTakesTheSnapshotAway(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]func(*testing.T, running, store.Memory) error{
		"forget": func(t *testing.T, s running, m store.Memory) error {
			_, err := s.ForgetMemory(t.Context(), m.ID)
			return err
		},
		"erase": func(t *testing.T, s running, m store.Memory) error {
			_, err := s.EraseMemory(t.Context(), m.ID)
			return err
		},
		"erase scope": func(t *testing.T, s running, m store.Memory) error {
			_, err := s.EraseScope(t.Context(), "acme", m.Scope)
			return err
		},
		"link": func(t *testing.T, s running, _ store.Memory) error {
			return s.LinkTenants(t.Context(), "acme", "other")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, Config{})
			m := put(t, s.Store, written("the secret"))
			put(t, s.Store, written("another"))
			version, seen := s.versions()
			if err := s.keep(t, version, seen, pieces("the secret")); err != nil {
				t.Fatal(err)
			}
			if !s.holds(t, "secret") {
				t.Fatal("nothing was kept")
			}
			if err := forget(t, s, m); err != nil {
				t.Fatal(err)
			}
			if s.holds(t, "secret") || readReady(t, s.Store).ok {
				t.Error("the snapshot is still there")
			}
			// One that was made before can't come after.
			if err := s.keep(t, version, seen, pieces("the secret")); !errors.Is(err, errBehind) {
				t.Errorf("an older snapshot was kept: %v", err)
			}
			if s.holds(t, "secret") {
				t.Error("parts of a refused snapshot are left")
			}
		})
	}
}

// TestForgettingWhileASnapshotIsWritten forgets between two of its parts.
func TestForgettingWhileASnapshotIsWritten(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	m := put(t, s.Store, written("the secret"))
	version, seen := s.versions()
	err := s.keep(t, version, seen, func(yield func([]byte, error) bool) {
		if !yield([]byte("the secret"), nil) {
			return
		}
		must[store.Receipt](t)(s.EraseMemory(t.Context(), m.ID))
		if s.holds(t, "secret") {
			t.Error("a part outlived what it shows")
		}
		yield([]byte("more of the secret"), nil)
	})
	if !errors.Is(err, errBehind) || s.holds(t, "secret") || readReady(t, s.Store).ok {
		t.Errorf("after forgetting in between: %v, kept %v", err, s.holds(t, "secret"))
	}
}

// TestNoSnapshotOfBeforeIsKeptAfterADrop changes a memory whose words were to go, which
// stays itself, and then keeps what was made before.
func TestNoSnapshotOfBeforeIsKeptAfterADrop(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	m := put(t, s.Store, written("tea, and the secret"))
	version, seen := s.versions()
	err := s.change(func(t *tx) error {
		old, at, err := t.memory(m.ID)
		if err != nil {
			return err
		}
		if err := s.dropReady(t, at); err != nil {
			return err
		}
		m.Text = "tea"
		return s.putMemory(t, &m, &old)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.keep(t, version, seen, pieces("the secret")); !errors.Is(err, errBehind) || s.holds(t, "secret") {
		t.Errorf("what was made before is kept: %v", err)
	}
	version, seen = s.versions()
	if err := s.keep(t, version, seen, pieces("tea")); err != nil {
		t.Errorf("one of afterwards: %v", err)
	}
}

// TestAHalfWrittenSnapshotIsNone leaves parts without their record, as a kill does.
func TestAHalfWrittenSnapshotIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	put(t, s.Store, written("tea"))
	version, seen := s.versions()
	if err := s.keep(t, version, seen, pieces("good")); err != nil {
		t.Fatal(err)
	}
	err := s.with(func(h *handle) error {
		k := keeper{s: s.Store, h: h, name: scopeName{"acme", ann.Scope()}, at: h.at("acme", ann.Scope()), version: version, seen: seen}
		return k.write(t.Context(), func(yield func([]byte, error) bool) {
			_ = yield([]byte("half"), nil) && yield(nil, context.Canceled)
		})
	})
	if !errors.Is(err, context.Canceled) || !s.holds(t, "half") {
		t.Fatalf("nothing half is there: %v", err)
	}
	s.stop()
	s = open(t, Config{Dir: dir})
	if k := readReady(t, s.Store); !k.ok || k.parts != "good|" {
		t.Errorf("read %+v", k)
	}
	version, seen = s.versions()
	if err := s.keep(t, version, seen, pieces("next")); err != nil {
		t.Fatal(err)
	}
	if s.holds(t, "half") || s.holds(t, "good") {
		t.Error("old parts are left")
	}
}

// TestASnapshotFarBehindIsRefused changes more than a new one may lag behind, and
// wipes notes in several pieces.
func TestASnapshotFarBehindIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, Config{})
	put(t, s.Store, written("first"))
	version, seen := s.versions()
	if err := s.keep(t, version, seen, pieces("one")); err != nil {
		t.Fatal(err)
	}
	var many []store.Memory
	for i := range mostUnready + 1 {
		many = append(many, written(fmt.Sprint("note ", i)))
	}
	must[[]store.Memory](t)(s.PutMemories(t.Context(), many))
	if err := s.keep(t, version, seen, pieces("two")); !errors.Is(err, errBehind) {
		t.Errorf("kept: %v", err)
	}
	if k := readReady(t, s.Store); k.parts != "one|" || len(k.changed) != mostUnready+1 {
		t.Errorf("%q and %d changes", k.parts, len(k.changed))
	}
	version, seen = s.versions()
	if err := s.keep(t, version, seen, pieces("two", strings.Repeat("x", 200<<10))); err != nil {
		t.Fatal(err)
	}
	if k := readReady(t, s.Store); !strings.HasPrefix(k.parts, "two|") || len(k.changed) != 0 {
		t.Errorf("%d bytes and %d changes", len(k.parts), len(k.changed))
	}
}
