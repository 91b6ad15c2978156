package main

import (
	"context"
	"net/http"
	"strings"
	"time"

	"hindsight/store"
)

type memoriesEdit struct {
	reach
	ID         string   `arg:"" help:"The memory's id."`
	Text       *string  `placeholder:"TEXT" help:"What it says."`
	Type       *string  `placeholder:"TYPE" help:"user_fact, preference, solution, error_lesson or event."`
	Layer      *string  `placeholder:"LAYER" help:"episodic, semantic or skill."`
	Subject    *string  `placeholder:"TEXT" help:"What it is about."`
	Scenario   *string  `placeholder:"TEXT" help:"When it matters."`
	Importance *float64 `placeholder:"SHARE" help:"0 to 1."`
	Confidence *float64 `placeholder:"SHARE" help:"0 to 1."`
	Standing   *bool    `negatable:"" help:"It holds in every conversation."`
	ValidFrom  *string  `placeholder:"TIME" help:"From when it is true: 2026-01-31, 2026-01-31T08:00:00Z; never takes the time away."`
	ValidTo    *string  `placeholder:"TIME" help:"Until when it is true."`
}

// Run changes it. Its older form stays in its history.
func (c *memoriesEdit) Run(ctx context.Context, a *app) error {
	path, err := idPath(memoriesPath, c.ID)
	if err != nil {
		return err
	}
	body := map[string]any{}
	for name, v := range map[string]*string{"text": c.Text, "type": c.Type, "layer": c.Layer, "subject": c.Subject, "scenario": c.Scenario} {
		if v != nil {
			body[name] = *v
		}
	}
	for name, v := range map[string]*float64{"importance": c.Importance, "confidence": c.Confidence} {
		if v != nil {
			body[name] = *v
		}
	}
	if c.Standing != nil {
		body["standing"] = *c.Standing
	}
	for flag, v := range map[string]*string{"--valid-from": c.ValidFrom, "--valid-to": c.ValidTo} {
		if v == nil {
			continue
		}
		at := time.Time{}.Format(time.RFC3339)
		if *v != "never" && *v != "" {
			if at, err = moment(flag, *v, time.Now()); err != nil {
				return err
			}
		}
		body[strings.ReplaceAll(strings.TrimPrefix(flag, "--"), "-", "_")] = at
	}
	if len(body) == 0 {
		return &failure{wrong: "nothing changes", next: "Say what does, for example --text TEXT; hindsight memories edit --help lists it.", code: exitUsage}
	}
	var m store.Memory
	return a.call(ctx, c.reach, http.MethodPatch, path, nil, body, &m, func() error {
		return a.say("Changed: %s is at revision %d (hindsight memories history shows what it was).", m.ID, m.Revision)
	})
}
