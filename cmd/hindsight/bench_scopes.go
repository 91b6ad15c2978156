package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hindsight/internal/bench"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/index"
)

const indexBudget = index.DefaultBudget

// scopeUser names the user of the benchmark's n-th scope.
func scopeUser(n int) string { return fmt.Sprintf("%s%d", benchUser, n) }

// scopeMemories are what a user of the benchmark has, with evidence and a scenario
// as reflection writes them.
func scopeMemories(user, n int) []store.Memory {
	out := make([]store.Memory, n)
	for i := range out {
		thing, place := bench.Things[i%len(bench.Things)], bench.Places[i/len(bench.Things)%len(bench.Places)]
		quote := fmt.Sprintf("the %s service in %s is on port %d, script %d restarts it", thing, place, 1024+i, i)
		out[i] = store.Memory{
			Tenant: "bench", Scope: store.UserScope(scopeUser(user)), Type: store.UserFact,
			Text:     fmt.Sprintf("The %s service in %s listens on port %d and is restarted by script %d.", thing, place, 1024+i, i),
			Scenario: fmt.Sprintf("Somebody connects to %s in %s, or finds it down.", thing, place), Subject: thing + " service",
			Importance: 0.7, Confidence: 1, AttributedTo: store.ByUser,
			Evidence: []store.Evidence{{
				Session: fmt.Sprintf("s%d", i/20), Turn: i % 20, Quote: quote, Time: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC),
				Context: fmt.Sprintf("user: did you find out where number %d runs?\nuser: %s\nassistant: Noted, I will use that when I write the checks.", i, quote),
			}},
		}
	}
	return out
}

// fillScopes gives a data directory so many scopes of so many memories each,
// with vectors, and as a server leaves it that has been asked about all of them. Only
// the first memories are embedded, which would take minutes for all: the others get
// their vectors, in turn.
func fillScopes(ctx context.Context, st *badgerdb.Store, shown *bar, scopes, each int, embedder string) error {
	var values [][]float32
	if embedder != "none" {
		first, err := st.PutMemories(ctx, scopeMemories(0, min(each, 300)))
		if err != nil {
			return err
		}
		if err := embedBench(ctx, st, embedder); err != nil {
			return err
		}
		if values, err = vectorsOf(ctx, st, first); err != nil {
			return err
		}
	}
	for n := range scopes {
		mems, err := st.PutMemories(ctx, scopeMemories(n, each))
		if err != nil {
			return err
		}
		if values == nil {
			continue
		}
		all := make([][]float32, len(mems))
		for i := range all {
			all[i] = values[i%len(values)]
		}
		if err := st.PutVectors(ctx, mems, all); err != nil {
			return err
		}
	}
	return keepReady(ctx, st, shown, scopes, each, embedder)
}

// vectorsOf reads the vectors of a scope, in the order of its memories.
func vectorsOf(ctx context.Context, st *badgerdb.Store, mems []store.Memory) ([][]float32, error) {
	by := make(map[string][]float32, len(mems))
	if _, err := st.ScopeVectors(ctx, "bench", mems[0].Scope, func(id string, v []float32) { by[id] = slices.Clone(v) }); err != nil {
		return nil, err
	}
	out := make([][]float32, len(mems))
	for i := range mems {
		out[i] = by[mems[i].ID]
	}
	return out, nil
}

// keepReady has an index look at the large scopes until snapshots of all are kept.
func keepReady(ctx context.Context, st *badgerdb.Store, shown *bar, scopes, each int, embedder string) error {
	if each < 500 {
		return nil // small ones have none
	}
	cfg := index.Config{Snapshots: st, Rest: 50 * time.Millisecond}
	if embedder != "none" {
		cfg.Vectors = st
	}
	x := index.New(cfg, st)
	defer x.Close()
	// A scope of 100,000 with vectors takes some 7 s, on busy cores much longer.
	most := 20*time.Second + time.Duration(each)*2*time.Millisecond
	for n := range scopes {
		shown.doing("keeping scope %d of %d ready", n+1, scopes)
		sc := store.UserScope(scopeUser(n))
		if _, err := x.Search(ctx, index.Query{Tenant: "bench", Scopes: []store.Scope{sc}}); err != nil {
			return err
		}
		if err := untilWithin(ctx, most, "no snapshot was kept", func() bool { return st.HasSnapshot("bench", sc) }); err != nil {
			return err
		}
	}
	return nil
}
