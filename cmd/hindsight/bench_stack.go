package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"hindsight/internal/bench"
	"hindsight/internal/freeport"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

const (
	benchUser  = "bench"
	benchToken = "benchmark-admin-token"
	benchChat  = "/v1/chat/completions"
)

// benchStack is one benchmark: its upstream, who competes, and the processes
// that run.
type benchStack struct {
	dir         string
	nginx       string // where it is; empty: not found
	embedder    string
	shown       *bar // what is being done
	upstream    *benchProcess
	contestants []contestant // the first is the direct one, the second the yardstick
	running     []*benchProcess
}

// contestant is one way to the upstream.
type contestant struct {
	name    string
	kind    string // contestants of a kind share a process when they compete
	header  http.Header
	records bool
	start   func(context.Context) (*benchProcess, error)
}

func (c contestant) target(p *benchProcess) bench.Target {
	return bench.Target{Name: c.name, URL: p.url + benchChat, Header: c.header, PID: p.pid()}
}

// newBench starts the upstream. Stop it.
func newBench(ctx context.Context, embedder string) (*benchStack, error) {
	dir, err := os.MkdirTemp("", "hindsight-bench")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	b := &benchStack{dir: dir, embedder: embedder}
	if b.upstream, err = b.own(ctx, nil, "bench", "upstream"); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

// startBench adds a directory of memories, and who competes.
func startBench(ctx context.Context, memories int, embedder string) (*benchStack, error) {
	b, err := newBench(ctx, embedder)
	if err != nil {
		return nil, err
	}
	if err := onStore(ctx, badgerdb.Config{Dir: filepath.Join(b.dir, "filled")}, func(ctx context.Context, st *badgerdb.Store) error {
		return fillBench(ctx, st, memories, embedder)
	}); err != nil {
		b.stop()
		return nil, err
	}
	b.nginx, _ = exec.LookPath("nginx") // without it the report says so
	as := func(user, mode string) http.Header {
		return http.Header{"Hindsight-User": {user}, "Authorization": {"Bearer sk-bench"}, "Hindsight-Memory": {mode}}
	}
	mode := func(mode string) http.Header { return as(benchUser, mode) }
	plain := mode("off")
	serve := func(ctx context.Context) (*benchProcess, error) { return b.serve(ctx) }
	b.contestants = []contestant{
		{name: "direct", kind: "direct", header: plain},
		{name: "httputil.ReverseProxy", kind: "reverse", header: plain, start: b.reverse},
	}
	if b.nginx != "" {
		b.contestants = append(b.contestants, contestant{name: "nginx", kind: "nginx", header: plain, start: b.serveNginx})
	}
	b.contestants = append(b.contestants,
		contestant{name: "hindsight, nothing recorded", kind: "hindsight", header: plain, start: serve},
		contestant{name: "hindsight, memory off", kind: "hindsight", header: mode("write"), start: serve, records: true},
		contestant{name: "hindsight, no memories yet", kind: "hindsight", header: as("newcomer", "on"), start: serve, records: true},
		contestant{name: fmt.Sprintf("hindsight, recall in %d memories", memories), kind: "hindsight", header: mode("on"), start: serve, records: true},
	)
	return b, nil
}

// lineUp starts one process of each kind. server is Hindsight's.
func (b *benchStack) lineUp(ctx context.Context) (targets []bench.Target, server *benchProcess, err error) {
	started := map[string]*benchProcess{"direct": {url: b.upstream.url}}
	for _, c := range b.contestants {
		if started[c.kind] == nil {
			if started[c.kind], err = c.start(ctx); err != nil {
				return nil, nil, err
			}
		}
		targets = append(targets, c.target(started[c.kind]))
	}
	return targets, started["hindsight"], nil
}

func (b *benchStack) reverse(ctx context.Context) (*benchProcess, error) {
	return b.own(ctx, nil, "bench", "reverse-proxy", "--to", b.upstream.url)
}

// serve starts Hindsight, with more arguments, over a copy of the memories.
func (b *benchStack) serve(ctx context.Context, args ...string) (*benchProcess, error) {
	dir, err := os.MkdirTemp(b.dir, "data")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(b.dir, "filled"))); err != nil {
		return nil, fmt.Errorf("copy the benchmark's memories: %w", err)
	}
	p, err := b.serveOn(ctx, dir, args...)
	if err == nil {
		p.dir = dir
	}
	return p, err
}

// serveOn starts Hindsight on a data directory. A port that was free can be taken by
// the time the server listens: then it tries others.
func (b *benchStack) serveOn(ctx context.Context, dir string, args ...string) (p *benchProcess, err error) {
	for range 3 {
		if p, err = b.serveOnce(ctx, dir, args...); err == nil {
			return p, nil
		}
		if p != nil {
			p.stop()
		}
	}
	return nil, err
}

