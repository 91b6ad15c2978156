//go:build !race

// The encoder is arithmetic on its own data; under the race detector it takes
// twenty times as long, and finds nothing to detect. What is around it is tested
// there with words alone.

package recall

import (
	"bytes"
	"context"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hindsight/inject"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/embedding"
	"hindsight/store/index"
)

var update = flag.Bool("update", false, "write the golden figures anew")

// bench is the product over a store of its own that holds a set.
type bench struct {
	store *badgerdb.Store
	index *index.Index
	model inject.Embedder // nil: words alone
	data  *Imported
}

// open holds a set, with vectors where there is a model.
func open(t *testing.T, set *Set, model embedding.Model) bench {
	t.Helper()
	st, err := badgerdb.New(badgerdb.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- st.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := st.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := bench{store: st}
	if b.data, err = Import(t.Context(), st, set); err != nil {
		t.Fatal(err)
	}
	cfg := index.Config{}
	if model != nil {
		embed(t, st, model)
		cfg.Vectors, b.model = st, asking{model}
	}
	b.index = index.New(cfg, st)
	t.Cleanup(b.index.Close)
	return b
}

func embed(t *testing.T, st *badgerdb.Store, model embedding.Model) {
	t.Helper()
	all := []store.Memory{}
	for _, corpus := range []string{"en", "zh"} {
		some, _, err := st.ScopeMemories(t.Context(), tenant, store.UserScope(corpus))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = embedding.Text(&all[i])
	}
	values, err := model.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if err := st.UseVectors(t.Context(), store.EmbeddingModel{Name: model.Name(), Dim: len(values[0])}, false); err != nil {
		t.Fatal(err)
	}
	if err := st.PutVectors(t.Context(), all, values); err != nil {
		t.Fatal(err)
	}
}

// asking is a model as the engine wants it.
type asking struct{ embedding.Model }

func (a asking) Question(ctx context.Context, text string) ([]float32, error) {
	return a.EmbedQuery(ctx, text)
}

func (b bench) engine(t *testing.T, cfg inject.Config) *inject.Engine {
	t.Helper()
	cfg.Deadline = time.Minute // what is asked is what is found, not how fast
	cfg.Embedder = b.model
	e, err := inject.New(cfg, b.index, b.store, b.store, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFiguresStandAsWritten makes every change of ranking and gate a diff of
// testdata/figures.golden. The set is too small and too much our own to prove
// anything: a diff asks whether it was meant. Run with -update to accept it.
func TestFiguresStandAsWritten(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	set, err := Load([]string{"testdata/bilingual.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	builtin, err := embedding.Open()
	if err != nil {
		t.Fatal(err)
	}
	words, both := open(t, set, nil), open(t, set, builtin)
	var runs []Run
	for _, c := range []struct {
		bench
		ranking  inject.Ranking
		embedder string
	}{{words, inject.Bounded, "none"}, {words, inject.Additive, "none"}, {words, inject.Similarity, "none"}, {both, inject.Bounded, "builtin"}} {
		r, err := Measure(t.Context(), c.data, c.engine(t, inject.Config{Ranking: c.ranking}), string(c.ranking), c.embedder)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r...)
	}
	var got bytes.Buffer
	if err := Table(&got, runs, false); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/figures.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got.String()); d != "" {
		t.Errorf("figures (-golden +now):\n%s", d)
	}
}
