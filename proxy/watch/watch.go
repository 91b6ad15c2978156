// Package watch is a net.Listener whose connections notice that the client has
// left while its request is still being answered. Servers that read a
// connection only between requests (fasthttp) can't see it.
//
// Wrap the listener with [Listen]. Once a request has been read whole, call
// [Conn.Watch]; before anybody reads the connection again, call [Conn.Unwatch].
// In between the connection belongs to the watcher: it reads one byte in the
// background, an error or the end of the stream calls the given function, and a
// byte (the start of a pipelined request) is kept for the next Read. The
// watcher starts only after a delay: most exchanges are over before, and cost
// no goroutine.
//
// It isn't a connection pool and has no concept of requests.
package watch

import (
	"net"
	"sync"
	"time"
)

// Listener accepts connections that can be watched.
type Listener struct {
	net.Listener
	delay time.Duration

	mu     sync.Mutex
	conns  map[*Conn]struct{}
	closed bool          // by CloseConns
	empty  chan struct{} // closed when no connection is left after that
}

// Listen wraps a listener (a TLS one too). A connection's watcher starts delay
// after its [Conn.Watch]; the listener's owner closes it as always.
func Listen(ln net.Listener, delay time.Duration) *Listener {
	return &Listener{Listener: ln, delay: delay, conns: map[*Conn]struct{}{}, empty: make(chan struct{})}
}

// Accept waits for the next connection, which is a *Conn.
func (l *Listener) Accept() (net.Conn, error) {
	raw, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &Conn{Conn: raw, from: l}
	l.mu.Lock()
	closed := l.closed
	if !closed {
		l.conns[c] = struct{}{}
	}
	l.mu.Unlock()
	if closed {
		raw.Close()
		return nil, net.ErrClosed
	}
	return c, nil
}

// CloseConns closes every open connection at once, and each that is still
// accepted. It is the hard stop after a drain. The channel is closed when the
// server has closed them too, and so is done with them.
func (l *Listener) CloseConns() <-chan struct{} {
	l.mu.Lock()
	if !l.closed && len(l.conns) == 0 {
		close(l.empty)
	}
	l.closed = true
	open := make([]*Conn, 0, len(l.conns))
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		c.Conn.Close()
	}
	return l.empty
}

// Conns is the number of open connections.
func (l *Listener) Conns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

func (l *Listener) forget(c *Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.conns[c]; !ok {
		return // closed before
	}
	delete(l.conns, c)
	if l.closed && len(l.conns) == 0 {
		close(l.empty)
	}
}
