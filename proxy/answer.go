package proxy

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/valyala/fasthttp"

	"hindsight/store"
)

var _ fasthttp.BodyWriterTo = chunks{}

// respond hands the upstream's answer over: its head now, its body as it comes.
func (s *Server) respond(c *fasthttp.RequestCtx, x *exchange, resp *http.Response) {
	if !x.whole() {
		c.SetConnectionClose()
		x.linger()
	}
	writeHead(c, resp, x.route != nil)
	a := &x.answering
	*a = answer{x: x, body: resp.Body, left: resp.ContentLength, status: resp.StatusCode}
	if x.method == http.MethodHead || resp.StatusCode == http.StatusNoContent || resp.StatusCode == http.StatusNotModified {
		a.left = 0
	}
	stream := strings.HasPrefix(strings.TrimLeft(resp.Header.Get("Content-Type"), " "), "text/event-stream")
	if x.walk != nil {
		a.rec = x.record(resp, stream)
	}
	if x.route != nil {
		x.ownHeaders(c, resp.StatusCode, x.newMemories())
	}
	x.s.metrics.request(x.route != nil, resp.StatusCode)

	small := a.left >= 0 && !stream
	if !small {
		a.rec.lasts()
	}
	switch {
	case a.left == 0 && x.method != http.MethodHead:
		a.end(nil)
		_ = a.Close() // it has no error
		if keepsLength(resp.StatusCode) {
			c.Response.Header.SetContentLength(0)
		}
	case x.method == http.MethodHead:
		a.end(nil)
		c.Response.SetBodyStream(a, int(resp.ContentLength))
	case x.old && a.left < 0:
		s.answerOld(c, x, a)
	case small:
		// A small answer comes with its headers: one read, one write.
		a.readFirst()
		if a.done && a.err == nil {
			body := a.first
			a.first = nil
			_ = a.Close()
			c.Response.SetBodyRaw(body)
			return
		}
		a.rec.lasts()
		c.Response.ImmediateHeaderFlush = true
		c.Response.SetBodyStream(a, int(resp.ContentLength))
	case a.left < 0:
		c.Response.ImmediateHeaderFlush = true
		c.Response.SetBodyStream(chunks{a}, -1)
	default:
		c.Response.ImmediateHeaderFlush = true
		c.Response.SetBodyStream(a, int(a.left))
	}
}

func keepsLength(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}

// answer is the upstream's body on its way to the client. fasthttp reads it,
// writes each read at once, and closes it.
type answer struct {
	x      *exchange
	body   io.ReadCloser
	status int
	left   int64  // bytes to come, -1 unknown
	first  []byte // read already, not handed over yet
	rec    *record

	done   bool  // the upstream's answer has ended, well or not
	err    error // how, nil is well
	closed bool
}

// readFirst reads once into a buffer that the client's answer may keep.
func (a *answer) readFirst() {
	buf := make([]byte, min(a.left, 16<<10))
	n, err := a.body.Read(buf)
	a.first = buf[:n]
	if a.rec != nil && int64(n) == a.left {
		a.rec.share(a.first)
		a.left = 0
		a.end(nil)
		return
	}
	a.saw(a.first, err)
}

// Read hands over the next bytes. What must be known before the client has the
// last byte happens before Read returns it.
func (a *answer) Read(p []byte) (int, error) {
	if len(a.first) > 0 {
		n := copy(p, a.first)
		a.first = a.first[n:]
		return n, nil
	}
	if a.done {
		if a.err != nil {
			return 0, a.err
		}
		return 0, io.EOF
	}
	n, err := a.body.Read(p)
	a.saw(p[:n], err)
	if a.done && a.err == nil {
		err = io.EOF
	}
	if n > 0 {
		return n, nil // the error comes with the next read
	}
	return 0, err
}

// moved is how much of an answer of unknown length goes to the client in one
// write: as much as the upstream's reader holds.
const moved = 16 << 10

var moveBuffers = sync.Pool{New: func() any { return new([moved]byte) }}

// chunks is an answer that goes to the client in chunks. fasthttp's own buffer
// would make many small ones of what came together.
type chunks struct{ *answer }

// SupportsBodyWriteTo is what fasthttp asks for.
func (chunks) SupportsBodyWriteTo() bool { return true }

// WriteTo hands over everything, each read by itself.
func (a chunks) WriteTo(w io.Writer) (sum int64, err error) {
	buf := moveBuffers.Get().(*[moved]byte)
	defer moveBuffers.Put(buf)
	for {
		n, err := a.Read(buf[:])
		if n > 0 {
			m, err := w.Write(buf[:n])
			sum += int64(m)
			if err != nil {
				return sum, err
			}
		}
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return sum, err
		}
	}
}

// saw keeps what has come and notices the end.
func (a *answer) saw(p []byte, err error) {
	if a.left > 0 {
		a.left -= int64(len(p))
	}
	if a.rec != nil {
		a.rec.add(p)
	}
	switch {
	case errors.Is(err, io.EOF), err == nil && a.left == 0:
		a.end(nil)
	case err != nil:
		a.end(err)
	case a.rec != nil && a.rec.marked():
		// The client may stop reading here: whatever still comes is no part of it.
		a.rec.over(store.Complete)
	}
}

func (a *answer) end(err error) {
	if a.done {
		return
	}
	a.done, a.err = true, err
	if a.rec == nil {
		return
	}
	switch {
	case err == nil:
		a.rec.over(store.Complete)
	case a.x.ctx.Err() != nil: // the client has left, or a hard stop
		a.rec.over(store.Aborted)
	default:
		a.rec.over(store.Truncated)
	}
}

// Close ends the exchange. An answer that fasthttp closes before its end is one
// whose client could not be written to.
func (a *answer) Close() error {
	if a.closed {
		return nil
	}
	a.closed = true
	if !a.done {
		a.x.left()
		a.end(io.ErrClosedPipe)
	}
	a.body.Close()
	a.x.release()
	return nil
}

// writeHead copies status and headers as they came.
func writeHead(c *fasthttp.RequestCtx, resp *http.Response, ours bool) {
	h := &c.Response.Header
	wantsClose := h.ConnectionClose()
	startHead(h, resp)
	if wantsClose {
		h.SetConnectionClose()
	}
	connection := resp.Header["Connection"]
	if len(connection) > 0 {
		dropNamed(resp.Header, connection)
	}
	for key, values := range resp.Header {
		if hop(key) && !(key == "Content-Length" && resp.StatusCode == http.StatusNotModified) || key == "Date" {
			continue
		}
		if ours && strings.HasPrefix(key, own) {
			continue // of a Hindsight behind us: this hop speaks for itself
		}
		for _, value := range values {
			h.Add(key, value)
		}
	}
}
