package weaviatetest

import (
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/weaviatedb"
)

// Open runs a DB over a server until the test ends, and waits for it to be on.
func Open(t testing.TB, s *Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	d := Start(t, s, change...)
	AwaitState(t, d, true)
	return d
}

// Start is Open that doesn't wait.
func Start(t testing.TB, s *Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	cfg := weaviatedb.Config{URL: s.URL, GRPC: s.GRPC, Key: store.IdentityKey{1, 2, 3}, Probe: 50 * time.Millisecond}
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

// AwaitState waits until a DB is on, or off, for half a minute at most.
func AwaitState(t testing.TB, d *weaviatedb.DB, want bool) {
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
