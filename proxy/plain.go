package proxy

import (
	"bufio"
	"context"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http/httpguts"
)

// plain sends small requests to an upstream that is reached directly over plain
// HTTP/1.1, as local models and gateways are: one write and the reads of the
// answer, in the goroutine that serves the exchange. net/http has two more
// goroutines for each connection, and handing a request over to them and back is
// a third of what a small exchange costs (docs/decisions/0012). What goes over
// the wire is the same, and so are the rules: see [plain.do].
type plain struct {
	dial func(context.Context, string, string) (net.Conn, error)

	mu   sync.Mutex
	idle map[string][]*plainConn // by address, the one that was used last at the end
	tick *time.Timer             // sweeps them; nil while there are none
	shut bool
}

// What net/http's transport is told for other upstreams, and what it does unasked.
const (
	idleMost    = 1024 // connections to one address
	idleTimeout = 90 * time.Second
	headMost    = 10 << 20 // bytes of an answer's head
	interimMost = 5        // answers 1xx before the real one
)

// idleSweep is how often kept connections are looked at, to notice those that the
// upstream has closed.
const idleSweep = 10 * time.Second

// plainConn is one connection. It belongs to one exchange at a time.
type plainConn struct {
	net.Conn
	to    string
	in    *bufio.Reader
	out   []byte
	left  int // bytes that an answer's head may still take
	since time.Time
}

// Read is what the buffered reader reads from.
func (c *plainConn) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errLongHead
	}
	n, err := c.Conn.Read(p)
	c.left -= n
	return n, err
}

var (
	errLongHead = errors.New("the answer's headers are longer than 10 MiB")
	errInterim  = errors.New("too many interim answers")
)

// takes says whether a request may go this way. What doesn't belong into a
// request line or a header is net/http's to judge.
func (p *plain) takes(o *outgoing) bool {
	if p == nil || o.up.plain == "" || o.method != http.MethodPost || len(o.pieces) != 1 || len(o.pieces[0]) > together {
		return false
	}
	if !strings.HasPrefix(o.target, "/") || strings.HasPrefix(o.target, "//") || !graphic(o.target) || !graphic(o.query) {
		return false
	}
	for name, values := range o.header {
		if name == "Upgrade" || !httpguts.ValidHeaderFieldName(name) {
			return false
		}
		for _, v := range values {
			if !httpguts.ValidHeaderFieldValue(v) {
				return false
			}
		}
	}
	return true
}

// graphic says whether s holds no space and no control character.
func graphic(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] == 0x7f {
			return false
		}
	}
	return true
}

// do sends a request and reads the answer's head. The request is sent once more,
// over a new connection, if it went out on a kept one that ended before a byte of
// the answer. The connection is cut when ctx ends, and kept when the answer has
// been read to its end.
func (p *plain) do(ctx context.Context, o *outgoing) (*http.Response, error) {
	c := p.take(o.up.plain)
	kept := c != nil
	for {
		if c == nil {
			n, err := p.dial(ctx, "tcp", o.up.plain)
			if err != nil {
				return nil, err
			}
			c = &plainConn{Conn: n, to: o.up.plain}
			c.in = bufio.NewReaderSize(c, moved)
		}
		resp, answered, err := p.exchange(ctx, c, o)
		if err == nil {
			return resp, nil
		}
		_ = c.Close() // it is no use any more
		if cause := ctx.Err(); cause != nil {
			return nil, cause
		}
		if !kept || answered {
			return nil, err
		}
		kept, c = false, nil
	}
}

// exchange is one try. answered says that some of the answer has come.
func (p *plain) exchange(ctx context.Context, c *plainConn, o *outgoing) (resp *http.Response, answered bool, err error) {
	b := &plainBody{p: p, c: c, ctx: ctx}
	b.stop = context.AfterFunc(ctx, b.cut)
	defer func() {
		if err != nil {
			b.stop()
		}
	}()
	c.left = headMost
	c.out = o.appendTo(c.out[:0])
	_, wrote := c.Write(c.out)
	// An upstream may answer what it hasn't read, and close.
	if _, err := c.in.Peek(1); err != nil {
		return nil, false, errors.Join(wrote, ended(err))
	}
	for n := 0; ; n++ {
		if resp, err = http.ReadResponse(c.in, nil); err != nil {
			return nil, true, ended(err)
		}
		if resp.StatusCode/100 != 1 || resp.StatusCode == http.StatusSwitchingProtocols {
			break
		}
		if n == interimMost {
			return nil, true, errInterim
		}
	}
	c.left = math.MaxInt
	b.keep = wrote == nil && !resp.Close && resp.StatusCode != http.StatusSwitchingProtocols
	b.body = resp.Body
	resp.Body = b
	if resp.ContentLength == 0 || b.body == http.NoBody {
		b.end()
	}
	return resp, true, nil
}

