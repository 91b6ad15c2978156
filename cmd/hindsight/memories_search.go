package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"hindsight/proxy/admin"
)

type memoriesSearch struct {
	reach
	Query    string   `arg:"" help:"What to look for, in the words of the question."`
	Scope    []string `placeholder:"SCOPE" help:"Search these scopes; all of the tenant where left out."`
	Type     []string `placeholder:"TYPE" help:"Only these types."`
	Layer    []string `placeholder:"LAYER" help:"Only these layers; working is what was just said in open sessions."`
	Subject  string   `placeholder:"TEXT" help:"Only what is about exactly this."`
	Session  string   `placeholder:"ID" help:"Only what comes from this session."`
	Scenario string   `placeholder:"TEXT" help:"Only what matters in exactly this situation."`
	Since    string   `placeholder:"TIME" help:"Made at or after this: 2026-01-31, 2026-01-31T08:00:00Z, or 7d, 12h ago."`
	Until    string   `placeholder:"TIME" help:"Made before this."`
	TopK     int      `name:"top-k" placeholder:"N" default:"10" help:"Most results; 10 where left out."`
	Archived bool     `help:"Archived memories too."`
}

// Run searches.
func (c *memoriesSearch) Run(ctx context.Context, a *app) error {
	body := map[string]any{"query": c.Query, "top_k": c.TopK}
	for name, v := range map[string][]string{"scopes": c.Scope, "types": c.Type, "layers": c.Layer} {
		if len(v) > 0 {
			body[name] = v
		}
	}
	since, until, err := span(c.Since, c.Until)
	if err != nil {
		return err
	}
	for name, v := range map[string]string{
		"tenant": c.Tenant, "subject": c.Subject, "session": c.Session, "scenario": c.Scenario, "since": since, "until": until,
	} {
		if v != "" {
			body[name] = v
		}
	}
	if c.Archived {
		body["include_archived"] = true
	}
	var found admin.Found
	return a.call(ctx, c.reach, http.MethodPost, memoriesPath+"/search", nil, body, &found, func() error { return a.printFound(found) })
}

func (a *app) printFound(f admin.Found) error {
	if len(f.Results) == 0 {
		if err := a.say("Nothing found."); err != nil {
			return err
		}
	} else {
		rows := make([][]string, len(f.Results))
		for i, r := range f.Results {
			rows[i] = []string{share(r.Score), r.Memory.ID, string(r.Memory.Type), r.Memory.Text, scoreParts(r.Parts)}
		}
		if err := a.printTable([]string{"score", "id", "type", "text", "parts"}, 3, rows); err != nil {
			return err
		}
	}
	if len(f.ExcludedByFilter) > 0 {
		var out []string
		for _, name := range slices.Sorted(maps.Keys(f.ExcludedByFilter)) {
			out = append(out, fmt.Sprintf("%d %s", f.ExcludedByFilter[name], name))
		}
		return a.say("The filters kept out: %s.", strings.Join(out, ", "))
	}
	return nil
}

// scoreParts are the parts of a score that it is made of; --json has them all.
func scoreParts(parts map[string]float64) string {
	var out []string
	for _, name := range []string{"vector", "words", "recency", "importance"} {
		if v, ok := parts[name]; ok {
			out = append(out, name+" "+share(v))
		}
	}
	return strings.Join(out, ", ")
}
