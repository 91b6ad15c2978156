package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"hindsight/internal/bench"
	"hindsight/internal/fakellm"
)

// benchReflectCmd compares the proxy's latency with reflection at full load and
// without.
type benchReflectCmd struct {
	Rounds int           `default:"5" help:"Pairs; medians and ranges are over them."`
	For    time.Duration `default:"4s" help:"How long each is driven."`
	Conns  int           `default:"4" help:"Connections."`
}

// reflectBench is one side of the comparison.
type reflectBench struct {
	Name     string       `json:"name"`
	Requests int          `json:"requests"`
	P50      bench.Spread `json:"p50_ms"`
	P99      bench.Spread `json:"p99_ms"`
	PerSec   bench.Spread `json:"requests_per_second"`
	Calls    float64      `json:"reflection_calls"` // of a model, while it was driven

	idle    string // after which a session is over
	results []bench.Result
}

// Run starts a server of its own for every measurement: what one has still to
// reflect must not disturb another.
func (c *benchReflectCmd) Run(ctx context.Context, a *app) error {
	if c.Rounds < 1 || c.Conns < 1 || c.For <= 0 {
		return &failure{wrong: "--rounds, --conns and --for: want more than nothing", code: exitUsage}
	}
	b, err := startBench(ctx, 1, "none")
	if err != nil {
		return err
	}
	defer b.stop()
	model, stop, err := fakellm.New(fakellm.Config{}).Start("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer stop()
	sides := []*reflectBench{{Name: "no session ends", idle: "24h"}, {Name: "reflection at full load", idle: "1s"}}
	shown := a.long("rounds", 2*c.Rounds)
	defer shown.end()
	for round := range c.Rounds {
		for i := range sides {
			side := sides[(i+round)%2] // neither is always the first
			if err := c.measure(ctx, b, side, model); err != nil {
				return err
			}
			shown.at(2*round + i + 1)
		}
	}
	shown.end()
	rows := make([][]string, len(sides))
	for i, s := range sides {
		s.P50, s.P99, s.PerSec = bench.Figures(s.results)
		rows[i] = []string{s.Name, strconv.Itoa(s.Requests), s.P50.Text(3), s.P99.Text(3), s.PerSec.Text(0), strconv.FormatFloat(s.Calls, 'f', 0, 64)}
	}
	if a.json {
		return a.printJSON(map[string]any{"sides": sides})
	}
	return a.printTable([]string{"hindsight", "requests", "p50 ms", "p99 ms", "requests/s", "reflections' calls"}, -1, rows)
}

func (c *benchReflectCmd) measure(ctx context.Context, b *benchStack, side *reflectBench, model string) error {
	dir, err := os.MkdirTemp(b.dir, "data")
	if err != nil {
		return fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	p, err := b.serveOn(ctx, dir, "--session-idle", side.idle, "--reflect-model", fakellm.Model,
		"--reflect-api-base", model, "--reflect-budget-least", "1000000000")
	if err != nil {
		return err
	}
	defer p.stop()
	target := bench.Target{Name: side.Name, URL: p.url + benchChat, PID: p.pid(), Header: http.Header{
		"Hindsight-User": {benchUser}, "Authorization": {"Bearer sk-bench"},
	}}
	var numbers atomic.Int64
	load := bench.Load{Script: bench.Taught, Conns: c.Conns, For: 2 * time.Second}
	if _, err := bench.Drive(ctx, target, load, &numbers); err != nil { // until sessions are idle and reflection is at it
		return err
	}
	before, err := reflectionCalls(ctx, p)
	if err != nil {
		return err
	}
	load.For = c.For
	r, err := bench.Drive(ctx, target, load, &numbers)
	if err != nil {
		return err
	}
	after, err := reflectionCalls(ctx, p)
	if err != nil {
		return err
	}
	if r.Failed > 0 {
		return fmt.Errorf("%d requests failed", r.Failed)
	}
	if side.idle == "1s" && after == before {
		return errors.New("nothing was reflected meanwhile")
	}
	side.Requests += r.Requests
	side.Calls += after - before
	side.results = append(side.results, r)
	return nil
}

// reflectionCalls reads how often a server has asked a model.
func reflectionCalls(ctx context.Context, p *benchProcess) (float64, error) {
	raw, err := fetch(ctx, http.MethodGet, p.admin+"/metrics", benchToken)
	if err != nil {
		return 0, err
	}
	n := 0.0
	for sc := bufio.NewScanner(bytes.NewReader(raw)); sc.Scan(); {
		if name, value, ok := strings.Cut(sc.Text(), " "); ok && strings.HasPrefix(name, "hindsight_reflect_calls_total") {
			v, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return 0, fmt.Errorf("read the metrics: %w", err)
			}
			n += v
		}
	}
	return n, nil
}
