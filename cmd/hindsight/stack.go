package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"hindsight/inject"
	"hindsight/proxy"
	"hindsight/proxy/admin"
	"hindsight/proxy/admin/console"
	"hindsight/proxy/mcpserver"
	"hindsight/proxy/session"
	hreflect "hindsight/reflect"
	"hindsight/reflect/extract"
	"hindsight/store"
	"hindsight/store/badgerdb"
	"hindsight/store/index"
)

// stack is everything that serve runs. The parts end in this order when its
// context does: the proxy drains, reflection stops, the management API closes,
// the store commits and closes.
type stack struct {
	cfg     Config
	log     *slog.Logger
	store   *badgerdb.Store
	index   *index.Index
	vectors *vectors // nil: words alone
	shared  *shared  // nil: this process is alone with its directory
	tracker *session.Tracker
	proxy   *proxy.Server
	records ended
	runner  *hreflect.Runner
	sweeper *hreflect.Sweeper
	api     *admin.API
	console *console.Console
	mcp     *mcpserver.Server
	metrics http.Handler
	traces  *traces // nil: off

	listeners struct{ proxy, admin, metrics net.Listener }

	ended chan struct{}
	err   error
}

// startStack builds everything and starts it; it is up when this returns, while
// memory may still be coming. The error is of the configuration or of an
// address that can't be listened on, and, with strict, of the local store.
func startStack(ctx context.Context, cfg Config) (*stack, error) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	s := &stack{cfg: cfg, log: newLogger(cfg.Log), ended: make(chan struct{})}
	if err := s.build(reg); err != nil {
		return nil, err
	}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	storing, stopStore := context.WithCancel(context.WithoutCancel(ctx))
	stored := make(chan error, 1)
	go func() { stored <- s.store.Run(storing) }()
	if cfg.Store.Strict {
		if err := s.strict(ctx); err != nil {
			stopStore()
			s.closeListeners()
			return nil, errors.Join(err, <-stored)
		}
	}
	go func() {
		defer close(s.ended)
		s.err = s.run(ctx)
		s.traces.close()
		s.index.Close()
		stopStore()
		s.err = errors.Join(s.err, <-stored)
	}()
	return s, nil
}

// strict fails where the store can't be used at once.
func (s *stack) strict(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.store.Ready(ctx); err != nil {
		return unusable(s.cfg.Store.Dir, err)
	}
	return nil
}

