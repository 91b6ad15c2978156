package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"hindsight/internal/bench"
	"hindsight/store/badgerdb"
)

// benchEncryptionCmd is `hindsight bench encryption`.
type benchEncryptionCmd struct {
	Memories int    `default:"10000" help:"Memories in the scope."`
	Embedder string `default:"builtin" enum:"none,builtin" help:"builtin: by meaning too; none: by words alone."`
	Rounds   int    `default:"5" help:"Rounds, in each of which both servers are asked in turn."`
	Ask      int    `default:"200" help:"Questions to each server in a round."`
}

// encryptionRow is what requests with recall took of one server.
type encryptionRow struct {
	Directory string          `json:"directory"`
	P50       []time.Duration `json:"p50_ns"` // of each round
	all       []time.Duration
	server    *benchProcess
}

// Run serves the same memories from a plain and an encrypted directory and asks
// both servers the same questions, in turn.
func (c *benchEncryptionCmd) Run(ctx context.Context, a *app) error {
	if c.Memories < 1 || c.Rounds < 1 || c.Ask < 2 {
		return &failure{wrong: "--memories, --rounds and --ask: want 1, 1 and 2 or more", code: exitUsage}
	}
	b, err := newBench(ctx, c.Embedder)
	if err != nil {
		return err
	}
	defer b.stop()
	key, err := benchKey(b.dir)
	if err != nil {
		return err
	}
	rows := []*encryptionRow{{Directory: "plain"}, {Directory: "encrypted"}}
	for _, r := range rows {
		if err := c.serve(ctx, a, b, r, key); err != nil {
			return fmt.Errorf("%s: %w", r.Directory, err)
		}
	}
	shown := a.long("questions", c.Rounds*c.Ask)
	defer shown.end()
	for round := range c.Rounds {
		asked := []firstRecalls{{}, {}}
		for n := range c.Ask {
			for i := range rows {
				which := (i + n) % len(rows) // neither is always the second
				if err := asked[which].ask(ctx, rows[which].server, round*c.Ask+n, 0); err != nil {
					return err
				}
			}
			shown.at(round*c.Ask + n + 1)
		}
		for i, r := range rows {
			r.all = append(r.all, asked[i].took...)
			slices.Sort(asked[i].took)
			r.P50 = append(r.P50, asked[i].took[len(asked[i].took)/2])
		}
	}
	shown.end()
	return c.report(a, rows)
}

// serve fills a directory and starts a server on it, which has found its memories
// once.
func (c *benchEncryptionCmd) serve(ctx context.Context, a *app, b *benchStack, r *encryptionRow, key string) (err error) {
	on := badgerdb.Config{Dir: filepath.Join(b.dir, r.Directory)}
	var args []string
	if r.Directory == "encrypted" {
		on.EncryptionKeyFile, args = key, []string{"--encryption-key-file", key}
	}
	if err := a.fillOneScope(ctx, on, c.Memories, c.Embedder); err != nil {
		return err
	}
	if r.server, err = b.serveOn(ctx, on.Dir, args...); err != nil {
		return err
	}
	var first firstRecalls
	return until(ctx, "no question found its memories in time", func() bool {
		return first.ask(ctx, r.server, len(first.took), 0) == nil && first.inTime > 2
	})
}

func (c *benchEncryptionCmd) report(a *app, rows []*encryptionRow) error {
	slower := make([]float64, c.Rounds)
	for i := range slower {
		slower[i] = (float64(rows[1].P50[i])/float64(rows[0].P50[i]) - 1) * 100
	}
	slices.Sort(slower)
	if a.json {
		return a.printJSON(map[string]any{"machine": bench.Machine(), "memories": c.Memories, "embedder": c.Embedder, "rows": rows, "slower_percent": slower})
	}
	if err := a.say("%s; requests with recall over %d memories, embedder %s; %d rounds of %d, milliseconds", bench.Machine(), c.Memories, c.Embedder, c.Rounds, c.Ask); err != nil {
		return err
	}
	var cells [][]string
	for _, r := range rows {
		slices.Sort(r.all)
		slices.Sort(r.P50)
		ms := func(d time.Duration) string { return strconv.FormatFloat(float64(d)/1e6, 'f', 2, 64) }
		cells = append(cells, []string{r.Directory, ms(r.P50[c.Rounds/2]), ms(r.P50[0]) + " to " + ms(r.P50[c.Rounds-1]), ms(r.all[len(r.all)*99/100])})
	}
	if err := a.printTable([]string{"directory", "p50", "rounds", "p99"}, -1, cells); err != nil {
		return err
	}
	return a.say("encrypted against plain, p50 of each round: %+.1f %% (%+.1f to %+.1f)", slower[c.Rounds/2], slower[0], slower[c.Rounds-1])
}
