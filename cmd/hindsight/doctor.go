package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// doctorCmd is `hindsight doctor`. It takes all settings of serve, so that a
// command line can be checked before it is used.
type doctorCmd struct {
	Settings settings `embed:""`
}

// The results of a check.
const (
	checkOK   = "ok"
	checkWarn = "warn"
	checkFail = "fail"
)

// check is one thing that doctor looked at.
type check struct {
	Name   string `json:"name"`
	Result string `json:"result"`
	Found  string `json:"found"`
	Next   string `json:"next,omitempty"` // what to do
}

// Run checks everything and fails if one check does.
func (c *doctorCmd) Run(ctx context.Context, a *app) error {
	checks := examine(ctx, c.Settings, a)
	failed := 0
	for _, ch := range checks {
		if ch.Result == checkFail {
			failed++
		}
	}
	if a.json {
		if err := a.printJSON(map[string]any{"ok": failed == 0, "checks": checks}); err != nil {
			return err
		}
	} else if err := a.printChecks(checks); err != nil {
		return err
	}
	switch {
	case failed == 0:
		return nil
	case a.json:
		return &failure{} // the answer says it all
	case failed == 1:
		return &failure{wrong: "a check failed"}
	}
	return &failure{wrong: fmt.Sprintf("%d checks failed", failed)}
}

// examine makes the checks. A configuration that can't be read ends it: the
// rest would be about another one.
func examine(ctx context.Context, s settings, a *app) []check {
	cfg, err := load(s, a.config, a.env, true)
	var ps problems
	if errors.As(err, &ps) {
		var out []check
		for _, p := range ps {
			found := p.Field + " " + p.Wrong
			if p.Value != "" {
				found = fmt.Sprintf("%s is %q: it %s", p.Field, p.Value, p.Wrong)
			}
			out = append(out, check{"configuration", checkFail, found, p.Next})
		}
		return out
	}
	out := []check{{"configuration", checkOK, "no problem", ""}}
	out = append(out, checkUpstream(ctx, cfg)...)
	out = append(out, checkReflection(ctx, cfg), checkEmbedder(ctx, cfg), checkIdentity(cfg), checkUser(cfg), checkDirectory(ctx, cfg), checkZone(cfg), checkFiles(openFiles()))
	if cfg.Store.Shared != nil {
		out = append(out, checkWeaviate(ctx, cfg.Store.Shared)...)
	}
	return append(out, checkSessions(ctx, cfg), checkManagement(cfg), checkClient(ctx, cfg))
}

func (a *app) printChecks(checks []check) error {
	colours := map[string]string{checkOK: "32", checkWarn: "33", checkFail: "31"}
	for _, c := range checks {
		mark := a.paint(colours[c.Result], fmt.Sprintf("%-4s", c.Result))
		if err := a.say("%s  %-13s  %s", mark, c.Name, printable(c.Found)); err != nil {
			return err
		}
		if c.Next != "" {
			if err := a.say("%s%s", strings.Repeat(" ", 21), c.Next); err != nil {
				return err
			}
		}
	}
	return nil
}
