package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"time"

	"hindsight/internal/bench"
	"hindsight/internal/fakellm"
)

// benchCmd compares speed, side by side in one run.
type benchCmd struct {
	Proxy        benchProxyCmd      `cmd:"" help:"The proxy beside direct calls, Go's own reverse proxy and nginx."`
	Reflect      benchReflectCmd    `cmd:"" help:"The proxy with reflection at full load, and without."`
	Recall       benchRecallCmd     `cmd:"" help:"The first recall after a start and after an eviction, and the memory of many scopes."`
	API          benchAPICmd        `cmd:"" name:"api" help:"The management API over 100,000 memories: lists, searches, the overview."`
	Console      benchConsoleCmd    `cmd:"" help:"The pages of the console over 100,000 memories."`
	Encryption   benchEncryptionCmd `cmd:"" help:"Requests with recall over an encrypted directory beside a plain one."`
	Erase        benchEraseCmd      `cmd:"" help:"The erasure of a scope of 100,000 memories over the management API, with encryption and without."`
	Store        benchStoreCmd      `cmd:"" help:"Weaviate as the store: what scopes cost it, and how fast it writes and answers."`
	Upstream     benchUpstreamCmd   `cmd:"" hidden:"" help:"The benchmark's upstream."`
	Model        benchModelCmd      `cmd:"" hidden:"" help:"The model that the benchmark reflects with."`
	ReverseProxy benchReverseCmd    `cmd:"" hidden:"" help:"Go's own reverse proxy."`
}

type benchProxyCmd struct {
	Rounds   int           `default:"5" help:"Interleaved rounds; medians and ranges are over them."`
	For      time.Duration `default:"2s" help:"How long each target is driven in a round."`
	Memories int           `default:"10000" help:"Memories in the scope that recall looks through."`
	Embedder string        `default:"none" enum:"none,builtin" help:"none: recall by words; builtin: by meaning too, once every memory has its vector, which takes minutes."`
	Full     bool          `help:"Long histories, streams and memory too; takes about ten minutes."`
	Held     int           `default:"1500" help:"Requests of 150 KB that are held open (--full)."`
	Idle     time.Duration `default:"30s" help:"How long after its start an idle server's memory is read (--full)."`
	Profile  string        `placeholder:"DIR" help:"Write profiles of Hindsight's processes into this directory and print where time and memory go."`
	Into     string        `placeholder:"PATH" help:"Write the tables into this Markdown file, between its marks."`
}

type benchUpstreamCmd struct {
	Listen string `required:"" help:"Address to serve on."`
}

