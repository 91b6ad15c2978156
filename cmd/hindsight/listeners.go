package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"hindsight/proxy/admin"
	"hindsight/store/badgerdb"
)

func (s *stack) listen(ctx context.Context) (err error) {
	var lc net.ListenConfig
	for _, l := range []struct {
		name, address string
		to            *net.Listener
	}{
		{"HINDSIGHT_LISTEN", s.cfg.Listen, &s.listeners.proxy},
		{"HINDSIGHT_ADMIN_LISTEN", s.cfg.Admin.Listen, &s.listeners.admin},
		{"HINDSIGHT_METRICS_LISTEN", s.cfg.MetricsListen, &s.listeners.metrics},
	} {
		if l.address == "" {
			continue
		}
		if *l.to, err = lc.Listen(ctx, "tcp", l.address); err != nil {
			s.closeListeners()
			return &failure{wrong: fmt.Sprintf("%s %s can't be listened on: %s", l.name, l.address, cause(err)), next: "Stop what listens there, or choose another port."}
		}
	}
	if s.cfg.Admin.CertFile == "" {
		return nil
	}
	pair, err := tls.LoadX509KeyPair(s.cfg.Admin.CertFile, s.cfg.Admin.KeyFile)
	if err != nil {
		s.closeListeners()
		return fmt.Errorf("load the management listener's certificate: %w", err)
	}
	s.listeners.admin = tls.NewListener(s.listeners.admin, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	return nil
}

func (s *stack) closeListeners() {
	for _, l := range []io.Closer{s.listeners.proxy, s.listeners.admin, s.listeners.metrics} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// serveHTTP serves until ctx ends; calls that are under way get a moment.
func serveHTTP(ctx context.Context, wg *sync.WaitGroup, ln net.Listener, h http.Handler, log *slog.Logger) {
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	wg.Go(func() {
		if err := srv.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
			log.Error("management listener stopped", "address", ln.Addr().String(), "error", err)
		}
	})
	wg.Go(func() {
		<-ctx.Done()
		// Its own time: ctx has ended.
		late, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if srv.Shutdown(late) != nil {
			_ = srv.Close() // a call that waits for a reflection
		}
	})
}

// owner serves the owner's socket while the store is open, so that commands on
// the data directory come here.
func (s *stack) owner(ctx context.Context) {
	for s.store.Ready(ctx) != nil {
		if wait(ctx, time.Second) != nil {
			return
		}
	}
	ln, err := badgerdb.ListenOwner(s.cfg.Store.Dir)
	if err != nil {
		s.log.Warn("commands on the data directory must use the management port", "error", err)
		return
	}
	var wg sync.WaitGroup
	serveHTTP(ctx, &wg, ln, s.shared.tells(s.api.OwnerHandler()), s.log)
	wg.Wait()
}

func (s *stack) proxyURL() string {
	return scheme(s.cfg.Listener.CertFile) + s.listeners.proxy.Addr().String()
}

func (s *stack) adminURL() string {
	return scheme(s.cfg.Admin.CertFile) + s.listeners.admin.Addr().String()
}

// scheme is what the URL of a listener begins with.
func scheme(certFile string) string {
	if certFile != "" {
		return "https://"
	}
	return "http://"
}

// token is the management API's bearer token.
func (s *stack) token() string {
	if s.cfg.Admin.Token != "" {
		return s.cfg.Admin.Token
	}
	t, err := admin.Token(filepath.Join(s.cfg.Store.Dir, admin.TokenName))
	if err != nil {
		return "none: " + err.Error()
	}
	return t
}

// admin calls the management API as another process would.
func (s *stack) admin(ctx context.Context, method, path string) ([]byte, error) {
	return fetch(ctx, method, s.adminURL()+path, s.token())
}
