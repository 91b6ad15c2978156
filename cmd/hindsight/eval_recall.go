package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"hindsight/inject"
	"hindsight/internal/eval/recall"
	"hindsight/store/badgerdb"
	"hindsight/store/index"
)

// evalRecallCmd measures recall on data sets.
type evalRecallCmd struct {
	Data     []string `required:"" sep:"none" placeholder:"FILE" help:"Data sets, gzip or plain; all files of one call are one set."`
	Ranking  string   `default:"bounded" enum:"bounded,additive,similarity" help:"bounded, additive or similarity."`
	Embedder string   `default:"none" placeholder:"NAME" help:"none: words alone."`
}

// evalDeadline is for one question: what is measured is what is found, and the
// time beside it, not whether this machine is busy.
const evalDeadline = 30 * time.Second

// Run writes the data to a store of its own and asks.
func (c *evalRecallCmd) Run(ctx context.Context, a *app) error {
	set, err := recall.Load(c.Data)
	if err != nil {
		return &failure{wrong: err.Error(), next: "The form is one JSON object a line: a unit or a question of a corpus.", code: exitUsage}
	}
	bench, err := openRecallBench(ctx, set)
	if err != nil {
		return err
	}
	defer bench.close()
	engine, err := bench.engine(inject.Config{Ranking: inject.Ranking(c.Ranking), Deadline: evalDeadline})
	if err != nil {
		return err
	}
	runs, err := recall.Measure(ctx, bench.data, engine, c.Ranking, c.Embedder)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"runs": runs})
	}
	return recall.Table(a.out, runs, true)
}

// recallBench is a store in a directory of its own that holds a data set, and
// the index over it.
type recallBench struct {
	store *badgerdb.Store
	index *index.Index
	data  *recall.Imported
	ends  []func()
}

func openRecallBench(ctx context.Context, set *recall.Set) (_ *recallBench, err error) {
	b := &recallBench{}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	dir, err := os.MkdirTemp("", "hindsight-recall")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the data: %w", err)
	}
	b.ends = append(b.ends, func() { _ = os.RemoveAll(dir) })
	if b.store, err = badgerdb.New(badgerdb.Config{Dir: dir}); err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { defer close(done); _ = b.store.Run(running) }() // the data is thrown away
	b.ends = append(b.ends, func() { stop(); <-done })
	if err := b.store.Ready(ctx); err != nil {
		return nil, err
	}
	b.index = index.New(index.Config{Budget: 1 << 30}, b.store)
	b.ends = append(b.ends, b.index.Close)
	b.data, err = recall.Import(ctx, b.store, set)
	return b, err
}

// engine is the product's own, at some configuration.
func (b *recallBench) engine(cfg inject.Config) (*inject.Engine, error) {
	return inject.New(cfg, b.index, b.store, b.store, nil, nil)
}

func (b *recallBench) close() {
	for i := len(b.ends) - 1; i >= 0; i-- {
		b.ends[i]()
	}
}
