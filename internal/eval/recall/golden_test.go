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
	"hindsight/store/badgerdb"
	"hindsight/store/index"
)

var update = flag.Bool("update", false, "write the golden figures anew")

// bench is the product over a store of its own that holds a set.
type bench struct {
	store *badgerdb.Store
	index *index.Index
	data  *Imported
}

func open(t *testing.T, set *Set) bench {
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
	b := bench{store: st, index: index.New(index.Config{}, st)}
	t.Cleanup(b.index.Close)
	if b.data, err = Import(t.Context(), st, set); err != nil {
		t.Fatal(err)
	}
	return b
}

func (b bench) engine(t *testing.T, cfg inject.Config) *inject.Engine {
	t.Helper()
	cfg.Deadline = time.Minute // what is asked is what is found, not how fast
	e, err := inject.New(cfg, b.index, b.store, b.store, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestFiguresStandAsWritten makes every change of ranking and gate a diff of
// testdata/figures.golden. The set is too small and too much our own to prove
// anything: a diff asks whether it was meant. Run with -update to accept it.
func TestFiguresStandAsWritten(t *testing.T) {
	set, err := Load([]string{"testdata/bilingual.jsonl"})
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, set)
	var runs []Run
	for _, ranking := range []inject.Ranking{inject.Bounded, inject.Additive, inject.Similarity} {
		r, err := Measure(t.Context(), b.data, b.engine(t, inject.Config{Ranking: ranking}), string(ranking), "none")
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
