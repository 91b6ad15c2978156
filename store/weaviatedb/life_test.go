//go:build weaviate

package weaviatedb_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/internal/weaviatetest"
	"hindsight/store"
	"hindsight/store/index"
	"hindsight/store/weaviatedb"
)

var ann = store.UserScope("ann")

// some makes memories with vectors of their own, numbered on from a number.
func some(sc store.Scope, from, n int) []store.SharedMemory {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	out := make([]store.SharedMemory, n)
	for i := range out {
		k := from + i
		text := fmt.Sprintf("the drawer numbered %d holds %d screws", k, k*7)
		v := make([]float32, 32)
		v[k%32], v[k/32%32], v[(k/1024+5)%32] = 1, v[k/32%32]+0.5, v[(k/1024+5)%32]+0.25
		out[i] = store.SharedMemory{Vector: v, Memory: store.Memory{
			ID: store.MemoryID("acme", sc, "", 0, 0, "", text), Tenant: "acme", Scope: sc, Text: text, State: store.Active, Type: store.UserFact,
			Layer: store.Semantic, Importance: 0.7, CreatedAt: at, UpdatedAt: at, Revision: 1,
		}}
	}
	return out
}

func putAll(t *testing.T, d *weaviatedb.DB, ms []store.SharedMemory) {
	t.Helper()
	failed, err := d.PutMemories(t.Context(), "acme", ms)
	if err != nil || len(failed) > 0 {
		t.Fatalf("put: %v, %v", failed, err)
	}
}

