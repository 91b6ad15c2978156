package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"hindsight/internal/bench"
	"hindsight/internal/fakellm"
)

// benchReflectCmd compares the proxy's latency with reflection at full load and
// without, at one fixed rate of requests that is well below what the machine
// can do: at its limit whatever reflection needs is taken from requests.
type benchReflectCmd struct {
	Rounds int           `default:"5" help:"Pairs; medians and ranges are over them."`
	For    time.Duration `default:"4s" help:"How long each is driven."`
	Conns  int           `default:"32" help:"Connections that share the requests."`
	Rate   float64       `help:"Requests a second; default: a quarter of what this machine does at most, measured first."`
	Into   string        `placeholder:"PATH" help:"Write the table into this Markdown file, between its marks."`
}

// reflectBench is one side of the comparison.
type reflectBench struct {
	Name     string       `json:"name"`
	Requests int          `json:"requests"`
	P50      bench.Spread `json:"p50_ms"`
	P99      bench.Spread `json:"p99_ms"`
	CPU      bench.Spread `json:"cpu_ms_per_request"`
	Calls    float64      `json:"reflection_calls"` // of a model, while it was driven
	Busy     float64      `json:"reflection_busy"`  // share of the moments looked at in which jobs were being worked

	idle    string // after which a session is over
	looks   float64
	results []bench.Result
}

// reflectShare of what the machine can do is what the requests take.
const reflectShare = 0.25

// Run starts a server of its own for every measurement: what one has still to
// reflect must not disturb another.
func (c *benchReflectCmd) Run(ctx context.Context, a *app) error {
	if c.Rounds < 1 || c.Conns < 1 || c.For <= 0 || c.Rate < 0 {
		return &failure{wrong: "--rounds, --conns, --for and --rate: want more than nothing", code: exitUsage}
	}
	b, err := startBench(ctx, 1, "none")
	if err != nil {
		return err
	}
	defer b.stop()
	// In a process of its own, as models are: here it would delay the load that it
	// is to be measured by.
	served, err := b.own(ctx, nil, "bench", "model")
	if err != nil {
		return err
	}
	model := served.url + "/v1"
	b.shown = a.long("reflection", 0)
	defer b.shown.end()
	b.shown.doing("what is to be known")
	if err := c.teach(ctx, b, model); err != nil {
		return err
	}
	sides := []*reflectBench{{Name: "no session ends", idle: "24h"}, {Name: "reflection at full load", idle: "1s"}}
	for round := range c.Rounds {
		for i := range sides {
			side := sides[(i+round)%2] // neither is always the first
			b.shown.doing("round %d of %d: %s", round+1, c.Rounds, side.Name)
			if err := c.measure(ctx, b, side, model); err != nil {
				return err
			}
		}
	}
	b.shown.end()
	for _, s := range sides {
		s.P50, s.P99, _ = bench.Figures(s.results)
		s.CPU = bench.CPUs(s.results)
		s.Busy /= max(1, s.looks)
	}
	report := c.markdown(sides)
	if c.Into != "" {
		if err := between(c.Into, benchReflectOpen, benchReflectShut, report); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"machine": bench.Machine(), "rounds": c.Rounds, "for": c.For.String(), "requests_per_second": c.Rate, "sides": sides})
	}
	_, err = fmt.Fprint(a.out, report)
	return err
}

func (c *benchReflectCmd) markdown(sides []*reflectBench) string {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"hindsight", "requests", "p50 ms", "p99 ms", "CPU ms/request", "reflection's calls", "reflecting"})
	for _, s := range sides {
		t.AppendRow(table.Row{s.Name, s.Requests, s.P50.Text(3), s.P99.Text(3), s.CPU.Text(3), s.Calls, fmt.Sprintf("%.0f %% of the time", 100*s.Busy)})
	}
	return fmt.Sprintf("%s; %d pairs of %s, %.0f requests a second over %d connections; median (least to most).\n\n%s\n",
		bench.Machine(), c.Rounds, c.For, c.Rate, c.Conns, t.RenderMarkdown())
}

// teach leaves in the benchmark's directory what its requests say, so that recall
// has the same to look through on either side.
func (c *benchReflectCmd) teach(ctx context.Context, b *benchStack, model string) error {
	p, err := b.serveOn(ctx, filepath.Join(b.dir, "filled"), reflectArgs("1s", model)...)
	if err != nil {
		return err
	}
	defer p.stop()
	var numbers atomic.Int64
	if _, err := bench.Drive(ctx, asTarget("teaching", p), bench.Load{Script: bench.Taught, Conns: 1, For: 200 * time.Millisecond}, &numbers); err != nil {
		return err
	}
	if err := wait(ctx, 1500*time.Millisecond); err != nil { // they have all been idle for a second
		return err
	}
	return until(ctx, "the sessions aren't reflected", func() bool {
		calls, _, err := p.metrics(ctx, "hindsight_reflect_calls_total")
		if err != nil || calls == 0 {
			return false
		}
		queued, _, err := p.metrics(ctx, `hindsight_reflection_jobs{state="queued"}`)
		if err != nil {
			return false
		}
		running, _, err := p.metrics(ctx, `hindsight_reflection_jobs{state="running"}`)
		return err == nil && queued+running == 0
	})
}

// reflectArgs are the arguments of a server that reflects with a model.
func reflectArgs(idle, model string) []string {
	return []string{"--session-idle", idle, "--reflect-model", fakellm.Model, "--reflect-api-base", model, "--reflect-budget-least", "1000000000"}
}

// asTarget is a server as the target of what one user says.
func asTarget(name string, p *benchProcess) bench.Target {
	return bench.Target{Name: name, URL: p.url + benchChat, PID: p.pid(), Header: http.Header{
		"Hindsight-User": {benchUser}, "Authorization": {"Bearer sk-bench"},
	}}
}

func (c *benchReflectCmd) measure(ctx context.Context, b *benchStack, side *reflectBench, model string) error {
	p, err := b.serve(ctx, reflectArgs(side.idle, model)...)
	if err != nil {
		return err
	}
	defer p.stop()
	target := asTarget(side.Name, p)
	var numbers atomic.Int64
	// Sessions enough that reflection doesn't come to their end; they go idle
	// while the last of them are still being made.
	load := bench.Load{Script: bench.Taught, Conns: c.Conns, For: 3 * time.Second}
	most, err := bench.Drive(ctx, target, load, &numbers)
	if err != nil {
		return err
	}
	if c.Rate == 0 {
		c.Rate = math.Round(reflectShare * most.PerSec)
	}
	before, _, err := p.metrics(ctx, "hindsight_reflect_calls_total")
	if err != nil {
		return err
	}
	looking, looked := context.WithCancel(ctx)
	watched := make(chan error, 1)
	go func() { watched <- side.watch(looking, p) }()
	load.For = c.For
	r, err := bench.Pace(ctx, target, load, c.Rate, &numbers)
	looked()
	if err := errors.Join(err, <-watched); err != nil {
		return err
	}
	after, _, err := p.metrics(ctx, "hindsight_reflect_calls_total")
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

// watch looks now and then whether jobs are being worked, until ctx ends.
func (s *reflectBench) watch(ctx context.Context, p *benchProcess) error {
	for wait(ctx, 100*time.Millisecond) == nil {
		n, _, err := p.metrics(ctx, `hindsight_reflection_jobs{state="running"}`)
		if err != nil && ctx.Err() == nil {
			return err
		}
		if s.looks++; n > 0 {
			s.Busy++
		}
	}
	return nil
}
