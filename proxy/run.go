package proxy

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"

	"hindsight/proxy/watch"
)

// settle is how long connections get to end after a hard stop.
const settle = 5 * time.Second

// Run serves on ln until ctx ends, then drains: not ready at once, no new
// connections, streams end by themselves within Grace, idle connections close.
// [Server.Close] cuts a drain short. When Run returns, every exchange has been
// finished. The error is that of the listener; a drain has none.
func (s *Server) Run(ctx context.Context, ln net.Listener) error {
	defer s.kill()
	if s.tls != nil {
		ln = tls.NewListener(ln, s.tls)
	}
	watched := watch.Listen(ln, s.cfg.WatchAfter)
	served := make(chan error, 1)
	go func() { served <- s.app.Listener(watched) }()
	s.state.CompareAndSwap(starting, serving)

	var err error
	select {
	case err = <-served:
		served <- nil
	case <-ctx.Done():
	case <-s.hard:
	}
	s.state.Store(draining)
	s.drain(watched)
	_ = <-served // closing the listener is what ended it
	if err != nil {
		err = fmt.Errorf("accept connections: %w", err)
	}
	s.work.stop()
	s.client.close()
	return err
}

// drain waits for what is under way, within Grace or until Close.
func (s *Server) drain(watched *watch.Listener) {
	// Its own time: the context that asked for the drain has ended.
	grace, cancel := context.WithTimeout(context.Background(), s.cfg.Grace)
	defer cancel()
	go func() {
		select {
		case <-s.hard:
			cancel()
		case <-grace.Done():
		}
	}()
	_ = s.app.ShutdownWithContext(grace) // grace.Err says whether it was in time
	_ = watched.Close()                  // once more, in case that the app hadn't begun to serve yet
	if grace.Err() == nil && wait(grace, &s.tunnels) {
		return
	}
	s.log.Warn("open connections are cut", "open", watched.Conns())
	s.kill()
	select {
	case <-watched.CloseConns():
	case <-time.After(settle):
		s.log.Error("connections didn't end after they were cut", "open", watched.Conns())
	}
}

// wait waits for the group, or for ctx to end.
func wait(ctx context.Context, g *sync.WaitGroup) bool {
	done := make(chan struct{})
	go func() {
		g.Wait()
		close(done)
	}()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// Close stops at once: every connection is cut. Run returns when what was under
// way has been finished. Close may be called more than once.
func (s *Server) Close() { s.once.Do(func() { close(s.hard) }) }