type benchModelCmd struct {
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
func (cmd *benchModelCmd) Run(ctx context.Context) error {
	_, stop, err := fakellm.New(fakellm.Config{}).Start(cmd.Listen)
	if err != nil {
		return fmt.Errorf("listen for the benchmark: %w", err)
	}
	defer stop()
	<-ctx.Done()
	return nil
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

// Run starts the upstream, the peers and `serve` as processes of their own and
// drives them in turn.
func (cmd *benchProxyCmd) Run(ctx context.Context, a *app) error {
	if cmd.Rounds < 1 {
		return &failure{wrong: "--rounds: want 1 or more", code: exitUsage}
	}
	b, err := startBench(ctx, cmd.Memories, cmd.Embedder)
	if err != nil {
		return err
	}
	defer b.stop()
	b.shown = a.long("proxy", 0)
	defer b.shown.end()
	r := &benchReport{Machine: bench.Machine(), Rounds: cmd.Rounds, For: cmd.For.String(), Memories: cmd.Memories, Nginx: b.nginx != ""}
	if cmd.Full {
		if err := cmd.memory(ctx, b, r); err != nil {
			return err
		}
	}
	if err := cmd.speed(ctx, b, r); err != nil {
		return err
	}
	if cmd.Profile != "" {
		if err := cmd.profiles(ctx, b, cmd.loads(), r); err != nil {
			return err
		}
	}
	b.shown.end()
	if cmd.Into != "" {
		if err := r.into(cmd.Into); err != nil {
			return err
		}
	}
	if a.json {
		return json.NewEncoder(a.out).Encode(r)
	}
	_, err = fmt.Fprint(a.out, r.markdown())
	return err
}

// speed drives all targets in turn, under every load.
func (cmd *benchProxyCmd) speed(ctx context.Context, b *benchStack, r *benchReport) error {
	targets, server, err := b.lineUp(ctx)
	if err != nil {
		return err
	}
	loads := cmd.loads()
	if r.Rows, err = bench.Compare(ctx, targets, loads, cmd.Rounds, b.shown.doing); err != nil {
		return err
	}
	records, rivals := map[string]bool{}, map[string]bool{}
	for _, c := range b.contestants {
		records[c.name], rivals[c.name] = c.records, c.kind == "reverse" || c.kind == "nginx"
	}
	for _, row := range r.Rows {
		if row.Failed > 0 && !rivals[row.Target] {
			return fmt.Errorf("%d requests to %s failed", row.Failed, row.Target)
		}
		if records[row.Target] {
			r.Asked += row.Requests
		}
	}
	if cmd.Full {
		if r.Ways, err = bench.Streams(ctx, targets, cmd.Rounds, benchStreams, 100, time.Millisecond, b.shown.doing); err != nil {
			return err
		}
		for _, w := range r.Ways {
			if records[w.Target] {
				r.Asked += cmd.Rounds * benchStreams
			}
		}
	}
	r.Kept, err = server.journalled(ctx)
	return err
}

// loads are the kinds of traffic.
func (cmd *benchProxyCmd) loads() []bench.Load {
	loads := []bench.Load{
		{Name: "small body, 1 connection", Script: bench.Small, Conns: 1, For: cmd.For},
		{Name: "small body, 32 connections", Script: bench.Small, Conns: 32, For: cmd.For},
	}
	if cmd.Full {
		histories := bench.Histories(100_000, 60)
		events := bench.Events(100, 0)
		loads = append(loads,
			bench.Load{Name: "history of 100 KB, 1 connection", Script: histories, Conns: 1, For: cmd.For},
			bench.Load{Name: "history of 100 KB, 32 connections", Script: histories, Conns: 32, For: cmd.For},
			bench.Load{Name: "stream of 100 events, 1 connection", Script: bench.Streaming, Header: events, Conns: 1, For: cmd.For},
			bench.Load{Name: "stream of 100 events, 32 connections", Script: bench.Streaming, Header: events, Conns: 32, For: cmd.For},
		)
	}
	return loads
}

// benchStreams is how many paced streams each target gets in a round.
const benchStreams = 10

// memory measures fresh processes: one at rest, then each contestant's with
// many requests held open.
func (cmd *benchProxyCmd) memory(ctx context.Context, b *benchStack, r *benchReport) error {
	b.shown.doing("an idle server, for %s", cmd.Idle)
	var err error
	if r.Footprints, err = b.idle(ctx, cmd.Idle); err != nil {
		return err
	}
	held := make([]bench.Footprint, len(b.contestants)-1)
	script := bench.Histories(150_000, 60)
	for round := range cmd.Rounds {
		for i, c := range b.contestants[1:] {
			b.shown.doing("round %d of %d: %d requests held, %s", round+1, cmd.Rounds, cmd.Held, c.name)
			p, err := c.start(ctx)
			if err != nil {
				return err
			}
			peak, err := bench.Hold(ctx, c.target(p), b.upstream.url, cmd.Held, script)
			p.stop()
			if err != nil {
				return err
			}
			held[i].State, held[i].Target = fmt.Sprintf("peak with %d requests of 150 KB held open", cmd.Held), c.name
			held[i].Add(peak)
		}
	}
	r.Footprints = append(r.Footprints, held...)
	return nil
}
