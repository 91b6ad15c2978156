//go:build weaviate

package contract

import (
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/weaviatedb"
	"hindsight/store/weaviatedb/weaviatetest"
)

var key = store.IdentityKey{1, 2, 3}

// open runs a DB over a server until the test ends, and waits for it to be on.
func open(t testing.TB, s *weaviatetest.Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	d := start(t, s, change...)
	awaitState(t, d, true)
	return d
}

func start(t testing.TB, s *weaviatetest.Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	cfg := weaviatedb.Config{URL: s.URL, GRPC: s.GRPC, Key: key, Probe: 50 * time.Millisecond}
	for _, c := range change {
		c(&cfg)
	}
	d, err := weaviatedb.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = d.Run(t.Context()) }()
	t.Cleanup(func() { <-done; _ = d.Close() })
	return d
}

func awaitState(t testing.TB, d *weaviatedb.DB, want bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		on, reason := d.State()
		if on == want {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("on = %v (%s), want %v", on, reason, want)
		}
	}
}
