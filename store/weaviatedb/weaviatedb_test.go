//go:build weaviate

package weaviatedb_test

import (
	"os"
	"sync"
	"testing"

	"hindsight/internal/weaviatetest"
	"hindsight/store/weaviatedb"
)

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

// open is weaviatetest.Open with a collection of the test's own: harmless tests
// share a server.
func open(t testing.TB, s *weaviatetest.Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	d := start(t, s, change...)
	weaviatetest.AwaitState(t, d, true)
	return d
}

func start(t testing.TB, s *weaviatetest.Server, change ...func(*weaviatedb.Config)) *weaviatedb.DB {
	t.Helper()
	own := func(c *weaviatedb.Config) { c.Collection = t.Name() }
	return weaviatetest.Start(t, s, append([]func(*weaviatedb.Config){own}, change...)...)
}
