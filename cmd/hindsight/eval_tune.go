package main

import (
	"context"

	"hindsight/inject"
	"hindsight/internal/eval/recall"
)

// evalTuneCmd looks for the gate's best setting on labelled data.
type evalTuneCmd struct {
	embedderFlags
	Data []string `required:"" sep:"none" placeholder:"FILE" help:"Data sets as for eval recall; some questions should have no answer there."`
	Keep float64  `default:"0.8" placeholder:"SHARE" help:"The share of the findable questions that must keep an answer."`
}

// Run asks all questions at every setting.
func (c *evalTuneCmd) Run(ctx context.Context, a *app) error {
	if c.Keep <= 0 || c.Keep > 1 {
		return &failure{wrong: "--keep: want a share above 0, at most 1", code: exitUsage}
	}
	bench, err := openRecallBench(ctx, a, c.Data, 0, c.embedderFlags, true)
	if err != nil {
		return err
	}
	defer bench.close()
	tuning, err := recall.Tune(ctx, bench.data, recall.Settings(), c.Keep, func(gate float64) (recall.Engine, error) {
		return bench.engine(ctx, inject.Config{Gate: gate, Deadline: evalDeadline})
	})
	if err != nil {
		return err
	}
	tuning.Embedder = c.Embedder
	if a.json {
		return a.printJSON(tuning)
	}
	return tuning.Chart(a.out)
}
