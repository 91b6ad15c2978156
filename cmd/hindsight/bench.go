package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"hindsight/internal/bench"
)

// benchCmd compares speed, side by side in one run.
type benchCmd struct {
	Proxy        benchProxyCmd    `cmd:"" help:"The proxy beside direct calls and Go's own reverse proxy."`
	Upstream     benchUpstreamCmd `cmd:"" hidden:"" help:"The benchmark's upstream."`
	ReverseProxy benchReverseCmd  `cmd:"" hidden:"" help:"Go's own reverse proxy."`
}

type benchProxyCmd struct {
	Rounds   int           `default:"5" help:"Interleaved rounds; medians and ranges are over them."`
	For      time.Duration `default:"2s" help:"How long each target is driven in a round."`
	Memories int           `default:"10000" help:"Memories in the scope that recall looks through."`
}

type benchUpstreamCmd struct {
	Listen string `required:"" help:"Address to serve on."`
}

type benchReverseCmd struct {
	Listen string `required:"" help:"Address to serve on."`
	To     string `required:"" help:"URL to forward to."`
}

// Run serves until it is killed.
func (cmd *benchUpstreamCmd) Run() error {
	ln, err := net.Listen("tcp", cmd.Listen)
	if err != nil {
		return fmt.Errorf("listen for the benchmark: %w", err)
	}
	return bench.ServeUpstream(ln)
}

// Run serves until it is killed.
func (cmd *benchReverseCmd) Run() error {
	to, err := url.Parse(cmd.To)
	if err != nil {
		return fmt.Errorf("parse --to: %w", err)
	}
	ln, err := net.Listen("tcp", cmd.Listen)
	if err != nil {
		return fmt.Errorf("listen for the benchmark: %w", err)
	}
	return bench.ServeReverseProxy(ln, to)
}

// Run starts the upstream, the yardstick and `serve` as processes of their own
// and drives them in turn.
func (cmd *benchProxyCmd) Run(ctx context.Context, a *app) error {
	out := a.out
	b, err := startBench(ctx, cmd.Memories)
	if err != nil {
		return err
	}
	defer b.stop()
	user := http.Header{"Hindsight-User": {benchUser}, "Authorization": {"Bearer sk-bench"}}
	with := func(mode string) http.Header {
		h := user.Clone()
		h.Set("Hindsight-Memory", mode)
		return h
	}
	chat := "/v1/chat/completions"
	targets := []bench.Target{
		{Name: "direct", URL: b.upstream + chat, Header: user},
		{Name: "httputil.ReverseProxy", URL: b.reverse + chat, Header: user},
		{Name: "hindsight, nothing recorded", URL: b.proxy + chat, Header: with("off")},
		{Name: "hindsight, memory off", URL: b.proxy + chat, Header: with("write")},
		{Name: fmt.Sprintf("hindsight, recall in %d memories", cmd.Memories), URL: b.proxy + chat, Header: with("on")},
	}
	small := func(n int) []byte {
		return fmt.Appendf(nil, `{"model":"bench-1","messages":[{"role":"user","content":"Request %d: which port does the %s service use in %s?"}]}`,
			n, benchThings[n%len(benchThings)], benchPlaces[n/7%len(benchPlaces)])
	}
	loads := []bench.Load{
		{Name: "small body, 1 connection", Body: small, Conns: 1, For: cmd.For},
		{Name: "small body, 32 connections", Body: small, Conns: 32, For: cmd.For},
	}
	rows, err := bench.Compare(ctx, targets, loads, cmd.Rounds, os.Stderr)
	if err != nil {
		return err
	}
	asked := 0
	for _, r := range rows {
		if r.Failed > 0 {
			return fmt.Errorf("%d requests to %s failed", r.Failed, r.Target)
		}
		if r.Target == targets[3].Name || r.Target == targets[4].Name {
			asked += r.Requests
		}
	}
	kept, err := b.journalled(ctx)
	if err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(out).Encode(map[string]any{"rows": rows, "requests_to_record": asked, "exchanges_journalled": kept, "machine": bench.Machine()})
	}
	fmt.Fprintf(out, "%s; %d rounds of %s, interleaved; median (least to most)\n\n", bench.Machine(), cmd.Rounds, cmd.For)
	bench.Print(out, rows)
	fmt.Fprintf(out, "\n\"memory off\" records every exchange and injects nothing, as `serve` does for a user without memories.\nRequests to record: %d. Exchanges journalled: %d.\n", asked, kept)
	return nil
}
