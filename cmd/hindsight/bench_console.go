package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"hindsight/internal/bench"
	"hindsight/proxy/admin"
	"hindsight/store/badgerdb"
)

// benchConsoleCmd measures what a person waits for at the console.
type benchConsoleCmd struct {
	Memories int           `default:"100000" help:"Memories in one scope."`
	Pages    int           `default:"60" help:"How often each page is asked for."`
	Embedder string        `default:"builtin" enum:"none,builtin" help:"builtin: search by meaning too; none: by words alone."`
	Within   time.Duration `default:"200ms" help:"It fails where the 95th percentile of a page is above this."`
}

// pageRow is one page, in milliseconds until its last byte.
type pageRow struct {
	Page  string  `json:"page"`
	Asked int     `json:"asked"`
	P50   float64 `json:"p50_ms"`
	P95   float64 `json:"p95_ms"`
	Most  float64 `json:"most_ms"`
}

// Run fills a data directory, starts a server on it and looks at its pages.
func (c *benchConsoleCmd) Run(ctx context.Context, a *app) (err error) {
	b := &benchStack{embedder: c.Embedder}
	defer b.stop()
	if b.dir, err = os.MkdirTemp("", "hindsight-bench"); err != nil {
		return fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	if b.upstream, err = b.own(ctx, nil, "bench", "upstream"); err != nil {
		return err
	}
	dir := filepath.Join(b.dir, "filled")
	shown := a.long(fmt.Sprintf("filling a scope of %d memories", c.Memories), 0)
	defer shown.end()
	if err := onStore(ctx, dir, func(ctx context.Context, st *badgerdb.Store) error {
		return fillScopes(ctx, st, shown, 1, c.Memories, c.Embedder)
	}); err != nil {
		return err
	}
	server, err := b.serveOn(ctx, dir)
	if err != nil {
		return err
	}
	r, err := newReader(ctx, server.admin)
	if err != nil {
		return err
	}
	rows, err := c.measure(ctx, r, shown)
	shown.end()
	if err != nil {
		return err
	}
	if err := c.print(a, rows); err != nil {
		return err
	}
	for _, row := range rows {
		if row.P95 > float64(c.Within)/1e6 {
			return &failure{wrong: fmt.Sprintf("%s takes %.0f ms at the 95th percentile, more than %v", row.Page, row.P95, c.Within)}
		}
	}
	return nil
}

// reader is a browser that is logged in.
type reader struct {
	client http.Client
	base   string
}

func newReader(ctx context.Context, base string) (*reader, error) {
	raw, err := fetch(ctx, http.MethodPost, base+"/api/v1/console/links", benchToken)
	if err != nil {
		return nil, err
	}
	var link admin.ConsoleLink
	if err := json.Unmarshal(raw, &link); err != nil {
		return nil, fmt.Errorf("read the link: %w", err)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, fmt.Errorf("keep cookies: %w", err)
	}
	r := &reader{http.Client{Jar: jar}, base}
	return r, r.read(ctx, link.Path)
}

// read asks for a page and reads all of it.
func (r *reader) read(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, nil)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s", path, resp.Status)
	}
	return nil
}

// measure asks for each page once, and then for all of them in turn.
func (c *benchConsoleCmd) measure(ctx context.Context, r *reader, shown *bar) ([]pageRow, error) {
	question := func(n int) string {
		return url.QueryEscape(fmt.Sprintf("Which port does the %s service in %s listen on?", bench.Things[n%len(bench.Things)], bench.Places[n%len(bench.Places)]))
	}
	pages := []struct {
		name string
		path func(n int) string
	}{
		{"overview", func(int) string { return "/console/" }},
		{"list", func(int) string { return "/console/memories" }},
		{"list, by type", func(int) string { return "/console/memories?type=user_fact" }},
		{"search", func(n int) string { return "/console/memories?q=" + question(n) }},
		{"sessions", func(int) string { return "/console/sessions" }},
	}
	times := make([][]time.Duration, len(pages))
	for n := range c.Pages + 1 {
		shown.doing("round %d of %d", n, c.Pages)
		for i, page := range pages {
			began := time.Now()
			if err := r.read(ctx, page.path(n)); err != nil {
				return nil, err
			}
			if n > 0 { // the first finds nothing ready
				times[i] = append(times[i], time.Since(began))
			}
		}
	}
	rows := make([]pageRow, len(pages))
	for i, all := range times {
		slices.Sort(all)
		at := func(share float64) float64 { return float64(all[int(share*float64(len(all)-1)+0.5)]) / 1e6 }
		rows[i] = pageRow{pages[i].name, len(all), at(0.5), at(0.95), at(1)}
	}
	return rows, nil
}

func (c *benchConsoleCmd) print(a *app, rows []pageRow) error {
	if a.json {
		return a.printJSON(map[string]any{"machine": bench.Machine(), "memories": c.Memories, "embedder": c.Embedder, "pages": rows})
	}
	if err := a.say("%s; %d memories in one scope, embedder %s; milliseconds until a page's last byte", bench.Machine(), c.Memories, c.Embedder); err != nil {
		return err
	}
	ms := func(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }
	cells := make([][]string, len(rows))
	for i, r := range rows {
		cells[i] = []string{r.Page, strconv.Itoa(r.Asked), ms(r.P50), ms(r.P95), ms(r.Most)}
	}
	return a.printTable([]string{"page", "asked", "p50", "p95", "most"}, -1, cells)
}
