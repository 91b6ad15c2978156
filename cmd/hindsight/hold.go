package main

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"hindsight/inject"
	"hindsight/proxy/admin"
	hreflect "hindsight/reflect"
	"hindsight/reflect/extract"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/index"
)

// held is a data directory that this process has open without being a server.
type held struct {
	handler http.Handler // the management API, for its owner
	close   func() error
}

// holdDirectory opens a data directory. lasting says that this is for longer than one
// command: what the configuration can ask a model about is then reflected here,
// for want of a server.
func holdDirectory(ctx context.Context, cfg Config, lasting bool) (*held, error) {
	st, end, err := runStore(ctx, directoryOf(cfg))
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx)) // what works on the store, as long as that
	shut := func() error { stop(); return end() }
	rules, err := clientRules(cfg)
	if err != nil {
		return nil, errors.Join(err, shut())
	}
	vec, err := newVectors(cfg, st, nil, nil, nil)
	if err != nil {
		return nil, errors.Join(err, shut())
	}
	embedding := vec.during(running)
	idx := index.New(vec.index(st, nil, nil), st)
	engine, err := inject.New(inject.Config{Ranking: inject.Ranking(cfg.Inject.Ranking), Embedder: embedding.embedder(), Screen: extract.Redact}, idx, st, st, nil, nil)
	if err != nil {
		idx.Close()
		return nil, errors.Join(err, shut())
	}
	runner, asks, err := unattended(cfg, learned{st, vec}, meaning{vec, idx})
	if err != nil {
		idx.Close()
		return nil, errors.Join(err, shut())
	}
	ac := admin.Config{
		Store: st, Searcher: engine, Closer: enqueuer{st}, Naming: naming{st, rules}, Embedding: embedding.embedding(), Token: "of no use: nothing but the owner's socket leads here",
		Learner: runner, Feed: st,
		Ready:  func() (bool, string, string) { return false, "on", "" },
		Tenant: cfg.Identity.tenantName(), User: func(context.Context) string { return cfg.Identity.userName() },
		Zone: cfg.Zone, Shares: sharesOf(cfg.Grants), Settings: cfg.Effective,
	}
	if asks {
		ac.Previewer = previewer{runner}
	}
	if !asks || !lasting {
		ac.Store = unreflected{st}
	}
	var reflecting sync.WaitGroup
	if lasting && asks {
		ac.Life = life{runner, hreflect.NewSweeper(hreflect.SweepConfig{Forgetting: cfg.Forget, Gather: runner.Gather}, st)}
		reflecting.Go(func() { runner.Run(running) })
	}
	return &held{admin.New(ac).OwnerHandler(), func() error {
		idx.Close()
		stop()
		reflecting.Wait()
		return shut()
	}}, nil
}

// unreflected is the store of a process that doesn't reflect: nobody waits there
// for what a server will do.
type unreflected struct{ *badgerdb.Store }

// WaitJob returns a job as it is; the error says that it isn't over.
func (u unreflected) WaitJob(ctx context.Context, id string) (store.Job, error) {
	j, err := u.Job(ctx, id)
	if err != nil || j.State == store.Done || j.State == store.Dead {
		return j, err
	}
	j.Reason = "no server runs on this directory: it is looked at when one does"
	return j, context.DeadlineExceeded
}

// unattended is reflection where no server runs. Where the configuration names
// no model to ask it goes by rules alone, and asks is false.
func unattended(cfg Config, st hreflect.Store, near hreflect.Meaning) (r *hreflect.Runner, asks bool, err error) {
	if r, err = newRunner(cfg, st, nobodys{}, near, nil, nil, nil, nil); err == nil {
		return r, true, nil
	}
	cfg.Reflect.Model, cfg.Reflect.Strategy = hreflect.RulesModel, string(extract.Classify)
	r, err = newRunner(cfg, st, nobodys{}, near, nil, nil, nil, nil)
	return r, false, err
}