func (b *benchStack) serveOnce(ctx context.Context, dir string, args ...string) (*benchProcess, error) {
	admin, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	p, err := b.own(ctx, []string{
		"LLM_API_BASE=" + b.upstream.url + "/v1", "HINDSIGHT_REFLECT_MODEL=rules", "HINDSIGHT_SESSION_PER_HOUR=0", "HINDSIGHT_DATA_DIR=" + dir, "HINDSIGHT_TENANT=bench",
		"HINDSIGHT_ADMIN_LISTEN=" + admin, "HINDSIGHT_ADMIN_TOKEN=" + benchToken, "HINDSIGHT_LOG_LEVEL=error", "HINDSIGHT_EMBEDDER=" + b.embedder,
	}, append([]string{"serve"}, args...)...)
	if err != nil {
		return nil, err
	}
	p.admin, p.gentle = "http://"+admin, true
	return p, until(ctx, "memory isn't on", func() bool {
		body, err := fetch(ctx, http.MethodGet, p.admin+"/readyz", "")
		return err == nil && strings.Contains(string(body), `"memory":"on"`)
	})
}

func (b *benchStack) serveNginx(ctx context.Context) (*benchProcess, error) {
	address, err := freeport.Address()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.dir, "nginx")
	if err != nil {
		return nil, fmt.Errorf("make a directory for nginx: %w", err)
	}
	conf := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(conf, []byte(bench.NginxConfig(address, strings.TrimPrefix(b.upstream.url, "http://"), dir)), 0o600); err != nil {
		return nil, fmt.Errorf("configure nginx: %w", err)
	}
	user := ""
	if os.Getuid() == 0 {
		user = " user root;" // the files are this user's
	}
	p, err := b.run(ctx, address, nil, b.nginx, "-c", conf, "-p", dir, "-e", filepath.Join(dir, "error.log"), "-g", "daemon off;"+user)
	if err != nil {
		return nil, err
	}
	p.gentle = true
	return p, nil
}

// idle reads the memory of a server that nobody asks anything, and again when
// it has looked through its memories once.
func (b *benchStack) idle(ctx context.Context, after time.Duration) ([]bench.Footprint, error) {
	start := time.Now()
	p, err := b.serve(ctx)
	if err != nil {
		return nil, err
	}
	defer p.stop()
	recall := b.contestants[len(b.contestants)-1]
	states := []bench.Footprint{{State: fmt.Sprintf("%s after start", after), Target: "hindsight"}, {State: "after one recall", Target: recall.name}}
	if err := wait(ctx, time.Until(start.Add(after))); err != nil {
		return nil, err
	}
	states[0].Add(bench.RssAnon(p.pid()))
	if _, err := bench.Compare(ctx, []bench.Target{recall.target(p), recall.target(p)},
		[]bench.Load{{Script: bench.Small, Conns: 1, For: time.Millisecond}}, 1, func(string, ...any) {}); err != nil {
		return nil, err
	}
	states[1].Add(bench.RssAnon(p.pid()))
	return states, nil
}

func (b *benchStack) stop() {
	for _, p := range b.running {
		p.stop()
	}
	_ = os.RemoveAll(b.dir)
}

// onStore opens the store of a data directory, does something with it, and closes it.
func onStore(ctx context.Context, cfg badgerdb.Config, do func(context.Context, *badgerdb.Store) error) error {
	st, shut, err := runStore(ctx, cfg)
	if err != nil {
		return err
	}
	defer func() { _ = shut() }() // what was done to it counts
	return do(ctx, st)
}

// fillBench writes the memories that recall will look through.
func fillBench(ctx context.Context, st *badgerdb.Store, n int, embedder string) error {
	for i := range n {
		text := fmt.Sprintf("The %s service in %s listens on port %d and is restarted by script %d.",
			bench.Things[i%len(bench.Things)], bench.Places[i/len(bench.Things)%len(bench.Places)], 1024+i, i)
		if _, _, err := st.PutMemory(ctx, store.Memory{
			Tenant: "bench", Scope: store.UserScope(benchUser), Type: store.UserFact, Text: text,
			Importance: 0.7, Confidence: 1, AttributedTo: store.ByUser,
		}); err != nil {
			return fmt.Errorf("write the benchmark's memories: %w", err)
		}
	}
	return embedBench(ctx, st, embedder)
}

// embedBench gives every memory its vector before anything is measured.
func embedBench(ctx context.Context, st *badgerdb.Store, embedder string) error {
	v, err := newVectors(Config{Embedder: embedder}, st, nil, nil, nil)
	if err != nil || v == nil {
		return err
	}
	return v.fill(ctx, nil)
}
