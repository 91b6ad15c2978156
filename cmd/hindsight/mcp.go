package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"sync"

	"hindsight/proxy/mcpserver"
)

// mcpCmd is `hindsight mcp`.
type mcpCmd struct {
	Serve mcpServe `cmd:"" default:"withargs" help:"Speak MCP over standard input and output."`
	Test  mcpTest  `cmd:"" help:"Check that MCP works here: start it, write a note, find it, erase it."`
}

// mcpServe is `hindsight mcp` without a word behind it, as clients start it.
type mcpServe struct {
	Settings settings `embed:""`
	Admin    string   `name:"admin" group:"reach" placeholder:"URL" help:"The management API's address, where it isn't of this machine."`
}

// Run speaks with the client until that closes its side.
func (c *mcpServe) Run(ctx context.Context, a *app) error {
	cfg, err := load(c.Settings, a.config, a.env, false)
	if err != nil {
		return err
	}
	g, err := grantOf(cfg, cfg.Identity.tenantName(), cfg.Identity.userName())
	if err != nil {
		return &failure{wrong: err.Error(), next: "On a machine of your own the names default and local are implied; in a container, or where the proxy listens for others, they aren't.", code: exitUsage}
	}
	to, end, err := mcpWay(ctx, cfg, c.Admin)
	if err != nil {
		return err
	}
	srv, err := newMCP(cfg, to, newLogger(cfg.Log))
	if err != nil {
		return errors.Join(err, end())
	}
	running, stop := context.WithCancel(ctx)
	var rest sync.WaitGroup
	rest.Go(func() { srv.Run(running) })
	err = srv.Serve(ctx, g, os.Stdin, a.out)
	stop()
	rest.Wait()
	return errors.Join(err, end())
}

// mcpWay is the way to the memory: to the address that is named or configured
// where the directory is elsewhere, else by way of the data directory.
func mcpWay(ctx context.Context, cfg Config, address string) (http.RoundTripper, func() error, error) {
	if address == "" {
		_, missing := os.Stat(cfg.Store.Dir)
		if missing == nil || !cfg.Admin.Chosen || !listening(ctx, cfg.Admin.Listen) {
			w := &way{cfg: cfg}
			return w, w.close, nil
		}
		address = adminBase(cfg)
	}
	c, err := remote(cfg, address)
	if err != nil {
		return nil, nil, err
	}
	base, err := url.Parse(c.base)
	if err != nil {
		return nil, nil, fmt.Errorf("read the address: %w", err)
	}
	return away{base, c.token, c.http.Transport}, c.close, nil
}

// away sends calls to a management API at an address.
type away struct {
	base  *url.URL
	token string
	by    http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (w away) RoundTrip(r *http.Request) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.URL.Scheme, out.URL.Host, out.Host = w.base.Scheme, w.base.Host, ""
	if w.base.Path != "" {
		out.URL.Path = w.base.Path + out.URL.Path
		out.URL.RawPath = ""
	}
	out.Header.Set("Authorization", "Bearer "+w.token)
	return w.by.RoundTrip(out)
}

// mcpTest is `hindsight mcp test`.
type mcpTest struct {
	reach
	URL string `name:"url" placeholder:"URL" help:"An address of MCP over HTTP, such as http://127.0.0.1:8081/mcp, instead of standard input and output."`
}

// Run plays a client and says how long each step took.
func (c *mcpTest) Run(ctx context.Context, a *app) error {
	cfg, err := c.config(a)
	if err != nil {
		return err
	}
	ask := mcpserver.Smoke{Names: cfg.MCPNames, Version: thisBuild().Version, Erase: func(ctx context.Context, id string) error {
		client, err := a.client(ctx, c.reach)
		if err != nil {
			return err
		}
		_, err = client.do(ctx, http.MethodDelete, memoriesPath+"/"+url.PathEscape(id), url.Values{"erase": {"true"}}, nil, nil)
		return errors.Join(err, client.close())
	}}
	if c.URL != "" {
		at, err := remote(cfg, c.URL)
		if err != nil {
			return err
		}
		ask.URL, ask.Token, ask.By = c.URL, at.token, at.http.Transport
	} else if ask.Command, err = c.command(a); err != nil {
		return err
	}
	steps, err := ask.Run(ctx)
	for _, s := range steps {
		if err := a.say("%7.0f ms  %s", float64(s.Took.Microseconds())/1000, s.What); err != nil {
			return err
		}
	}
	if err != nil {
		return &failure{wrong: err.Error(), next: "`hindsight doctor` says more; docs/mcp.md how clients are set up."}
	}
	return a.say("MCP works.")
}

// command starts this very program as a client would.
func (c *mcpTest) command(a *app) ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	out := []string{self}
	if a.config.given() {
		out = append(out, "--config", a.config.raw)
	}
	out = append(out, "mcp")
	if c.DataDir.given() {
		out = append(out, "--data-dir", c.DataDir.raw)
	}
	if c.Admin != "" {
		out = append(out, "--admin", c.Admin)
	}
	return out, nil
}
