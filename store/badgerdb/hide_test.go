package badgerdb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"hindsight/store"
)

// eraseUnswept erases a scope and holds the sweep up until the store is closed or
// the returned function is called.
func eraseUnswept(t *testing.T, s *Store, tenant string, sc store.Scope) (rec store.Receipt, sweep func()) {
	t.Helper()
	flush(t, s)
	s.write.Lock() // which the sweep needs and reading doesn't
	rec = store.Receipt{Tenant: tenant, Scope: sc}
	err := s.erase(s.h, sc, time.Time{}, true, &rec)
	sweep = sync.OnceFunc(func() { s.squeezeSoon(); s.write.Unlock() })
	t.Cleanup(sweep) // before the store is closed
	if err != nil {
		t.Fatal(err)
	}
	return rec, sweep
}

// rowsLeft counts what still lies at a scope's place, seen or not.
func rowsLeft(t *testing.T, s *Store, tenant string, sc store.Scope) (n int) {
	t.Helper()
	err := s.view(func(v view) error {
		at := v.h.at(tenant, sc)
		for r := range v.all(nil, nil) {
			if is, ok := placeOf(r.item); ok && is == at {
				n++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// nothingOf checks every way to what fill left of a session and its memory.
func nothingOf(t *testing.T, s *Store, o store.Owner, session string, m store.Memory) {
	t.Helper()
	found := func(what string, err error) {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := s.Memory(t.Context(), m.ID)
	found("memory", err)
	_, err = s.Revisions(t.Context(), m.ID)
	found("revisions", err)
	_, err = s.Session(t.Context(), o, session)
	found("session", err)
	_, err = s.FindSession(t.Context(), session)
	found("session by id", err)
	_, err = s.Exchange(t.Context(), session+"-x")
	found("exchange", err)
	_, err = s.Why(t.Context(), session+"-x")
	found("why", err)
	if !s.Gone(m.ID) {
		t.Error("blocks with the memory are replayed")
	}
	page, _, err := s.Memories(t.Context(), store.MemoryFilter{Tenant: o.Tenant, Scope: o.Scope()})
	all, _, err2 := s.ScopeMemories(t.Context(), o.Tenant, o.Scope())
	blocks, err3 := s.LoadLedger(t.Context(), o, session)
	talks, _, err4 := s.Sessions(t.Context(), store.SessionFilter{Tenant: o.Tenant, User: o.User})
	anchors, err5 := s.Anchors(t.Context(), o, []store.Hash{{3}})
	vectors := 0
	_, err6 := s.ScopeVectors(t.Context(), o.Tenant, o.Scope(), func(string, []float32) { vectors++ })
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	if n := len(page) + len(all) + len(blocks) + len(talks) + len(anchors[0]) + vectors; n != 0 {
		t.Errorf("found: %d and %d memories, %d blocks, %d sessions, %d anchors, %d vectors", len(page), len(all), len(blocks), len(talks), len(anchors[0]), vectors)
	}
	for _, x := range must[[]store.Tenant](t)(s.Tenants(t.Context())) {
		for _, c := range x.Scopes {
			if c.Scope == o.Scope() {
				t.Errorf("it is listed: %+v", c)
			}
		}
	}
	if jobs := must[[]store.Job](t)(s.Jobs(t.Context(), "")); len(jobs) > 1 {
		t.Errorf("jobs: %+v", jobs)
	}
}

// Before a row of it is deleted nothing of an erased scope can be read, after a
// crash too, and what is written then is a scope of its own that the sweep leaves.
func TestAnErasedScopeIsHiddenUntilItIsSwept(t *testing.T) {
	t.Parallel()
	clk := newClock()
	cfg := Config{Dir: t.TempDir(), Now: clk.now}
	s := open(t, cfg)
	m := fill(t, s.Store, ann, "s1", clk.now())
	kept := fill(t, s.Store, bob, "s3", clk.now())
	clk.add(time.Minute)
	rec, sweep := eraseUnswept(t, s.Store, "acme", ann.Scope())
	if rec.State != store.ErasureSweeping || rec.Memories != 1 || rec.Exchanges != 2 {
		t.Errorf("receipt %+v", rec)
	}
	nothingOf(t, s.Store, ann, "s1", m)
	if n := rowsLeft(t, s.Store, "acme", ann.Scope()); n < 10 {
		t.Fatalf("%d rows are left: the test proves nothing", n)
	}
	// The same words again, and other ones, at the same place.
	clk.add(time.Minute)
	var again, fresh store.Memory
	err := s.apply(s.h, &tx{}, func(t *tx) (err error) {
		if again, _, err = s.writeMemory(t, written("fact of s1")); err == nil {
			fresh, _, err = s.writeMemory(t, written("said since"))
		}
		return err
	})
	if err != nil || again.ID != m.ID {
		t.Fatalf("written again: %+v, %v", again, err)
	}
	stands := func() {
		t.Helper()
		for _, x := range []store.Memory{again, fresh, kept} {
			if is, err := s.Memory(t.Context(), x.ID); err != nil || is.Text != x.Text || s.Gone(x.ID) {
				t.Errorf("%q: %+v, %v, gone %v", x.Text, is, err, s.Gone(x.ID))
			}
		}
		if n := len(must[[]store.Memory](t)(s.Revisions(t.Context(), again.ID))); n != 0 {
			t.Errorf("%d older forms came back", n)
		}
		if list, _, _ := s.Memories(t.Context(), store.MemoryFilter{Tenant: "acme", Scope: ann.Scope()}); len(list) != 2 {
			t.Errorf("listed: %+v", list)
		}
		if list := must[[]store.Exchange](t)(s.Exchanges(t.Context(), bob, "s3", 0, 0)); len(list) == 0 {
			t.Error("another user's exchanges are gone")
		}
	}
	stands()
	cfg.Dir = killed(t, cfg.Dir)
	sweep()

	s = open(t, cfg)
	stands()
	until(t, "the sweep to end", func() bool {
		return must[store.Receipt](t)(s.Erasure(t.Context(), "acme", ann.Scope(), "")).State == store.ErasureDone
	})
	stands()
	if is := must[store.Receipt](t)(s.Erasure(t.Context(), "acme", ann.Scope(), "")); is.Memories != 1 || !is.ErasedAt.Equal(rec.ErasedAt) {
		t.Errorf("the receipt afterwards: %+v", is)
	}
	// Two memories with two rows each beside their records, and the scope's own.
	if n := rowsLeft(t, s.Store, "acme", ann.Scope()); n != 2*4+1 {
		t.Errorf("%d rows lie there after the sweep", n)
	}
	if n := count(t, s.Store, famHidden); n != 0 {
		t.Errorf("%d marks are left", n)
	}
}

// killed is a directory as the store's would be, had it been killed just now. The
// caller holds the write lock, or the store is closed.
func killed(t *testing.T, dir string) string {
	t.Helper()
	to := copyDir(t, dir)
	ring, err := os.ReadFile(filepath.Join(dir, ScopeKeysName))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, ScopeKeysName), ring, 0o600)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return to
}

// A backup that is taken while an erased scope is swept holds nothing of it.
func TestABackupLeavesOutWhatIsErased(t *testing.T) {
	t.Parallel()
	clk := newClock()
	s := open(t, Config{Now: clk.now})
	m := fill(t, s.Store, ann, "s1", clk.now())
	kept := fill(t, s.Store, bob, "s3", clk.now())
	must[string](t)(s.Directory(t.Context()))
	_, sweep := eraseUnswept(t, s.Store, "acme", ann.Scope())
	path := filepath.Join(t.TempDir(), "backup")
	f := must[*os.File](t)(os.Create(path))
	if err := s.Backup(t.Context(), f, 0, ""); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	sweep()
	dir := t.TempDir()
	if _, _, err := Restore(t.Context(), dir, []string{path}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"identity.key", ScopeKeysName} {
		if b, err := os.ReadFile(filepath.Join(s.cfg.Dir, name)); err == nil {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := open(t, Config{Dir: dir, Now: clk.now})
	if _, err := r.Memory(t.Context(), m.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the erased memory: %v", err)
	}
	if n := rowsLeft(t, r.Store, "acme", ann.Scope()); n != 0 {
		t.Errorf("%d rows of the erased scope were restored", n)
	}
	if _, err := r.Memory(t.Context(), kept.ID); err != nil {
		t.Errorf("another user's memory: %v", err)
	}
}
