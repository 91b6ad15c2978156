package watch

import (
	"io"
	"net"
	"sync"
	"time"
)

// Linger bounds how long a Close goes on reading what the client still sends.
type Linger struct {
	Bytes int64
	Time  time.Duration
}

// LingerOnClose makes Close end our side first and read on, within the bounds:
// a client that is still sending when it has been answered gets to read the
// answer instead of a reset.
func (c *Conn) LingerOnClose(l Linger) { c.linger = l }

// Close settles and closes the connection, see [Conn.LingerOnClose].
func (c *Conn) Close() error {
	defer c.from.forget(c)
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.Settle()
	if c.linger.Bytes > 0 {
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			c.Conn.SetReadDeadline(time.Now().Add(c.linger.Time))
			_, _ = io.CopyN(io.Discard, c.Conn, c.linger.Bytes)
		}
	}
	return c.Conn.Close()
}

// Reset makes a coming Close reset the connection, so that a client whose
// framing has no end mark (HTTP/1.0) sees that the answer broke off.
func (c *Conn) Reset() {
	under := c.Conn
	if w, ok := under.(interface{ NetConn() net.Conn }); ok {
		under = w.NetConn()
	}
	if tcp, ok := under.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
}

var copyBuffers = sync.Pool{New: func() any { return new([32 << 10]byte) }}

// ReadFrom writes everything from r, each read at once. bufio.Writer uses it
// for bodies of known length as soon as its own buffer is empty.
func (c *Conn) ReadFrom(r io.Reader) (int64, error) {
	buf := copyBuffers.Get().(*[32 << 10]byte)
	defer copyBuffers.Put(buf)
	var sum int64
	for {
		n, err := r.Read(buf[:])
		if n > 0 {
			m, werr := c.Conn.Write(buf[:n])
			sum += int64(m)
			if werr != nil {
				return sum, werr
			}
		}
		if err == io.EOF {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
}
