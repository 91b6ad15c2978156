package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// client sends requests upstream. It follows no redirect and has no total
// timeout.
type client struct {
	transport *http.Transport
	plain     *plain // nil: every request is the transport's
	limits    Limits // may be nil
}

func newClient(cfg Config, limits Limits) *client {
	dialer := &net.Dialer{Timeout: cfg.ConnectTimeout, KeepAlive: 30 * time.Second}
	c := &client{limits: limits, transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           directly(dialer.DialContext),
		ForceAttemptHTTP2:     true,
		DisableCompression:    true,
		TLSHandshakeTimeout:   cfg.ConnectTimeout,
		ResponseHeaderTimeout: cfg.FirstByteTimeout,
		MaxIdleConns:          0,
		MaxIdleConnsPerHost:   idleMost,
		IdleConnTimeout:       idleTimeout,
		// One read takes a small answer whole, which saves a write to the client.
		ReadBufferSize:  moved,
		WriteBufferSize: 16 << 10,
	}}
	if cfg.FirstByteTimeout == 0 { // which is the transport's to keep
		c.plain = &plain{dial: dialer.DialContext, idle: map[string][]*plainConn{}}
	}
	return c
}

// close ends the connections that are kept.
func (c *client) close() {
	c.transport.CloseIdleConnections()
	if c.plain != nil {
		c.plain.close()
	}
}

// outgoing is one request as it goes upstream.
type outgoing struct {
	method        string
	up            *upstream
	target, query string      // see upstream.url
	header        http.Header // net/http's from now on
	// body opens the body from its start. It is called again when a kept
	// connection turns out to be closed; nil means that there is none.
	body   func() (io.ReadCloser, error)
	length int64   // of the body, -1 unknown
	pieces payload // the body, where it lies in memory; see carry
}

// errReplayed ends a request whose second connection was closed as well.
var errReplayed = errors.New("two connections in a row were closed before the answer")

// do sends a request. net/http sends it again by itself if a kept connection
// was closed before it carried a byte of the answer; we allow that once.
func (c *client) do(ctx context.Context, o outgoing) (*http.Response, error) {
	resp, err := c.send(ctx, &o)
	if err == nil && c.limits != nil {
		c.limits.Answered(o.header, resp.StatusCode, resp.Header)
	}
	return resp, err
}

func (c *client) send(ctx context.Context, o *outgoing) (*http.Response, error) {
	if c.plain.takes(o) {
		return c.plain.do(ctx, o)
	}
	if o.body == nil && o.length > 0 {
		o.body = o.pieces.open
	}
	to := o.up.url(o.target, o.query)
	req := &http.Request{
		Method: o.method, URL: to, Host: to.Host, Header: o.header, ContentLength: o.length,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	if o.body != nil {
		body, err := o.body()
		if err != nil {
			return nil, err
		}
		req.Body = body
		replayed := false
		req.GetBody = func() (io.ReadCloser, error) {
			if replayed {
				return nil, errReplayed
			}
			replayed = true
			return o.body()
		}
	}
	if _, ok := o.header["Idempotency-Key"]; !ok {
		// Empty and not on the wire: it tells net/http that sending the request
		// again is safe, which it is before the first answer byte.
		o.header["Idempotency-Key"] = []string{}
	}
	return c.transport.RoundTrip(req.WithContext(ctx))
}
