package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// apiRow is one kind of call, in milliseconds.
type apiRow struct {
	Call  string  `json:"call"`
	Calls int     `json:"calls"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	Most  float64 `json:"most_ms"`
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
	shown := a.long(fmt.Sprintf("filling a scope of %d memories", c.Memories), 0)
	err = onStore(ctx, filepath.Join(dir, "data"), func(ctx context.Context, st *badgerdb.Store) error {
		return fillScopes(ctx, st, shown, 1, c.Memories, c.Embedder)
	})
	shown.end()
	if err != nil {
		return err
	}
	cl, stop, err := c.start(ctx, a, filepath.Join(dir, "data"))
	if err != nil {
		return err
	}
	defer stop()
	rows, err := c.measure(ctx, a, cl)
	if err != nil {
		return err
	}
	if err := c.print(a, rows); err != nil {
		return err
	}
	for _, r := range rows {
		if limit := float64(c.Within) / 1e6; r.P95 > limit {
			return &failure{wrong: fmt.Sprintf("%s takes %.0f ms at the 95th percentile, more than %v", r.Call, r.P95, c.Within)}
		}
	}
	return nil
}

// start starts the product in this process and returns a client over TCP.
func (c *benchAPICmd) start(ctx context.Context, a *app, dir string) (*client, func(), error) {
	set := map[string]string{
		"LLM_API_BASE": "http://127.0.0.1:9/v1", "HINDSIGHT_DATA_DIR": dir, "HINDSIGHT_LOG_LEVEL": "error", "HINDSIGHT_REFLECT_MODEL": "rules",
		"HINDSIGHT_LISTEN": "127.0.0.1:0", "HINDSIGHT_ADMIN_LISTEN": "127.0.0.1:0", "HINDSIGHT_ADMIN_TOKEN": benchToken,
		"HINDSIGHT_EMBEDDER": c.Embedder, "HINDSIGHT_TENANT": "bench",
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

// apiCall is one kind of call; n tells its repetitions apart.
type apiCall struct {
	name string
	do   func(n int) (method, path string, q url.Values, body any)
}

func (c *benchAPICmd) calls(deep string) []apiCall {
	get := func(path string, pairs ...string) func(int) (string, string, url.Values, any) {
		q := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			q.Set(pairs[i], pairs[i+1])
		}
		return func(int) (string, string, url.Values, any) { return http.MethodGet, path, q, nil }
	}
	scope := string(store.UserScope(scopeUser(0)))
	question := func(n int) string {
		return fmt.Sprintf("Which port does the %s service in %s listen on?", bench.Things[n%len(bench.Things)], bench.Places[n%len(bench.Places)])
	}
	return []apiCall{
		{"list, first page", get(memoriesPath)},
		{"list, a page in the middle", get(memoriesPath, "cursor", deep)},
		{"list, by scope and type", get(memoriesPath, "scope", scope, "type", string(store.UserFact))},
		{"list, archived", get(memoriesPath, "state", string(store.Archived))},
		{"list, by subject", func(n int) (string, string, url.Values, any) {
			return http.MethodGet, memoriesPath, url.Values{"subject": {bench.Things[n%len(bench.Things)] + " service"}}, nil
		}},
		{"search, all scopes", func(n int) (string, string, url.Values, any) {
			return http.MethodPost, memoriesPath + "/search", nil, map[string]any{"query": question(n)}
		}},
		{"search, one scope", func(n int) (string, string, url.Values, any) {
			return http.MethodPost, memoriesPath + "/search", nil, map[string]any{"query": question(n), "scopes": []string{scope}, "types": []string{string(store.UserFact)}}
		}},
		{"overview: stats", get("/api/v1/stats")},
		{"overview: tenants", get(tenantsPath)},
		{"overview: sessions", get(sessionsPath)},
		{"overview: reflections", get(reflectionsPath)},
	}
}

// measure makes each kind of call once to warm up, and then in turn.
func (c *benchAPICmd) measure(ctx context.Context, a *app, cl *client) ([]apiRow, error) {
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	q := url.Values{"limit": {"1000"}}
	for range c.Memories / 2000 {
		if _, err := cl.do(ctx, http.MethodGet, memoriesPath, q, nil, &page); err != nil {
			return nil, err
		}
		q.Set("cursor", page.NextCursor)
	}
	calls := c.calls(page.NextCursor)
	times := make([][]time.Duration, len(calls))
	shown := a.long("calls", (c.Calls+1)*len(calls))
	defer shown.end()
	for n := range c.Calls + 1 {
		for i, call := range calls {
			method, path, q, body := call.do(n)
			began := time.Now()
			if _, err := cl.do(ctx, method, path, q, body, nil); err != nil {
				return nil, fmt.Errorf("%s: %w", call.name, err)
			}
			if n > 0 {
				times[i] = append(times[i], time.Since(began))
			}
			shown.at(n*len(calls) + i + 1)
		}
	}
	rows := make([]apiRow, len(calls))
	for i, all := range times {
		slices.Sort(all)
		ms := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1)+0.5)]) / 1e6 }
		rows[i] = apiRow{calls[i].name, len(all), ms(0.5), ms(0.95), ms(1)}
	}
	return rows, nil
}

func (c *benchAPICmd) print(a *app, rows []apiRow) error {
	if a.json {
		return a.printJSON(map[string]any{"machine": bench.Machine(), "memories": c.Memories, "embedder": c.Embedder, "calls": rows})
	}
	if err := a.say("%s; %d memories in one scope, embedder %s; over HTTP, milliseconds", bench.Machine(), c.Memories, c.Embedder); err != nil {
		return err
	}
	cells := make([][]string, len(rows))
	one := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
	for i, r := range rows {
		cells[i] = []string{r.Call, one(r.P50), one(r.P95), one(r.Most)}
	}
	return a.printTable([]string{"call", "p50", "p95", "most"}, -1, cells)
}
