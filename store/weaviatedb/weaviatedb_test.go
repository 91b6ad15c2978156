//go:build weaviate

package weaviatedb_test

import (
	"os"
	"sync"
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/weaviatedb"
	"hindsight/store/weaviatedb/weaviatetest"
)

var key = store.IdentityKey{1, 2, 3}

// common is the server of the tests that do it no harm; TestMain ends it.
var common struct {
	once sync.Once
	s    *weaviatetest.Server
	err  error
	dir  string
}

func harmless(t testing.TB) *weaviatetest.Server {
	t.Helper()
	common.once.Do(func() {
		if common.dir, common.err = os.MkdirTemp("", "weaviate"); common.err != nil {
			return
		}
		if common.s, common.err = weaviatetest.Prepare(common.dir); common.err == nil {
			common.err = common.s.Start()
		}
	})
	if common.err != nil {
		t.Fatal(common.err)
	}
	return common.s
}

func TestMain(m *testing.M) {
	code := m.Run()
	if common.s != nil {
		common.s.Kill()
		_ = os.RemoveAll(common.dir)
	}
	os.Exit(code)
}

// open runs a DB over a server until the test ends, and waits for it to be on.
func open(t testing.TB, s *weaviatetest.Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	d := start(t, s, change...)
	awaitState(t, d, true)
	return d
}

func start(t testing.TB, s *weaviatetest.Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	// A collection of the test's own: harmless tests share a server.
	cfg := weaviatedb.Config{URL: s.URL, GRPC: s.GRPC, Key: key, Probe: 50 * time.Millisecond, Collection: t.Name()}
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
