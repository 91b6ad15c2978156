package watch

import (
	"errors"
	"net"
	"sync"
	"time"
)

// past is a deadline that ends every read.
var past = time.Unix(1, 0)

// Conn is one accepted connection. Read is for one goroutine at a time, never
// between Watch and Unwatch; Watch and Unwatch may be called from any.
type Conn struct {
	net.Conn
	from *Listener

	mu    sync.Mutex
	gone  func()        // set while armed
	timer *time.Timer   // calls begin; made by the first Watch
	done  chan struct{} // of the running watcher, closed when it has ended
	after func()        // see After
	ended bool          // Close was called

	// Written by the watcher, read after it has been joined.
	buf  [1]byte
	kept bool  // buf holds a byte for the next Read
	err  error // what the watcher met, for the next Read

	linger Linger
}

// Watch arms the watcher. gone is called once, from a goroutine of the
// connection's own, when the client has left before Unwatch.
func (c *Conn) Watch(gone func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = gone
	switch {
	case c.from.delay <= 0:
		go c.begin()
	case c.timer == nil:
		c.timer = time.AfterFunc(c.from.delay, c.begin)
	default:
		c.timer.Reset(c.from.delay)
	}
}

// Unwatch ends the watcher and waits for it. The connection can be read again
// afterwards and has no read deadline if a watcher ran. Without a Watch before
// it does nothing.
func (c *Conn) Unwatch() {
	c.mu.Lock()
	armed := c.gone != nil
	c.gone = nil
	done := c.done
	c.mu.Unlock()
	if armed && c.timer != nil {
		c.timer.Stop()
	}
	if done == nil {
		return
	}
	c.Conn.SetReadDeadline(past)
	<-done
	c.Conn.SetReadDeadline(time.Time{})
	c.mu.Lock()
	c.done = nil
	c.mu.Unlock()
}

// After has f run when the server comes back for the next request, or closes the
// connection: what was written before has been sent, and no goroutine of its own
// is in the next answer's way.
func (c *Conn) After(f func()) {
	c.mu.Lock()
	before, ended := c.after, c.ended
	c.after = f
	c.mu.Unlock()
	if before != nil {
		before()
	}
	if ended {
		c.Settle()
	}
}

// Settle runs what waits for [Conn.After] now.
func (c *Conn) Settle() {
	c.mu.Lock()
	f := c.after
	c.after = nil
	c.mu.Unlock()
	if f != nil {
		f()
	}
}

// begin is the watcher. A timer that fired late finds nothing armed, or a
// watcher of a later Watch that runs already.
func (c *Conn) begin() {
	c.mu.Lock()
	if c.gone == nil || c.done != nil || c.kept || c.err != nil {
		c.mu.Unlock()
		return
	}
	done := make(chan struct{})
	c.done = done
	c.mu.Unlock()
	defer close(done)

	n, err := c.Conn.Read(c.buf[:])
	if n == 1 {
		c.mu.Lock()
		c.kept = true
		c.mu.Unlock()
		return
	}
	// A deadline is somebody's wish that reading ends, never the client's
	// leaving; Unwatch has one.
	if e := net.Error(nil); errors.As(err, &e) && e.Timeout() {
		return
	}
	c.mu.Lock()
	gone := c.gone
	c.err = err
	c.mu.Unlock()
	if gone != nil {
		gone()
	}
}

// Read settles, returns what the watcher has kept, then reads on.
func (c *Conn) Read(p []byte) (int, error) {
	c.Settle()
	if c.kept && len(p) > 0 {
		p[0] = c.buf[0]
		c.kept = false
		return 1, nil
	}
	if c.err != nil {
		return 0, c.err
	}
	return c.Conn.Read(p)
}
