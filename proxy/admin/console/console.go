// Package console is Hindsight's pages for people: what is remembered and why,
// what was said, what became of it, and how the process is doing.
//
// [NewDoor] makes the door that one-time links open; [New] builds the pages
// behind it; [Console.Handler] serves them under /console/ on the admin port,
// whose guard has checked Host and Origin; [Console.Run] takes the samples that
// the charts are drawn from, until its context ends.
//
// Whatever a page shows or does goes through the management API's own routes,
// called inside the process: there is no second way to the store, and what the
// API refuses, a page refuses with the same words. Pages are made on the server;
// they work without the one small script, which adds comfort. Nothing is loaded
// from elsewhere, and the content security policy says so to the browser.
//
// Texts are in words.json, English and Chinese side by side; reasons are told by
// package explain.
package console

import (
	"context"
	"embed"
	"fmt"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/proxy/admin"
)

//go:embed static/* templates/*
var files embed.FS

// The paths of the pages.
const (
	home      = "/console/"
	loginPath = "/console/login"
	cookieID  = "hindsight_console"
	cookieTo  = "hindsight_language"
)

// Config is what a console is built from. API and Door are required.
type Config struct {
	// API serves the management API's routes without asking for its token.
	API      http.Handler
	Door     *Door
	Gatherer prometheus.Gatherer // of the charts; nil: none
	Every    time.Duration       // between two samples; 0: 15 s
	Zone     *time.Location      // of the times that are shown; nil: UTC
	Version  string
	Now      func() time.Time // nil: time.Now
}

// Console serves the pages. Its handler is safe for concurrent use.
type Console struct {
	cfg    Config
	pages  *pages
	static *static
	past   *past
	counts *counts
	fails  *admin.Limiter
}

// New builds the console. The error is of the embedded files, and never comes in
// a build whose tests pass.
func New(cfg Config) (*Console, error) {
	if cfg.Every == 0 {
		cfg.Every = 15 * time.Second
	}
	if cfg.Zone == nil {
		cfg.Zone = time.UTC
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	p, err := readPages(files)
	if err != nil {
		return nil, fmt.Errorf("read the console's pages: %w", err)
	}
	s, err := readStatic(files)
	if err != nil {
		return nil, fmt.Errorf("read the console's files: %w", err)
	}
	c := &Console{cfg: cfg, pages: p, static: s, past: newPast(cfg.Gatherer, cfg.Every, cfg.Now), fails: admin.NewLimiter(cfg.Now)}
	c.counts = newCounts(c.countTenant, cfg.Now)
	return c, nil
}

// Handler serves everything under /console/, and sends / there.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /{$}", http.RedirectHandler(home, http.StatusFound))
	mux.Handle("GET /console/static/{file}", c.static)
	mux.HandleFunc("GET "+loginPath, c.login)
	mux.HandleFunc("GET /console/language", c.language)
	for pattern, show := range map[string]func(*visit) error{
		home + "{$}":                   c.overview,
		"/console/memories":            c.memories,
		"/console/memories/new":        c.newMemory,
		"/console/memories/{id}":       c.memory,
		"/console/memories/{id}/erase": c.confirmErase,
		"/console/sessions":            c.sessions,
		"/console/sessions/{id}":       c.session,
		"/console/exchanges":           c.findExchange,
		"/console/exchanges/{id}":      c.exchange,
		"/console/reflections":         c.reflections,
		"/console/settings":            c.settings,
		"/console/":                    c.nothing,
	} {
		mux.Handle("GET "+pattern, c.shown(show))
	}
	for pattern, do := range map[string]func(*visit) (string, error){
		"/console/memories":               c.addMemory,
		"/console/memories/{id}/edit":     c.editMemory,
		"/console/memories/{id}/pin":      c.pinMemory,
		"/console/memories/{id}/forget":   c.forgetMemory,
		"/console/memories/{id}/erase":    c.eraseMemory,
		"/console/memories/{id}/restore":  c.restoreMemory,
		"/console/memories/{id}/verify":   c.verifyMemory,
		"/console/sessions/{id}/close":    c.closeSession,
		"/console/reflections/{id}/retry": c.retryReflection,
		"/console/tenant":                 c.chooseTenant,
		"/console/logout":                 c.logout,
	} {
		mux.Handle("POST "+pattern, c.done(do))
	}
	return guarded(mux)
}

// Run samples the metrics and counts what is slow to count until ctx ends.
func (c *Console) Run(ctx context.Context) {
	tick := time.NewTicker(c.cfg.Every)
	defer tick.Stop()
	c.past.sample()
	for {
		select {
		case <-tick.C:
			c.past.sample()
		case tenant := <-c.counts.wanted:
			_, _ = c.counts.count(ctx, tenant) // the page goes on with the older ones, and the next asks again
		case <-ctx.Done():
			return
		}
	}
}

// guarded sets the headers of pages: nothing from elsewhere, nothing inline, no
// frame around them, no cache but for what never changes.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
		// Forms need the Origin header, which no-referrer would take away.
		h.Set("Referrer-Policy", "same-origin")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		next.ServeHTTP(w, r)
	})
}
