package main

import "context"

// serveCmd is `hindsight serve`.
type serveCmd struct {
	Settings settings `embed:""`
}

// Run reads the configuration and serves until ctx ends.
func (c *serveCmd) Run(ctx context.Context, a *app) error {
	cfg, err := load(c.Settings, a.config, a.env, true)
	if err != nil {
		return err
	}
	return runServe(ctx, cfg)
}