// build makes the parts and joins them.
func (s *stack) build(reg *prometheus.Registry) (err error) {
	cfg := s.cfg
	if s.traces, err = newTraces(cfg.Traces, s.log); err != nil {
		return err
	}
	dir := directoryOf(cfg)
	dir.Free, dir.Now, dir.Log, dir.Reg = cfg.Store.Free, cfg.Now, s.log, reg
	dir.Ask = func(ctx context.Context) bool { return askToYield(ctx, cfg.Store.Dir) }
	var engine *inject.Engine
	dir.Erased = func(tenant string, sc store.Scope) {
		s.index.Forget(tenant, sc)
		engine.Forget(tenant, sc)
		s.runner.Forget(tenant, sc)
	}
	if s.store, err = badgerdb.New(dir); err != nil {
		return err
	}
	if s.shared, err = newShared(cfg, s.store, s.log, reg); err != nil {
		return err
	}
	if s.vectors, err = newVectors(cfg, s.shared.vectorStore(s.store), func(ctx context.Context) error { return engine.Warm(ctx) }, s.log, reg); err != nil {
		return err
	}
	s.index = index.New(s.vectors.index(s.store, s.log, reg), s.store)
	engine, err = inject.New(inject.Config{
		TopK: cfg.Inject.TopK, Tokens: cfg.Inject.Tokens, Deadline: cfg.Inject.Deadline,
		Ranking: inject.Ranking(cfg.Inject.Ranking), Grants: grantsOf(cfg.Grants),
		Embedder: s.vectors.embedder(), Profiles: cfg.Inject.Profiles, Cite: cfg.Inject.Cite, Screen: extract.Redact,
	}, s.shared.searcher(s.index), s.store, s.store, s.log, reg)
	if err != nil {
		return err
	}
	rules, err := clientRules(cfg)
	if err != nil {
		return err
	}
	if s.tracker, err = newTracker(cfg, rules, s.shared.identities(s.store), s.shared.others(engine.Renew), s.log, reg); err != nil {
		return err
	}
	if s.runner, err = newRunner(cfg, s.shared.work(learned{s.store, s.vectors}, s.mayReflect(cfg.Session.Idle)), lent{s.tracker, s.store}, meaning{s.vectors, s.index}, func() bool { return s.proxy.Busy() }, s.traces, s.log, reg); err != nil {
		return err
	}
	journal := counted{s.store, s.runner.Sent}
	s.records = newEnded(journal, s.runner.Heard)
	if s.proxy, err = newProxy(cfg, s.traces.memory(proxy.Memory{Tracker: s.tracker, Planner: engine, Recorder: s.records, Limits: s.runner}), s.memoryState, s.log, reg); err != nil {
		return err
	}
	s.sweeper = hreflect.NewSweeper(hreflect.SweepConfig{Forgetting: cfg.Forget, Gather: s.runner.Gather, Now: cfg.Now, Log: s.log, Reg: reg}, s.store)
	door := console.NewDoor(s.consoleURL, cfg.Now)
	if s.mcp, err = newMCP(cfg, local{late(func() http.Handler { return s.api.OwnerHandler() })}, s.log); err != nil {
		return err
	}
	callers := mcpCallers{cfg, s.tracker.NamelessUser}
	s.api = admin.New(admin.Config{
		Store: s.shared.manages(managed{journal, s.runner.Heard, s.runner.Wake}), Searcher: s.shared.searches(engine), Closer: closer{s}, Previewer: previewer{s.runner}, Naming: naming{s.store, rules}, Embedding: s.vectors.embedding(), Ready: s.ready,
		Life: life{s.runner, s.sweeper},
		MCP:  s.mcp.Handler(callers.whose), Keys: callers.knows, Learner: s.runner, Feed: s.store,
		Tenant: cfg.Identity.tenantName(), User: s.tracker.NamelessUser,
		Token: cfg.Admin.Token, TokenFile: filepath.Join(cfg.Store.Dir, admin.TokenName), Hosts: cfg.Admin.Hosts,
		Shares:   sharesOf(cfg.Grants),
		Settings: cfg.Effective, Links: door,
		Paused:   s.tracker.Paused,
		Gatherer: reg, Reg: reg, Version: thisBuild().Version, Zone: cfg.Zone, Now: cfg.Now, Log: s.log,
	})
	s.console, err = console.New(console.Config{API: s.api.OwnerHandler(), Door: door, Gatherer: reg, Every: cfg.Sample, Zone: cfg.Zone, Version: thisBuild().Version, Now: cfg.Now})
	s.metrics = admin.Metrics(reg)
	return err
}

// run serves until ctx ends and everything that was under way has ended.
func (s *stack) run(ctx context.Context) error {
	// The management API and reflection outlive the proxy's drain: probes and
	// scrapers look on, and what the last answers taught is recorded.
	rest, stop := context.WithCancel(context.WithoutCancel(ctx))
	leave := s.shared.start()
	var others sync.WaitGroup
	others.Go(func() { s.runner.Run(rest) })
	others.Go(func() { s.sweeper.Run(rest) })
	others.Go(func() { s.records.tell(rest, s.store.Flush, s.runner.Wake) })
	others.Go(func() { _ = s.tracker.Run(rest) }) // it has no error of its own
	others.Go(func() { s.owner(rest) })
	others.Go(func() { s.api.Run(rest) })
	others.Go(func() { s.console.Run(rest) })
	others.Go(func() { s.mcp.Run(rest) })
	if s.vectors != nil {
		others.Go(func() { s.vectors.run(rest) })
	}
	serveHTTP(rest, &others, s.listeners.admin, s.shared.tells(s.adminHandler()), s.log)
	if s.listeners.metrics != nil {
		serveHTTP(rest, &others, s.listeners.metrics, s.metrics, s.log)
	}
	err := s.proxy.Run(ctx, s.listeners.proxy)
	stop()
	others.Wait()
	leave() // the last to go: it delivers what the others left
	return err
}

// wait returns when everything has ended, with what went wrong.
func (s *stack) wait() error {
	<-s.ended
	return s.err
}

// memoryState is memory's state in the words of readyz.
func (s *stack) memoryState() (state, reason string) {
	on, reason := s.store.State()
	switch {
	case !on:
		return "off", reason
	case s.shared.foreign() != "":
		return "off", s.shared.foreign()
	case reason != "":
		return "degraded", reason
	}
	if reason = s.shared.off(); reason != "" {
		return "degraded", reason
	}
	if reason = s.vectors.off(); reason != "" {
		return "degraded", reason
	}
	return "on", ""
}

func (s *stack) ready() (ready bool, memory, reason string) {
	memory, reason = s.memoryState()
	return s.proxy.Ready(), memory, reason
}
