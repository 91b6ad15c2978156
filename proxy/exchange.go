package proxy

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"

	"hindsight/proxy/dialect"
	"hindsight/proxy/watch"
)

// exchange is one request and its answer. Nothing in it belongs to fasthttp,
// the connection apart.
type exchange struct {
	s        *Server
	conn     *watch.Conn
	received time.Time

	method, path, query string // as sent; query with its question mark
	header              http.Header
	old                 bool // HTTP/1.0: no chunks
	length              int64
	route               *Route // nil: not a memory route
	coding              string // content coding that was undone

	ctx    context.Context // ours: ends when the client has left, at a hard stop, and with the exchange
	cancel context.CancelFunc
	gone   atomic.Bool // the client has left

	upload *upload // the body of a streamed request, nil if there is none
	unread bool    // some of the body will never be read

	held  atomic.Int64 // bytes of the server's room
	users atomic.Int32 // who still needs them

	released bool
	walk     *walk  // what memory does, nil where it isn't asked
	status   status // for our answer headers

	// Parts of the exchange that not every one needs, here to spare an
	// allocation each.
	walking   walk
	answering answer
	recording record
}

// newExchange takes over what fasthttp has read.
func (s *Server) newExchange(c *fasthttp.RequestCtx, uri string, received time.Time) *exchange {
	h := &c.Request.Header
	x := &exchange{s: s, received: received, method: method(h.Method()), old: !h.IsHTTP11(), length: int64(h.ContentLength())}
	x.path, x.query = uri, ""
	if i := strings.IndexByte(uri, '?'); i >= 0 {
		x.path, x.query = uri[:i], uri[i:]
	}
	x.header = readHeader(string(h.RawHeaders()))
	x.conn, _ = c.Conn().(*watch.Conn)
	x.conn.Settle() // a client that doesn't wait for its answers has the next one read already
	x.ctx, x.cancel = context.WithCancel(s.base)
	x.use()
	if x.method == http.MethodPost {
		x.route = s.routeOf(x.path)
	}
	s.asked.Store(received.UnixNano())
	s.metrics.inflight.Inc()
	return x
}

// method avoids a copy for the usual ones.
func method(b []byte) string {
	switch string(b) {
	case http.MethodPost:
		return http.MethodPost
	case http.MethodGet:
		return http.MethodGet
	}
	return string(b)
}

func (s *Server) routeOf(path string) *Route {
	for i := range s.cfg.Routes {
		if strings.HasSuffix(path, s.cfg.Routes[i].Suffix) {
			return &s.cfg.Routes[i]
		}
	}
	return nil
}

// upstreamOf picks the base by what the request is.
func (x *exchange) upstreamOf() *upstream {
	if x.s.anthropic != x.s.upstream {
		if _, ok := x.header["Anthropic-Version"]; ok || strings.Contains(x.path+"/", "/messages/") {
			return x.s.anthropic
		}
	}
	return x.s.upstream
}

// watch begins to look for the client's leaving. The request must have been
// read whole.
func (x *exchange) watch() { x.conn.Watch(x.left) }

// left cancels the upstream request because the client has gone.
func (x *exchange) left() {
	if x.gone.CompareAndSwap(false, true) {
		x.s.metrics.gone.Inc()
	}
	x.cancel()
}

// release ends the exchange's use of the connection; fasthttp reads it next.
// Something of the request may still be unread then: the connection closes
// after the answer, in a way that lets the client read it.
func (x *exchange) release() {
	if x.released {
		return
	}
	x.released = true
	x.upload.stop() // first: the end of an upload begins the watching
	x.conn.Unwatch()
	x.cancel()
	x.s.metrics.inflight.Dec()
	x.drop()
}

// whole says whether the request has been read to its end.
func (x *exchange) whole() bool {
	return !x.unread && (x.upload == nil || x.upload.all.Load())
}

// linger makes the connection's end one that lets a client read the answer that
// is still sending its request. A small limit is no reason to be short with who
// sends a large body.
func (x *exchange) linger() {
	x.conn.LingerOnClose(watch.Linger{Bytes: max(4*x.s.cfg.MaxBody, 64<<20), Time: 30 * time.Second})
}

// family is the dialect whose shape an exchange's client reads, nil for none of
// the routes'.
func (s *Server) family(x *exchange) dialect.Dialect {
	if x.route != nil {
		return x.route.Dialect
	}
	for i := range s.cfg.Routes {
		if strings.Contains(x.path, s.cfg.Routes[i].Suffix+"/") {
			return s.cfg.Routes[i].Dialect
		}
	}
	return nil
}
