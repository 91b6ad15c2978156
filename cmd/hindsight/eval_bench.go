package main

import (
	"context"
	"fmt"
	"os"
	"sync"

	"hindsight/inject"
	"hindsight/internal/eval/recall"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/embedding"
	"hindsight/store/index"
)

// recallBench is a store in a directory of its own that holds a data set, and
// the index over it.
type recallBench struct {
	store    *badgerdb.Store
	index    *index.Index
	embedder inject.Embedder // nil: words alone
	data     *recall.Imported
	ends     []func()
}

// openRecallBench reads data sets, writes them to the store and embeds them. sweep
// says that the questions will be asked many times.
func openRecallBench(ctx context.Context, files []string, embedder string, sweep bool) (_ *recallBench, err error) {
	set, err := recall.Load(files)
	if err != nil {
		return nil, &failure{wrong: err.Error(), next: "The form is one JSON object a line: a unit or a question of a corpus.", code: exitUsage}
	}
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
	if b.data, err = recall.Import(ctx, b.store, set); err != nil {
		return nil, err
	}
	ic := index.Config{Budget: 1 << 30}
	switch embedder {
	case "none":
	case "builtin":
		if err := b.embed(ctx, sweep); err != nil {
			return nil, err
		}
		ic.Vectors = b.store
	default:
		return nil, &failure{wrong: fmt.Sprintf("--embedder %s: want builtin or none", embedder), code: exitUsage}
	}
	b.index = index.New(ic, b.store)
	b.ends = append(b.ends, b.index.Close)
	return b, nil
}

// embed gives every memory its vector. sweep says that questions will be asked many
// times.
func (b *recallBench) embed(ctx context.Context, sweep bool) error {
	e, err := embedding.Open()
	if err != nil {
		return err
	}
	a := &asked{Builtin: e}
	if sweep {
		a.known = map[string][]float32{}
	}
	b.embedder = a
	if err := b.store.UseVectors(ctx, store.EmbeddingModel{Name: e.Name(), Dim: e.Dim()}, false); err != nil {
		return err
	}
	for {
		have, want, err := b.store.CountVectors(ctx)
		if err != nil || have == want {
			return err
		}
		some, err := b.store.Unembedded(ctx, 64)
		if err != nil {
			return err
		}
		texts := make([]string, len(some))
		for i := range some {
			texts[i] = some[i].Text
		}
		values, err := e.Embed(ctx, texts)
		if err != nil {
			return err
		}
		if err := b.store.PutVectors(ctx, some, values); err != nil {
			return err
		}
	}
}

// engine is the product's own, at some configuration.
func (b *recallBench) engine(ctx context.Context, cfg inject.Config) (*inject.Engine, error) {
	cfg.Embedder = b.embedder
	e, err := inject.New(cfg, b.index, b.store, b.store, nil, nil)
	if err != nil {
		return nil, err
	}
	return e, e.Warm(ctx)
}

func (b *recallBench) close() {
	for i := len(b.ends) - 1; i >= 0; i-- {
		b.ends[i]()
	}
}

// asked is the built-in embedder as the engine wants it. With known it reads each
// text once: a sweep over the gate's settings asks the same again and again.
type asked struct {
	*embedding.Builtin
	mu    sync.Mutex
	known map[string][]float32
}

// Question implements inject.Embedder.
func (a *asked) Question(ctx context.Context, text string) ([]float32, error) {
	return a.once("question "+text, func() ([]float32, error) { return a.EmbedQuery(ctx, text) })
}

// Embed implements inject.Embedder.
func (a *asked) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		v, err := a.once("text "+text, func() ([]float32, error) {
			some, err := a.Builtin.Embed(ctx, []string{text})
			if err != nil {
				return nil, err
			}
			return some[0], nil
		})
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (a *asked) once(key string, embed func() ([]float32, error)) ([]float32, error) {
	if a.known == nil {
		return embed()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if v, ok := a.known[key]; ok {
		return v, nil
	}
	v, err := embed()
	if err == nil {
		a.known[key] = v
	}
	return v, err
}
