package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"

	"hindsight/inject"
	"hindsight/internal/eval/recall"
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

// embedderFlags name the embedder to measure with.
type embedderFlags struct {
	Embedder         string `default:"builtin" placeholder:"NAME" help:"builtin; none: words alone; or a model that is served at --embedding-api-base."`
	EmbeddingAPIBase string `name:"embedding-api-base" placeholder:"URL" help:"Where it is served ($$HINDSIGHT_EMBEDDING_API_BASE; the key is $$HINDSIGHT_EMBEDDING_API_KEY)."`
}

// config is what of the configuration an embedder needs.
func (f embedderFlags) config(env environ) (Config, error) {
	base := cmp.Or(f.EmbeddingAPIBase, env.get("HINDSIGHT_EMBEDDING_API_BASE"))
	c := Config{Embedder: f.Embedder}
	if f.Embedder == "none" || f.Embedder == "builtin" {
		return c, nil
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return c, &failure{
			wrong: fmt.Sprintf("--embedder %s: no address where it is served", f.Embedder),
			next:  "Say builtin or none, or give --embedding-api-base.", code: exitUsage,
		}
	}
	c.Embedding = EmbeddingConfig{Base: u, Key: env.get("HINDSIGHT_EMBEDDING_API_KEY")}
	return c, nil
}

// openRecallBench reads data sets, writes them to the store and embeds them.
// sessions, where not 0, cuts them into windows; sweep says that the questions will
// be asked many times.
func openRecallBench(ctx context.Context, a *app, files []string, sessions int, f embedderFlags, sweep bool) (_ *recallBench, err error) {
	cfg, err := f.config(a.env)
	if err != nil {
		return nil, err
	}
	set, err := recall.Load(files)
	if err != nil {
		return nil, &failure{wrong: err.Error(), next: "The form is one JSON object a line: a unit or a question of a corpus.", code: exitUsage}
	}
	if sessions > 0 {
		set = set.Windows(sessions)
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
	var shut func() error
	if b.store, shut, err = runStore(ctx, badgerdb.Config{Dir: dir}); err != nil {
		return nil, err
	}
	b.ends = append(b.ends, func() { _ = shut() }) // the data is thrown away
	if b.data, err = recall.Import(ctx, b.store, set); err != nil {
		return nil, err
	}
	v, err := newVectors(cfg, b.store, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	if v != nil {
		if err := v.fill(ctx, a.long("embedding", 0)); err != nil {
			return nil, err
		}
		b.embedder = newAsked(v.model, sweep)
	}
	ic := v.index(b.store, nil, nil)
	ic.Budget = 1 << 30 // all of the data: what is measured is not the loading
	b.index = index.New(ic, b.store)
	b.ends = append(b.ends, b.index.Close)
	return b, nil
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

// asked is a model as the engine wants it. With known it reads each text once: a
// sweep over the gate's settings asks the same again and again. Without, every
// question costs what a new one costs.
type asked struct {
	embedding.Model
	mu    sync.Mutex
	known map[string][]float32
}

func newAsked(m embedding.Model, sweep bool) *asked {
	a := &asked{Model: m}
	if sweep {
		a.known = map[string][]float32{}
	}
	return a
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
			some, err := a.Model.Embed(ctx, []string{text})
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
