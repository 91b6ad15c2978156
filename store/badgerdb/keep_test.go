package badgerdb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

func TestReflectedExchangesGoAfterAWeek(t *testing.T) {
	t.Parallel()
	c := newClock()
	s := open(t, Config{Now: c.now})
	s.Finish(said(ann, "s", "big", strings.Repeat("long ", 100_000), c.now()))
	reflect(t, s.Store, c, 0, store.Outcome{})
	talk(t, s.Store, c, "s", 1, 1) // not reflected
	sweep := func() {
		t.Helper()
		if err := s.with(func(h *handle) error { return s.sweep(t.Context(), h) }); err != nil {
			t.Fatal(err)
		}
	}
	c.add(keepReflected - time.Hour)
	sweep()
	if n := count(t, s.Store, famExchange); n != 3 {
		t.Fatalf("%d exchanges before their time, want 3", n)
	}
	c.add(2 * time.Hour)
	sweep()
	if got := ids(must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, "s", 0, 0))); got != "3:s-1 " {
		t.Errorf("exchanges after their time: %s", got)
	}
	for _, family := range []byte{famPart, famReflected} {
		if n := count(t, s.Store, family); n != 0 {
			t.Errorf("family %q has %d rows left", family, n)
		}
	}
	if x := must[store.Session](t)(s.Session(t.Context(), ann, "s")); x.LastSeq != 3 || x.Cursor != 2 {
		t.Errorf("the session's record: %+v", x)
	}
}

// disk is what a directory takes on the disk, holes not counted.
func disk(t *testing.T, dir string) int64 {
	t.Helper()
	n := int64(0)
	for _, path := range must[[]string](t)(filepath.Glob(filepath.Join(dir, "*"))) {
		if fi, err := os.Stat(path); err == nil && strings.HasSuffix(path, ".sst") {
			n += fi.Size()
		}
	}
	return n
}

func TestSqueezeGivesSpaceBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	src := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 20_000)
	for i := range 300 { // 6 MB that don't compress
		for k := range noise {
			noise[k] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-"[src.IntN(64)]
		}
		s.Finish(said(ann, "s", fmt.Sprint(i), string(noise), time.Now()))
	}
	tell(t, s.Store, said(bob, "t", "bob", "hi", time.Now()))
	squeeze := func() int64 {
		t.Helper()
		if err := s.with(func(h *handle) error { return s.squeeze(h) }); err != nil {
			t.Fatal(err)
		}
		return disk(t, dir)
	}
	full := squeeze()
	rec := must[store.Receipt](t)(s.EraseScope(t.Context(), "acme", ann.Scope()))
	if rec.Exchanges != 300 || full < 3<<20 {
		t.Fatalf("erased %d exchanges of %d bytes", rec.Exchanges, full)
	}
	until(t, "the space to come back", func() bool { return disk(t, dir) < full/10 })
	if got := ids(must[[]store.Exchange](t)(s.Exchanges(t.Context(), bob, "t", 0, 0))); got != "1:bob " {
		t.Errorf("bob's exchanges: %s", got)
	}
}

func TestNamesAreNotInKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	o := store.Owner{Tenant: "tenant-name", User: "user-name", Agent: "agent-name"}
	fill(t, s.Store, o, "session-name", time.Now())
	err := s.view(func(v view) error {
		for r := range v.rows(nil, nil) {
			for _, name := range []string{o.Tenant, o.User, o.Agent, "session-name", "fact"} {
				if bytes.Contains(r.key(), []byte(name)) {
					t.Errorf("the key %q holds %q", r.key(), name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
