package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"hindsight/internal/eval/harm"
)

// evalHarmCmd asks a model the same tasks with and without notes.
type evalHarmCmd struct {
	Endpoint string        `required:"" placeholder:"URL" help:"The model's API, OpenAI form; it is asked directly, 560 times."`
	Model    string        `required:"" placeholder:"MODEL" help:"The model's name there."`
	Each     int           `default:"1" placeholder:"N" help:"Ask every Nth prompt only."`
	Parallel int           `default:"1" placeholder:"N" help:"Prompts at a time."`
	Timeout  time.Duration `default:"5m" placeholder:"TIME" help:"How long one answer may take."`
}

// Run fails where a block spoiled an answer, and where there was none.
func (c *evalHarmCmd) Run(ctx context.Context, a *app) error {
	if c.Each < 1 || c.Parallel < 1 {
		return &failure{wrong: "--each and --parallel: want 1 or more", code: exitUsage}
	}
	var prompts []harm.Prompt
	for i, p := range harm.Prompts() {
		if i%c.Each == 0 {
			prompts = append(prompts, p)
		}
	}
	shown := a.long("prompts", len(prompts))
	rep, err := harm.Run(ctx, harm.Endpoint{URL: c.Endpoint, Key: a.env.get("LLM_API_KEY"), Client: &http.Client{Timeout: c.Timeout}}, harm.Options{
		Model: c.Model, Prompts: prompts, Parallel: c.Parallel,
		Done: shown.at,
	})
	shown.end()
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(rep)
	} else {
		err = rep.Markdown(a.out)
	}
	switch {
	case err != nil:
		return err
	case rep.Failed > 0:
		return &failure{wrong: fmt.Sprintf("%d calls without an answer", rep.Failed), next: "Look whether the endpoint and the model's name are right."}
	case len(rep.Faults) > 0:
		return &failure{wrong: fmt.Sprintf("%d answers that a block spoiled", len(rep.Faults))}
	}
	return nil
}
