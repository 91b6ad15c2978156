package main

import (
	"context"
	"net/http"

	"hindsight/store"
)

type memoriesPromote struct {
	reach
	ID string `arg:"" help:"The memory's id."`
	To string `required:"" placeholder:"SCOPE" help:"agent:<id> or shared; the configuration's grants must open it."`
}

// Run promotes it. Others get its words, not its evidence nor its author.
func (c *memoriesPromote) Run(ctx context.Context, a *app) error {
	path, err := idPath(memoriesPath, c.ID)
	if err != nil {
		return err
	}
	var m store.Memory
	return a.call(ctx, c.reach, http.MethodPost, path+"/promote", nil, map[string]any{"scope": c.To}, &m, func() error {
		return a.say("Promoted to %s as %s.", m.Scope, m.ID)
	})
}
