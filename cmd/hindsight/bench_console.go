package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"path/filepath"
	"time"

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

// Run fills a data directory, starts a server on it and looks at its pages.
func (c *benchConsoleCmd) Run(ctx context.Context, a *app) error {
	if c.Memories < 1 || c.Pages < 1 {
		return &failure{wrong: "--memories and --pages: want 1 or more", code: exitUsage}
	}
	b, err := newBench(ctx, c.Embedder)
	if err != nil {
		return err
	}
	defer b.stop()
	dir := filepath.Join(b.dir, "filled")
	if err := a.fillOneScope(ctx, badgerdb.Config{Dir: dir}, c.Memories, c.Embedder); err != nil {
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
	w := &waits{memories: c.Memories, embedder: c.Embedder, each: "page", times: "asked", until: "milliseconds until a page's last byte"}
	if err := w.measure(ctx, a, r.pages(), c.Pages); err != nil {
		return err
	}
	return w.report(a, c.Within)
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

// pages are what is measured.
func (r *reader) pages() []kindOfCall {
	get := func(path string) func(context.Context, int) error {
		return func(ctx context.Context, _ int) error { return r.read(ctx, path) }
	}
	return []kindOfCall{
		{"overview", get("/console/")},
		{"list", get("/console/memories")},
		{"list, by type", get("/console/memories?type=user_fact")},
		{"search", func(ctx context.Context, n int) error {
			return r.read(ctx, "/console/memories?q="+url.QueryEscape(askedForPort(n)))
		}},
		{"sessions", get("/console/sessions")},
	}
}
