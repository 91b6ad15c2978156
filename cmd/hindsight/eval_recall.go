package main

import (
	"context"
	"time"

	"hindsight/inject"
	"hindsight/internal/eval/recall"
)

// evalRecallCmd measures recall on data sets.
type evalRecallCmd struct {
	embedderFlags
	Data     []string `required:"" sep:"none" placeholder:"FILE" help:"Data sets, gzip or plain; all files of one call are one set."`
	Sessions int      `placeholder:"N" help:"Cut every corpus into windows of N sessions: younger memories."`
	Ranking  string   `default:"bounded" enum:"bounded,additive,similarity" placeholder:"WORD" help:"bounded, additive or similarity."`
}

// evalDeadline is for one question: what is measured is what is found, and the
// time beside it, not whether this machine is busy.
const evalDeadline = 5 * time.Minute

// Run writes the data to a store of its own and asks.
func (c *evalRecallCmd) Run(ctx context.Context, a *app) error {
	bench, err := openRecallBench(ctx, a, c.Data, c.Sessions, c.embedderFlags, false)
	if err != nil {
		return err
	}
	defer bench.close()
	engine, err := bench.engine(ctx, inject.Config{Ranking: inject.Ranking(c.Ranking), Deadline: evalDeadline})
	if err != nil {
		return err
	}
	runs, err := recall.Measure(ctx, bench.data, engine, c.Ranking, c.Embedder)
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"runs": runs})
	}
	return recall.Table(a.out, runs, true)
}
