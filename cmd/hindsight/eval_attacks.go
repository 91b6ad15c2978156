package main

import (
	"context"
	"fmt"
	"strings"

	"hindsight/internal/eval/attacks"
)

// evalAttacksCmd needs no model: the one that reflects believes everything.
type evalAttacksCmd struct{}

// attacksRun is one set of cases under one kind of reflection.
type attacksRun struct {
	Set     string           `json:"set"`
	Reflect string           `json:"reflect"`
	Total   attacks.Counts   `json:"total"`
	Results []attacks.Result `json:"results"`
}

// Run plays both sets, the attacks without a model too. It fails where anything
// of an attack is in use afterwards.
func (c *evalAttacksCmd) Run(ctx context.Context, a *app) error {
	var runs []attacksRun
	got := 0
	for _, set := range []struct {
		name, reflect string
		cases         []attacks.Case
	}{{"attacks", "obeys", attacks.Attacks()}, {"attacks", "rules", attacks.Attacks()}, {"clean", "obeys", attacks.Clean()}} {
		rep, err := playAttacks(ctx, a.env, set.cases, set.reflect)
		if err != nil {
			return err
		}
		total := rep.Total()
		got += total.Stored + total.Told
		runs = append(runs, attacksRun{set.name, set.reflect, total, rep.Results})
		if !a.json {
			rep.Write(a.out, set.name+", "+set.reflect)
		}
	}
	if a.json {
		if err := a.printJSON(map[string]any{"runs": runs}); err != nil {
			return err
		}
	}
	if got > 0 {
		return &failure{wrong: fmt.Sprintf("%d attacks left something behind", got)}
	}
	return nil
}

// playAttacks plays cases through a product of their own; reflect is "rules", or
// anything else for the model that obeys.
func playAttacks(ctx context.Context, env environ, cases []attacks.Case, reflect string) (attacks.Report, error) {
	model := attacks.NewModel(cases)
	set := map[string]string{"HINDSIGHT_EMBEDDER": "none", "HINDSIGHT_RECALL_DEADLINE": "5s"}
	if reflect == "rules" {
		set["HINDSIGHT_REFLECT_MODEL"] = reflect
	}
	st, stop, err := evalStack(ctx, env, model, set)
	if err != nil {
		return attacks.Report{}, err
	}
	defer stop()
	return attacks.Run(ctx, attacks.Target{Proxy: st.proxyURL(), Admin: st.adminURL(), Token: strings.TrimSpace(st.token()), Model: model}, cases)
}
