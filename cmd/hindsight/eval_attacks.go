package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"hindsight/internal/eval/attacks"
)

// evalAttacksCmd needs no model: the one that reflects believes everything.
type evalAttacksCmd struct{}

// attacksRun is one set of cases in one dialect, under one kind of reflection.
type attacksRun struct {
	Set     string           `json:"set"`
	Form    attacks.Form     `json:"dialect"`
	Reflect string           `json:"reflect"`
	Total   attacks.Counts   `json:"total"`
	Results []attacks.Result `json:"results"`
}

// Run plays both sets in every dialect, the attacks without a model too. It fails
// where anything of an attack is in use afterwards.
func (c *evalAttacksCmd) Run(ctx context.Context, a *app) error {
	var runs []attacksRun
	var cases [][]attacks.Case
	for _, set := range []struct {
		name, reflect string
		cases         []attacks.Case
	}{{"attacks", "obeys", attacks.Attacks()}, {"attacks", "rules", attacks.Attacks()}, {"clean", "obeys", attacks.Clean()}} {
		for _, form := range attacks.Forms() {
			runs, cases = append(runs, attacksRun{Set: set.name, Form: form, Reflect: set.reflect}), append(cases, set.cases)
		}
	}
	reports, errs := make([]attacks.Report, len(runs)), make([]error, len(runs))
	var all sync.WaitGroup
	for i, r := range runs { // they wait for disks and ticks more than they work
		all.Go(func() { reports[i], errs[i] = playAttacks(ctx, a.env, cases[i], r.Reflect, r.Form) })
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	got := 0
	for i, rep := range reports {
		r := &runs[i]
		r.Total, r.Results = rep.Total(), rep.Results
		got += r.Total.Stored + r.Total.Told
		if !a.json {
			rep.Write(a.out, fmt.Sprintf("%s, %s, %s", r.Set, r.Reflect, r.Form))
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
func playAttacks(ctx context.Context, env environ, cases []attacks.Case, reflect string, form attacks.Form) (attacks.Report, error) {
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
	return attacks.Run(ctx, attacks.Target{Proxy: st.proxyURL(), Admin: st.adminURL(), Token: strings.TrimSpace(st.token()), Model: model, Form: form}, cases)
}
