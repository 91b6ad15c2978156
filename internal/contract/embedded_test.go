// Package contract holds the stores of memories to one contract (store/storetest)
// and compares their answers: the embedded one always, Weaviate where the tests
// are built with the tag weaviate.
package contract

import (
	"context"
	"errors"
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/index"
	"hindsight/store/storetest"
)

// embedded is the directory with its index.
type embedded struct {
	*index.Index
	dir *badgerdb.Store
}

func openEmbedded(t *testing.T, model store.EmbeddingModel) embedded {
	t.Helper()
	dir, err := badgerdb.New(badgerdb.Config{Dir: t.TempDir(), Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = dir.Run(t.Context()) }()
	t.Cleanup(func() { <-done })
	if err := dir.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := dir.UseVectors(t.Context(), model, false); err != nil {
		t.Fatal(err)
	}
	x := index.New(index.Config{Vectors: dir}, dir)
	t.Cleanup(x.Close)
	return embedded{x, dir}
}

func (e embedded) Put(ctx context.Context, _ string, ms []store.SharedMemory) error {
	return e.dir.AbsorbMemories(ctx, ms)
}

func (e embedded) All(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, error) {
	ms, _, err := e.dir.ScopeMemories(ctx, tenant, sc)
	return ms, err
}

func (e embedded) Delete(ctx context.Context, _ string, _ store.Scope, ids []string) error {
	for _, id := range ids {
		if _, err := e.dir.EraseMemory(ctx, id); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

func (e embedded) Erase(ctx context.Context, tenant string, sc store.Scope) error {
	_, err := e.dir.EraseScope(ctx, tenant, sc)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func TestEmbeddedKeepsTheContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Backend {
		return openEmbedded(t, store.EmbeddingModel{Name: "test", Dim: 16, Fingerprint: make([]float32, 16)})
	})
}
