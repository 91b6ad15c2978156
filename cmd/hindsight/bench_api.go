package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"hindsight/internal/bench"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

// benchAPICmd measures what a person waits for at the management API and its
// console.
type benchAPICmd struct {
	Memories int           `default:"100000" help:"Memories in one scope."`
	Calls    int           `default:"60" help:"Calls of each kind."`
	Embedder string        `default:"none" enum:"none,builtin" help:"none: search by words; builtin: by meaning too."`
	Within   time.Duration `default:"200ms" help:"It fails where the 95th percentile of a kind is above this."`
}

// Run fills a directory, starts the product on it and calls the API over HTTP.
func (c *benchAPICmd) Run(ctx context.Context, a *app) error {
	if c.Memories < 100 || c.Calls < 20 {
		return &failure{wrong: "--memories and --calls: want 100 and 20 or more", code: exitUsage}
	}
	dir, err := os.MkdirTemp("", "hindsight-bench")
	if err != nil {
		return fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	defer func() { _ = os.RemoveAll(dir) }() // the figures are what counts
	data := filepath.Join(dir, "data")
	if err := a.fillOneScope(ctx, badgerdb.Config{Dir: data}, c.Memories, c.Embedder); err != nil {
		return err
	}
	cl, stop, err := startAPI(ctx, a, badgerdb.Config{Dir: data}, c.Embedder)
	if err != nil {
		return err
	}
	defer stop()
	deep, err := c.middle(ctx, cl)
	if err != nil {
		return err
	}
	w := &waits{memories: c.Memories, embedder: c.Embedder, each: "call", times: "calls", until: "over HTTP, milliseconds"}
	if err := w.measure(ctx, a, apiCalls(cl, deep), c.Calls); err != nil {
		return err
	}
	return w.report(a, c.Within)
}

// startAPI starts the product in this process and returns a client over TCP.
func startAPI(ctx context.Context, a *app, on badgerdb.Config, embedder string) (*client, func(), error) {
	set := map[string]string{
		"LLM_API_BASE": "http://127.0.0.1:9/v1", "HINDSIGHT_DATA_DIR": on.Dir, "HINDSIGHT_ENCRYPTION_KEY_FILE": on.EncryptionKeyFile, "HINDSIGHT_LOG_LEVEL": "error", "HINDSIGHT_REFLECT_MODEL": "rules",
		"HINDSIGHT_LISTEN": "127.0.0.1:0", "HINDSIGHT_ADMIN_LISTEN": "127.0.0.1:0", "HINDSIGHT_ADMIN_TOKEN": benchToken,
		"HINDSIGHT_EMBEDDER": embedder, "HINDSIGHT_TENANT": "bench",
	}
	env := a.env
	env.get = func(name string) string { return set[name] }
	cfg, err := load(settings{}, setting{}, env, true)
	if err != nil {
		return nil, nil, err
	}
	running, cancel := context.WithCancel(ctx)
	st, err := startStack(running, cfg)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	stop := func() { cancel(); _ = st.wait() } // the figures are what counts
	if err := st.store.Ready(ctx); err != nil {
		stop()
		return nil, nil, err
	}
	cl := &client{http: &http.Client{}, base: st.adminURL(), token: benchToken, where: st.adminURL(), close: func() error { return nil }}
	return cl, stop, nil
}

// middle is the cursor of a page in the middle of the list.
func (c *benchAPICmd) middle(ctx context.Context, cl *client) (string, error) {
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	q := url.Values{"limit": {"1000"}}
	for range c.Memories / 2000 {
		if _, err := cl.do(ctx, http.MethodGet, memoriesPath, q, nil, &page); err != nil {
			return "", err
		}
		q.Set("cursor", page.NextCursor)
	}
	return page.NextCursor, nil
}

// apiCalls are what is measured; deep is the cursor of a page in the middle.
func apiCalls(cl *client, deep string) []kindOfCall {
	get := func(path string, pairs ...string) func(context.Context, int) error {
		q := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return func(ctx context.Context, _ int) error {
			_, err := cl.do(ctx, http.MethodGet, path, q, nil, nil)
			return err
		}
	}
	scope := string(store.UserScope(scopeUser(0)))
	search := func(more map[string]any) func(context.Context, int) error {
		return func(ctx context.Context, n int) error {
			body := map[string]any{"query": askedForPort(n)}
			maps.Copy(body, more)
			_, err := cl.do(ctx, http.MethodPost, memoriesPath+"/search", nil, body, nil)
			return err
		}
	}
	return []kindOfCall{
		{"list, first page", get(memoriesPath)},
		{"list, a page in the middle", get(memoriesPath, "cursor", deep)},
		{"list, by scope and type", get(memoriesPath, "scope", scope, "type", string(store.UserFact))},
		{"list, archived", get(memoriesPath, "state", string(store.Archived))},
		{"list, by subject", func(ctx context.Context, n int) error {
			return get(memoriesPath, "subject", bench.Things[n%len(bench.Things)]+" service")(ctx, n)
		}},
		{"search, all scopes", search(nil)},
		{"search, one scope", search(map[string]any{"scopes": []string{scope}, "types": []string{string(store.UserFact)}})},
		{"overview: stats", get("/api/v1/stats")},
		{"overview: tenants", get(tenantsPath)},
		{"overview: sessions", get(sessionsPath)},
		{"overview: reflections", get(reflectionsPath)},
	}
}
