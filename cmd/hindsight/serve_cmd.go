package main

import (
	"context"
	"errors"
)

// serveCmd is `hindsight serve`.
type serveCmd struct {
	Settings settings `embed:""`
	Profile  string   `hidden:"" placeholder:"DIR" help:"Write into this directory where time and memory go."`
}

// Run reads the configuration and serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, a *app) error {
	cfg, err := load(c.Settings, a.config, a.env, true)
	if err != nil {
		return err
	}
	if c.Profile == "" {
		return runServe(ctx, cfg)
	}
	stop, err := profile(c.Profile)
	if err != nil {
		return err
	}
	return errors.Join(runServe(ctx, cfg), stop())
}
