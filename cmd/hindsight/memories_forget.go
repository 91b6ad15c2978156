package main

import (
	"context"
	"net/http"
	"net/url"

	"hindsight/proxy/admin"
	"hindsight/store"
)

type memoriesForget struct {
	reach
	IDs   []string `arg:"" optional:"" name:"id" help:"The memories' ids; or a filter."`
	Erase bool     `help:"Remove them and their history for good."`

	Query   string `placeholder:"TEXT" help:"Those in which every word of it stands."`
	Subject string `placeholder:"TEXT" help:"Those about it."`
	Session string `placeholder:"ID" help:"Those that a session taught."`
	Type    string `placeholder:"TYPE" help:"user_fact, preference, solution, error_lesson or event."`
	Layer   string `placeholder:"LAYER" help:"episodic, semantic or skill."`
	Since   string `placeholder:"TIME" help:"Made at or after this time (2026-01-31T00:00:00Z)."`
	Until   string `placeholder:"TIME" help:"Made before this time."`
	Scope   string `placeholder:"SCOPE" help:"With a filter: where; the default user's scope where left out."`
	DryRun  bool   `help:"With a filter: only say which."`
}

// filter is the body of a forget by filter; empty where none is given.
func (c *memoriesForget) filter() map[string]any {
	body := map[string]any{}
	for name, v := range map[string]string{
		"query": c.Query, "subject": c.Subject, "session": c.Session, "type": c.Type, "layer": c.Layer, "since": c.Since, "until": c.Until,
	} {
		if v != "" {
			body[name] = v
		}
	}
	return body
}

// Run forgets them, by id one by one until one can't be.
func (c *memoriesForget) Run(ctx context.Context, a *app) error {
	body := c.filter()
	switch {
	case len(c.IDs) > 0 && (len(body) > 0 || c.DryRun || c.Scope != ""):
		return &failure{wrong: "ids and a filter are given", next: "Give either.", code: exitUsage}
	case len(c.IDs) > 0:
		q := url.Values{}
		done := "Forgotten: %s (hindsight memories restore brings it back)"
		if c.Erase {
			q.Set("erase", "true")
			done = "Erased: %s"
		}
		return a.each(ctx, c.reach, http.MethodDelete, c.IDs, "", q, done)
	case len(body) == 0:
		return &failure{wrong: "neither an id nor a filter is given", next: "Give ids, or one of --query, --subject, --session, --type, --layer, --since and --until.", code: exitUsage}
	}
	for name, v := range map[string]string{"tenant": c.Tenant, "scope": c.Scope} {
		if v != "" {
			body[name] = v
		}
	}
	body["erase"], body["dry_run"] = c.Erase, c.DryRun
	var got admin.Forgotten
	return a.call(ctx, c.reach, http.MethodPost, memoriesPath+"/forget", nil, body, &got, func() error {
		if err := c.print(a, got.Memories); err != nil {
			return err
		}
		return a.printReceipt(got.Erasure)
	})
}

func (c *memoriesForget) print(a *app, ms []store.Memory) error {
	if len(ms) == 0 {
		return a.say("Nothing matches.")
	}
	rows := make([][]string, len(ms))
	for i, m := range ms {
		rows[i] = []string{m.ID, string(m.Type), m.Text}
	}
	if err := a.printTable([]string{"id", "type", "text"}, 2, rows); err != nil {
		return err
	}
	switch {
	case c.DryRun:
		return a.say("%d would be forgotten.", len(ms))
	case c.Erase:
		return a.say("%d erased.", len(ms))
	}
	return a.say("%d forgotten. hindsight memories restore ID … brings them back.", len(ms))
}

type memoriesVerify struct {
	reach
	IDs []string `arg:"" name:"id" help:"The memories' ids."`
}

// Run verifies them.
func (c *memoriesVerify) Run(ctx context.Context, a *app) error {
	return a.each(ctx, c.reach, http.MethodPost, c.IDs, "/verify", nil, "Verified: %s")
}
