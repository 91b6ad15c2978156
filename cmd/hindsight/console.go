package main

import (
	"context"
	"fmt"
	"net/http"
	"os/exec"
	"runtime"
	"strings"

	"hindsight/proxy/admin"
)

// adminHandler serves the admin port: the console's pages, and beside them the
// management API.
func (s *stack) adminHandler() http.Handler {
	mux, pages := http.NewServeMux(), s.api.Pages(s.console.Handler())
	mux.Handle("/console/", pages)
	mux.Handle("GET /{$}", pages)
	mux.Handle("/", s.api.Handler())
	return mux
}

// consoleURL is the admin port's address for a browser on this machine.
func (s *stack) consoleURL() string {
	return scheme(s.cfg.Admin.CertFile) + dialable(s.listeners.admin.Addr().String())
}

// consoleCmd is `hindsight console`.
type consoleCmd struct {
	reach
	Open bool `help:"Open the link in the browser too."`
}

// Run prints a link that logs one browser in, once.
func (c *consoleCmd) Run(ctx context.Context, a *app) error {
	var link admin.ConsoleLink
	return a.call(ctx, c.reach, http.MethodPost, "/api/v1/console/links", nil, nil, &link, func() error {
		address := link.URL
		if c.Admin != "" { // the way that was named is the one that works from here
			cfg, err := c.config(a)
			if err != nil {
				return err
			}
			address = withScheme(cfg, strings.TrimSuffix(c.Admin, "/")) + link.Path
		}
		if err := a.say("%s", address); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(a.err, "It logs one browser in, once, until %s.\n", link.Expires.Local().Format("15:04")); err != nil {
			return err
		}
		if !c.Open {
			return nil
		}
		if err := openBrowser(ctx, address); err != nil {
			return &failure{wrong: "no browser could be opened: " + err.Error(), next: "Open the link above by hand."}
		}
		return nil
	})
}

// openBrowser hands an address to the system's own opener.
func openBrowser(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	return exec.CommandContext(ctx, name, args...).Run()
}