// TestComesAndGoes takes one server through absence, use, a hang, a crash and a
// stop, and asks that nobody ever waits longer than the timeout for it, that the
// state says so, and that it is used again when it is back.
func TestComesAndGoes(t *testing.T) {
	s, err := weaviatetest.Prepare(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Kill)
	const timeout = 2 * time.Second
	d := start(t, s)
	query := index.Query{Tenant: "acme", Scopes: []store.Scope{ann}, Terms: []index.Term{{Text: "drawer", Weight: 1}}, Now: time.Now()}
	refused := func(when string, within time.Duration) {
		t.Helper()
		began := time.Now()
		_, err := d.Search(t.Context(), query)
		if err == nil {
			t.Errorf("%s: a search succeeded", when)
		}
		if took := time.Since(began); took > within {
			t.Errorf("%s: a search took %v", when, took)
		}
	}
	off := new(store.Off)
	if _, err := d.Search(t.Context(), query); !errors.As(err, &off) {
		t.Errorf("absent: %v", err)
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	weaviatetest.AwaitState(t, d, true)
	putAll(t, d, some(ann, 0, 50))

	if err := s.Hang(); err != nil {
		t.Fatal(err)
	}
	refused("hung", timeout+500*time.Millisecond)
	refused("known to hang", 50*time.Millisecond)
	if _, reason := d.State(); !strings.Contains(reason, "Weaviate") {
		t.Errorf("reason %q", reason)
	}
	// Whoever comes while it hangs doesn't block either.
	began := time.Now()
	late := start(t, s)
	refused("late", 50*time.Millisecond)
	if _, err := late.Search(t.Context(), query); err == nil {
		t.Error("a store that never connected answers")
	}
	if took := time.Since(began); took > timeout {
		t.Errorf("beside a hung server a new store took %v", took)
	}
	if err := s.Continue(); err != nil {
		t.Fatal(err)
	}
	weaviatetest.AwaitState(t, d, true)
	weaviatetest.AwaitState(t, late, true)

	s.Kill()
	refused("killed", timeout+500*time.Millisecond)
	weaviatetest.AwaitState(t, d, false)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	weaviatetest.AwaitState(t, d, true)
	if n, err := d.Count(t.Context(), "acme", ann); err != nil || n != 50 {
		t.Errorf("after a crash: %d, %v", n, err)
	}
	s.Stop()
	weaviatetest.AwaitState(t, d, false)
}

// TestADeadlineOfTheCallerHolds asks a hung server with the deadline of a request.
func TestADeadlineOfTheCallerHolds(t *testing.T) {
	s := weaviatetest.New(t)
	d := open(t, s)
	if err := s.Hang(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := d.Records(ctx, "acme", store.RecordQuery{Scopes: []store.Scope{ann}, Keys: []string{"k"}}); err == nil {
		t.Error("a hung server answers")
	}
	if took := time.Since(began); took > 300*time.Millisecond {
		t.Errorf("took %v", took)
	}
}

// TestCrashes kills the server in the middle of writing, three times, and asks that
// everything that was acknowledged is found by its vector after mending.
func TestCrashes(t *testing.T) {
	s := weaviatetest.New(t)
	d := open(t, s)
	var all []store.SharedMemory
	for round := range 3 {
		ms := some(ann, round*1000, 1000)
		for part := ms; len(part) > 0; part = part[200:] {
			putAll(t, d, part[:200])
		}
		all = append(all, ms...)
		s.Kill()
		weaviatetest.AwaitState(t, d, false)
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
		weaviatetest.AwaitState(t, d, true)
		mended, err := d.Mend(t.Context(), "acme", ms)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("round %d: %d of %d weren't found", round, mended, len(ms))
	}
	if n, err := d.Count(t.Context(), "acme", ann); err != nil || n != len(all) {
		t.Errorf("%d memories, %v; want %d", n, err, len(all))
	}
	// Mending again finds nothing to mend: all are found by vector.
	if mended, err := d.Mend(t.Context(), "acme", all); err != nil || mended != 0 {
		t.Errorf("%d hidden memories, %v", mended, err)
	}
}

// TestMendFindsTheHidden deletes a memory behind the store's back.
func TestMendFindsTheHidden(t *testing.T) {
	s := harmless(t)
	d := open(t, s)
	ms := some(ann, 0, 20)
	putAll(t, d, ms[:19])
	mended, err := d.Mend(t.Context(), "acme", ms)
	if err != nil || mended != 1 {
		t.Errorf("mended %d, %v; want 1", mended, err)
	}
	if n, err := d.Count(t.Context(), "acme", ann); n != 20 {
		t.Errorf("%d memories, %v", n, err)
	}
}

// TestMoreThanOneCallTakes writes more memories than a call deletes or lists, reads
// them page by page and as changes, and erases them.
func TestMoreThanOneCallTakes(t *testing.T) {
	s := harmless(t)
	const n = 10500
	for _, layout := range []weaviatedb.Layout{weaviatedb.LayoutShared, weaviatedb.LayoutIsolated} {
		d := open(t, s, func(c *weaviatedb.Config) { c.Layout, c.Collection = layout, "many_"+string(layout) })
		ms := some(ann, 0, n)
		for i := range ms {
			ms[i].Vector = nil
		}
		for part := ms; len(part) > 0; part = part[min(1000, len(part)):] {
			putAll(t, d, part[:min(1000, len(part))])
		}
		bob := store.UserScope("bob")
		putAll(t, d, some(bob, 0, 3))
		seen := map[string]bool{}
		pages := 0
		for after := ""; ; pages++ {
			page, next, err := d.Load(t.Context(), "acme", ann, after, 2000)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range page {
				if seen[m.Memory.ID] {
					t.Fatalf("%s comes twice", m.Memory.ID)
				}
				seen[m.Memory.ID] = true
			}
			if after = next; next == "" {
				break
			}
		}
		if len(seen) != n || pages < 4 {
			t.Errorf("%s: %d memories on %d pages", layout, len(seen), pages)
		}
		stamps, err := d.Changed(t.Context(), "acme", []store.Scope{ann, bob}, time.Now().Add(-10*time.Minute))
		if err != nil || len(stamps) != n+3 {
			t.Errorf("%s: %d changes, %v", layout, len(stamps), err)
		}
		got, err := d.EraseScope(t.Context(), "acme", ann)
		if err != nil || got != n {
			t.Errorf("%s: erased %d, %v", layout, got, err)
		}
		for sc, want := range map[store.Scope]int{ann: 0, bob: 3} {
			if left, err := d.Count(t.Context(), "acme", sc); err != nil || left != want {
				t.Errorf("%s: %d left of %s, %v", layout, left, sc, err)
			}
		}
	}
}

// TestManyStartAtOnce has five sidecars make the collections together.
func TestManyStartAtOnce(t *testing.T) {
	s := harmless(t)
	var wg sync.WaitGroup
	for i := range 5 {
		d := start(t, s)
		wg.Go(func() {
			weaviatetest.AwaitState(t, d, true)
			if failed, err := d.PutMemories(t.Context(), "acme", some(ann, 0, 10)); err != nil || len(failed) > 0 {
				t.Errorf("sidecar %d: %v, %v", i, failed, err)
			}
		})
	}
	wg.Wait()
	if n, err := open(t, s).Count(t.Context(), "acme", ann); err != nil || n != 10 {
		t.Errorf("%d memories, %v", n, err)
	}
}

// statuses are those of the tenants of the test's collection.
func statuses(t *testing.T, s *weaviatetest.Server) (out []string) {
	t.Helper()
	res, err := http.Get(s.URL + "/v1/schema/" + t.Name() + "/tenants")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var list []struct{ ActivityStatus string }
	if err := json.NewDecoder(res.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		out = append(out, x.ActivityStatus)
	}
	return out
}

// found is what a search of a scope finds of what some writes.
func found(t *testing.T, d *weaviatedb.DB, sc store.Scope) int {
	t.Helper()
	res, err := d.Search(t.Context(), index.Query{Tenant: "acme", Scopes: []store.Scope{sc}, Terms: []index.Term{{Text: "drawer", Weight: 1}}, Now: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	return len(res.Hits)
}

// TestIdleScopesGrowCold: a scope that nobody uses is closed, and whoever asks opens
// it again.
func TestIdleScopesGrowCold(t *testing.T) {
	s := harmless(t)
	d := open(t, s, func(c *weaviatedb.Config) { c.Layout, c.Idle = weaviatedb.LayoutIsolated, 300*time.Millisecond })
	putAll(t, d, some(ann, 0, 10))
	for end := time.Now().Add(20 * time.Second); !slices.Equal(statuses(t, s), []string{"COLD"}); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it is %s", statuses(t, s))
		}
	}
	if n := found(t, d, ann); n != 10 {
		t.Errorf("%d hits", n)
	}
}

// TestFewScopesStayOpen: of more scopes than may be open those written last are,
// and the others are opened by asking.
func TestFewScopesStayOpen(t *testing.T) {
	s := harmless(t)
	d := open(t, s, func(c *weaviatedb.Config) { c.Layout, c.Open = weaviatedb.LayoutIsolated, 5 })
	scope := func(i int) store.Scope { return store.UserScope(fmt.Sprint("user-", i)) }
	for i := range 20 {
		putAll(t, d, some(scope(i), 0, 3))
	}
	hot := slices.DeleteFunc(statuses(t, s), func(s string) bool { return s == "COLD" })
	if len(hot) != 5 {
		t.Errorf("%d scopes are open", len(hot))
	}
	for i := range 20 {
		if n := found(t, d, scope(i)); n != 3 {
			t.Errorf("scope %d: %d hits", i, n)
		}
	}
}
