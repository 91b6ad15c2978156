package main

import (
	"context"
	"net/http"
	"strconv"

	"hindsight/store"
)

type memoriesConsolidate struct {
	reach
	Scope   string `placeholder:"SCOPE" help:"All of the tenant's where left out."`
	Subject string `placeholder:"TEXT" help:"All that have two episodic memories or more where left out."`
	DryRun  bool   `help:"Only say which would become one."`
}

// Run consolidates.
func (c *memoriesConsolidate) Run(ctx context.Context, a *app) error {
	body := map[string]any{"dry_run": c.DryRun}
	for name, v := range map[string]string{"tenant": c.Tenant, "scope": c.Scope, "subject": c.Subject} {
		if v != "" {
			body[name] = v
		}
	}
	var got struct {
		Merged []store.Merge `json:"merged"`
	}
	return a.call(ctx, c.reach, http.MethodPost, memoriesPath+"/consolidate", nil, body, &got, func() error {
		if len(got.Merged) == 0 {
			return a.say("No subject has two episodic memories.")
		}
		rows := make([][]string, len(got.Merged))
		for i, m := range got.Merged {
			id, text := "", m.Reason
			if m.Memory != nil {
				id, text = m.Memory.ID, m.Memory.Text
			}
			rows[i] = []string{m.Subject, strconv.Itoa(len(m.Sources)), id, text, string(m.Scope)}
		}
		return a.printTable([]string{"subject", "memories", "become", "text or reason", "scope"}, 3, rows)
	})
}

type memoriesUndo struct {
	reach
	ID string `arg:"" help:"The id of the memory that a consolidation made."`
}

// Run undoes it.
func (c *memoriesUndo) Run(ctx context.Context, a *app) error {
	path, err := idPath(memoriesPath, c.ID)
	if err != nil {
		return err
	}
	var got struct {
		Sources []store.Memory `json:"sources"`
	}
	return a.call(ctx, c.reach, http.MethodPost, path+"/undo", nil, nil, &got, func() error {
		return a.say("Archived: %s. %d memories are back in its place.", c.ID, len(got.Sources))
	})
}

type memoriesSweep struct {
	reach
	DryRun bool `help:"Only say what would go, and why."`
}

// Run sweeps.
func (c *memoriesSweep) Run(ctx context.Context, a *app) error {
	body := map[string]any{"dry_run": c.DryRun}
	if c.Tenant != "" {
		body["tenant"] = c.Tenant
	}
	var got store.SweepReport
	return a.call(ctx, c.reach, http.MethodPost, memoriesPath+"/sweep", nil, body, &got, func() error {
		rows := make([][]string, len(got.Memories))
		for i, m := range got.Memories {
			rows[i] = []string{m.ID, string(m.Do), m.Reason, share(m.Score), m.Text, string(m.Scope)}
		}
		if len(rows) > 0 {
			if err := a.printTable([]string{"id", "do", "reason", "score", "text", "scope"}, 4, rows); err != nil {
				return err
			}
		}
		would := ""
		if c.DryRun {
			would = "A sweep would do this: "
		}
		return a.say("%s%d archived, %d lowered, %d deleted.", would, got.Archived, got.Lowered, got.Deleted)
	})
}
