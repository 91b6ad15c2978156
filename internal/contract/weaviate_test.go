//go:build weaviate

package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/internal/weaviatetest"
	"hindsight/store"
	"hindsight/store/embedding"
	"hindsight/store/storetest"
	"hindsight/store/weaviatedb"
)

// backend is a DB as the contract sees it.
type backend struct {
	*weaviatedb.DB
	settle func() // after a write
}

func (b backend) Put(ctx context.Context, tenant string, ms []store.SharedMemory) error {
	failed, err := b.PutMemories(ctx, tenant, ms)
	b.settle()
	for id, err := range failed {
		return fmt.Errorf("%s: %w", id, err)
	}
	return err
}

func (b backend) All(ctx context.Context, tenant string, sc store.Scope) (out []store.Memory, err error) {
	for after := ""; ; {
		page, next, err := b.Load(ctx, tenant, sc, after, 100)
		if err != nil {
			return nil, err
		}
		for _, m := range page {
			out = append(out, m.Memory)
		}
		if after = next; next == "" {
			return out, nil
		}
	}
}

func (b backend) Delete(ctx context.Context, tenant string, sc store.Scope, ids []string) error {
	return b.DeleteMemories(ctx, tenant, sc, ids)
}

func (b backend) Erase(ctx context.Context, tenant string, sc store.Scope) error {
	_, err := b.EraseScope(ctx, tenant, sc)
	return err
}

// TestContract holds both layouts and every kind of vector index to the contract.
func TestContract(t *testing.T) {
	s := weaviatetest.New(t)
	for _, layout := range []weaviatedb.Layout{weaviatedb.LayoutShared, weaviatedb.LayoutIsolated} {
		for _, kind := range []weaviatedb.VectorIndex{weaviatedb.IndexFlat, weaviatedb.IndexHNSW} {
			t.Run(string(layout)+" "+string(kind), func(t *testing.T) {
				contract(t, s, layout, kind, func() {})
			})
		}
	}
}

// TestContractDynamic is the same for the index that wants a server which indexes
// behind the writes: each write is waited for.
func TestContractDynamic(t *testing.T) {
	s := weaviatetest.New(t, "ASYNC_INDEXING=true")
	contract(t, s, weaviatedb.LayoutShared, weaviatedb.IndexDynamic, func() { indexed(t, s) })
}

func contract(t *testing.T, s *weaviatetest.Server, layout weaviatedb.Layout, kind weaviatedb.VectorIndex, settle func()) {
	n := 0
	storetest.Run(t, func(t *testing.T) storetest.Backend {
		n++
		db := weaviatetest.Open(t, s, func(c *weaviatedb.Config) {
			c.Layout, c.VectorIndex = layout, kind
			c.Collection = fmt.Sprintf("contract_%s_%s_%d", layout, kind, n)
		})
		return backend{db, settle}
	})
}

// indexed waits until the server has no vector left to index.
func indexed(t *testing.T, s *weaviatetest.Server) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var nodes struct {
			Nodes []struct {
				Shards []struct {
					VectorQueueLength int `json:"vectorQueueLength"`
				} `json:"shards"`
			} `json:"nodes"`
		}
		res, err := http.Get(s.URL + "/v1/nodes?output=verbose")
		if err != nil {
			t.Fatal(err)
		}
		err = json.NewDecoder(res.Body).Decode(&nodes)
		_ = res.Body.Close()
		left := 0
		for _, n := range nodes.Nodes {
			for _, sh := range n.Shards {
				left += sh.VectorQueueLength
			}
		}
		if err == nil && left == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d vectors aren't indexed: %v", left, err)
		}
	}
}

// meaning embeds texts with the built-in encoder.
var meaning = sync.OnceValues(embedding.Open)

// TestAgree asks both stores 200 questions about a scope that is larger than what
// Weaviate gives for one, and as many as there are about one that isn't: the best
// five must be the same for at least 95 %.
func TestAgree(t *testing.T) {
	s := weaviatetest.New(t)
	enc, err := meaning()
	if err != nil {
		t.Fatal(err)
	}
	probe, err := enc.EmbedQuery(t.Context(), "probe")
	if err != nil {
		t.Fatal(err)
	}
	right := openEmbedded(t, store.EmbeddingModel{Name: enc.Name(), Dim: enc.Dim(), Fingerprint: probe})
	var questions []storetest.Asked
	var all []store.SharedMemory
	for _, n := range []int{80, 1200} {
		ms, qs := embed(t, enc, store.UserScope(fmt.Sprint("of ", n)), n)
		all, questions = append(all, ms...), append(questions, qs...)
	}
	if err := right.Put(t.Context(), "acme", all); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []weaviatedb.Layout{weaviatedb.LayoutShared, weaviatedb.LayoutIsolated} {
		db := backend{weaviatetest.Open(t, s, func(c *weaviatedb.Config) {
			c.Layout, c.Collection = layout, "agree_"+string(layout)
		}), func() {}}
		if err := db.Put(t.Context(), "acme", all); err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{80, 1200} {
			of := slices.DeleteFunc(slices.Clone(questions), func(q storetest.Asked) bool { return q.Scope != store.UserScope(fmt.Sprint("of ", n)) })
			a, err := storetest.Agree(t.Context(), "acme", right, db, of)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, %d memories: %s", layout, n, a)
			if 100*a.Five < 95*a.Questions || n == 1200 && a.Questions != 200 {
				t.Errorf("%s, %d memories: %s; for example:\n%s", layout, n, a, strings.Join(a.Differ[:min(5, len(a.Differ))], "\n"))
			}
		}
	}
}

func embed(t *testing.T, enc *embedding.Builtin, sc store.Scope, n int) (ms []store.SharedMemory, qs []storetest.Asked) {
	t.Helper()
	mems, questions := storetest.Corpus("acme", sc, n)
	texts := make([]string, len(mems))
	for i := range mems {
		texts[i] = mems[i].Text
	}
	vectors, err := enc.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range mems {
		ms = append(ms, store.SharedMemory{Memory: mems[i], Vector: vectors[i]})
	}
	for _, q := range questions {
		v, err := enc.EmbedQuery(t.Context(), q.Text)
		if err != nil {
			t.Fatal(err)
		}
		qs = append(qs, storetest.Asked{Question: q, Vector: v})
	}
	return ms, qs
}
