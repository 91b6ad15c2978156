package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// runServe runs the proxy until ctx ends. A second signal while it drains stops
// it at once.
func runServe(ctx context.Context, cfg Config) error {
	s, err := startStack(ctx, cfg)
	if err != nil {
		return err
	}
	// From the start, or a second signal right after the first would be lost.
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	s.log.Info(s.greeting(ctx))
	select {
	case <-s.ended:
	case <-ctx.Done():
		s.log.Info("draining: streams end by themselves; a second signal cuts them")
	}
	for range 2 { // the first is the one that ended ctx
		select {
		case <-signals:
		case <-s.ended:
			return s.wait()
		}
	}
	s.proxy.Close()
	return s.wait()
}

// greeting is the last line before serving: both addresses, the backend, the
// embedder, the tenant and the default user, and what is dangerous about them.
func (s *stack) greeting(ctx context.Context) string {
	// The store opens in a moment or not at all; forwarding has begun already.
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_ = s.store.Ready(ctx) // memoryState says what became of it
	tenant, user := s.cfg.Identity.tenantName(), s.cfg.Identity.userName()
	if s.cfg.Auth.Mode == "keys" {
		tenant = "by key"
	}
	if tenant == "" {
		tenant = "one for each credential"
	}
	if user == "" {
		user = "none: requests must name theirs (Hindsight-User)"
	}
	line := fmt.Sprintf("ready: proxy %s, management %s, upstream %s, store %s%s, embedder %s, tenant %s, default user %s",
		s.proxyURL(), s.adminURL(), s.cfg.Upstream.Base.Redacted(), s.cfg.Store.Dir, s.shared.name(), s.cfg.Embedder, tenant, user)
	if _, reason := s.memoryState(); reason != "" {
		line += "; memory: " + reason
	}
	if s.exposed() {
		line += "; WARNING: whoever reaches this port can name any user: use auth.mode keys, or listen on loopback"
	}
	return line
}

// exposed says whether a named tenant stands on an open listener without keys.
func (s *stack) exposed() bool {
	if s.cfg.Identity.Tenant == "" || s.cfg.Auth.Mode == "keys" {
		return false
	}
	host, _, err := net.SplitHostPort(s.listeners.proxy.Addr().String())
	ip := net.ParseIP(host)
	return err != nil || ip == nil || !ip.IsLoopback()
}