// ended tells an end in the middle of an answer from one at its end.
func ended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// plainBody is an answer's body. It hands its connection back.
type plainBody struct {
	p    *plain
	c    *plainConn
	ctx  context.Context // the exchange's, which this ends with
	stop func() bool
	body io.Reader
	keep bool
	over bool
}

// cut ends whatever waits for the connection.
func (b *plainBody) cut() { _ = b.c.Close() }

func (b *plainBody) Read(p []byte) (int, error) {
	if b.over {
		return 0, io.EOF
	}
	n, err := b.body.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		b.end()
	case err != nil:
		if cause := b.ctx.Err(); cause != nil {
			err = cause
		}
		b.keep = false
		b.end()
	}
	return n, err
}

// end gives the connection back after its answer's last byte.
func (b *plainBody) end() {
	if b.over {
		return
	}
	b.over = true
	if !b.stop() || !b.keep || b.c.in.Buffered() > 0 || !b.p.put(b.c) {
		_ = b.c.Close()
	}
}

// Close cuts an answer that hasn't been read to its end.
func (b *plainBody) Close() error {
	b.keep = false
	b.end()
	return nil
}

// take is the kept connection that was used last, nil if there is none.
func (p *plain) take(to string) *plainConn {
	for {
		p.mu.Lock()
		all := p.idle[to]
		if len(all) == 0 {
			p.mu.Unlock()
			return nil
		}
		c := all[len(all)-1]
		all[len(all)-1] = nil
		p.idle[to] = all[:len(all)-1]
		p.mu.Unlock()
		// One that has just been used is believed; do sees if that was wrong.
		if age := time.Since(c.since); age < time.Second || age < idleTimeout && alive(c.Conn) {
			return c
		}
		_ = c.Close() // nothing is under way on it
	}
}

// put keeps a connection for the next request; false says that it isn't wanted.
func (p *plain) put(c *plainConn) bool {
	c.since = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shut || len(p.idle[c.to]) >= idleMost {
		return false
	}
	p.idle[c.to] = append(p.idle[c.to], c)
	if p.tick == nil {
		p.tick = time.AfterFunc(idleSweep, p.sweep)
	}
	return true
}

// sweep closes what has been idle for too long or was closed by the upstream.
func (p *plain) sweep() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tick = nil; p.sweepNow() > 0 && !p.shut {
		p.tick = time.AfterFunc(idleSweep, p.sweep)
	}
}

// sweepNow says how many connections are left. The caller holds mu.
func (p *plain) sweepNow() (left int) {
	for to, all := range p.idle {
		all = slices.DeleteFunc(all, func(c *plainConn) bool {
			if time.Since(c.since) < idleTimeout && alive(c.Conn) {
				return false
			}
			_ = c.Close() // nothing is under way on it
			return true
		})
		p.idle[to] = all
		left += len(all)
	}
	return left
}

// close ends all kept connections; none is kept from now on.
func (p *plain) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shut = true
	if p.tick != nil {
		p.tick.Stop()
	}
	for _, all := range p.idle {
		for _, c := range all {
			_ = c.Close() // nothing is under way on it
		}
	}
	clear(p.idle)
}

// appendTo writes the request as net/http would: Host, User-Agent and the length
// first, then the other headers by name.
func (o *outgoing) appendTo(b []byte) []byte {
	b = append(append(append(b, o.method...), ' '), o.target...)
	b = append(append(b, o.query...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, o.up.host...), "\r\n"...)
	if ua := o.header["User-Agent"]; len(ua) > 0 && ua[0] != "" {
		b = appendHeader(b, "User-Agent", ua[0])
	}
	b = append(b, "Content-Length: "...)
	b = append(strconv.AppendInt(b, int64(len(o.pieces[0])), 10), "\r\n"...)
	var room [32]string
	names := room[:0]
	for name := range o.header {
		if name != "User-Agent" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		for _, v := range o.header[name] {
			b = appendHeader(b, name, v)
		}
	}
	return append(append(b, "\r\n"...), o.pieces[0]...)
}

func appendHeader(b []byte, name, value string) []byte {
	b = append(append(b, name...), ": "...)
	return append(append(b, value...), "\r\n"...)
}
