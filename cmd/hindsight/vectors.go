package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/inject"
	"hindsight/proxy/admin"
	hreflect "hindsight/reflect"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/embedding"
	"hindsight/store/index"
)

// vectors is the embedder with the worker that keeps the memories embedded. A nil
// one means words alone.
type vectors struct {
	*embedding.Worker
	model   embedding.Model
	builtin *embedding.Builtin // nil: the model is behind an endpoint
}

// newVectors builds the configured embedder. ready, where set, is called before
// vectors are used.
func newVectors(cfg Config, st embedding.Store, ready func(context.Context) error, log *slog.Logger, reg prometheus.Registerer) (*vectors, error) {
	m, err := newModel(cfg)
	if m == nil || err != nil {
		return nil, err
	}
	v := &vectors{model: m}
	v.builtin, _ = m.(*embedding.Builtin)
	v.Worker = embedding.New(embedding.Config{Ready: ready, Log: log, Reg: reg}, v.model, st)
	return v, nil
}

// newModel is the configured embedding model; nil: words alone.
func newModel(cfg Config) (embedding.Model, error) {
	switch cfg.Embedder {
	case "none":
		return nil, nil
	case "builtin":
		return embedding.Open()
	}
	return embedding.NewEndpoint(embedding.EndpointConfig{Base: cfg.Embedding.Base, Model: cfg.Embedder, Key: cfg.Embedding.Key}), nil
}

// run keeps memories embedded until ctx ends.
func (v *vectors) run(ctx context.Context) {
	if v.builtin != nil {
		v.builtin.Warm(ctx)
	}
	v.Run(ctx)
}

// fill embeds what has no vector and returns when everything has one. It shows
// how far it is, and takes shown away.
func (v *vectors) fill(ctx context.Context, shown *bar) error {
	defer shown.end()
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { v.run(ctx) })
	defer func() { cancel(); running.Wait() }()
	for {
		p, err := v.Progress(ctx)
		if err != nil {
			return fmt.Errorf("embed the memories: %w", err)
		}
		if reason, lasting := v.State(); lasting {
			return fmt.Errorf("embed the memories: %s", reason)
		}
		shown.of(p.Memories)
		shown.at(p.Embedded)
		if p.Reason == "" && p.Embedded >= p.Memories {
			return nil
		}
		if err := wait(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
}

// off is why recall goes by words alone although vectors are configured, empty
// while the embedder starts.
func (v *vectors) off() string {
	if v == nil {
		return ""
	}
	if reason, _ := v.State(); reason != embedding.Starting {
		return reason
	}
	return ""
}

// learned is the store of reflection: what that writes has its vectors from the
// start, so that a job is done when what it taught is found by meaning.
type learned struct {
	*badgerdb.Store
	vectors *vectors
}

var _ hreflect.Store = learned{}

// Apply embeds, then writes.
func (l learned) Apply(ctx context.Context, j store.Job, out store.Outcome) (store.Job, error) {
	out.Vectors = l.ahead(ctx, out.Memories)
	return l.Store.Apply(ctx, j, out)
}

// Note embeds, then writes.
func (l learned) Note(ctx context.Context, o store.Owner, out store.Outcome) (store.Job, error) {
	out.Vectors = l.ahead(ctx, out.Memories)
	return l.Store.Note(ctx, o, out)
}

func (l learned) ahead(ctx context.Context, mems []store.Memory) map[string][]float32 {
	if l.vectors == nil {
		return nil
	}
	var live []store.Memory
	for i := range mems {
		if st := mems[i].State; st == store.Active || st == "" {
			live = append(live, mems[i])
		}
	}
	return l.vectors.Ahead(ctx, live)
}

// index is the configuration of an index with or without vectors.
func (v *vectors) index(st *badgerdb.Store, log *slog.Logger, reg prometheus.Registerer) index.Config {
	cfg := index.Config{Snapshots: st, Log: log, Reg: reg}
	if v != nil {
		cfg.Vectors = st
	}
	return cfg
}

// The parts as others see them: without vectors a nil interface, not a nil pointer
// in one.

func (v *vectors) embedder() inject.Embedder {
	if v == nil {
		return nil
	}
	return v.Worker
}

func (v *vectors) embedding() admin.Embedding {
	if v == nil {
		return nil
	}
	return v.Worker
}

// during is the embedding of a command that holds the data directory: the worker
// starts when it is asked for and ends with ctx, which outlives the store's use.
func (v *vectors) during(ctx context.Context) *onDemand {
	if v == nil {
		return nil
	}
	return &onDemand{vectors: v, ctx: ctx}
}

// onDemand starts its worker at the first call.
type onDemand struct {
	*vectors
	ctx  context.Context
	once sync.Once
}

func (o *onDemand) embedder() inject.Embedder {
	if o == nil {
		return nil
	}
	return o
}

func (o *onDemand) embedding() admin.Embedding {
	if o == nil {
		return nil
	}
	return o
}

// Question waits until the worker knows whether there are vectors.
func (o *onDemand) Question(ctx context.Context, text string) ([]float32, error) {
	o.begin()
	for {
		if reason, _ := o.State(); reason != embedding.Starting {
			return o.vectors.Question(ctx, text)
		}
		if err := wait(ctx, 5*time.Millisecond); err != nil {
			return nil, fmt.Errorf("wait for the embedder: %w", err)
		}
	}
}

func (o *onDemand) Reembed() {
	o.begin()
	o.vectors.Reembed()
}

func (o *onDemand) Progress(ctx context.Context) (store.EmbeddingProgress, error) {
	o.begin()
	return o.vectors.Progress(ctx)
}

func (o *onDemand) begin() { o.once.Do(func() { go o.run(o.ctx) }) }
