package proxy

import (
	"context"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/valyala/fasthttp"
)

// upgrade forwards a request that wants another protocol. If the upstream
// agrees, both connections become one tunnel.
func (s *Server) upgrade(c *fasthttp.RequestCtx, x *exchange) {
	kind := x.header.Get("Upgrade")
	if !s.cfg.TunnelWebSockets && strings.EqualFold(kind, "websocket") && strings.HasSuffix(x.path, "/responses") {
		c.Response.Header.Set("Upgrade", "HTTP/1.1")
		x.answerFault(c, fault{http.StatusUpgradeRequired, "websocket_not_supported", "Use HTTP for this path: memory doesn't work over WebSockets."})
		x.over(c)
		return
	}
	if s.cfg.RequireKey && !s.admit(x) {
		x.answerFault(c, denied)
		x.over(c)
		return
	}
	x.route = nil
	forward(x.header)
	out := x.outgoing()
	out.header["Connection"], out.header["Upgrade"] = []string{"Upgrade"}, []string{kind}
	x.watch()
	resp, err := s.client.do(x.ctx, out) //nolint:bodyclose // the tunnel or respond closes it
	if err != nil {
		s.unanswered(c, x, err)
		return
	}
	back, ok := resp.Body.(io.ReadWriteCloser)
	if resp.StatusCode != http.StatusSwitchingProtocols || !ok {
		s.respond(c, x, resp)
		return
	}
	connection, protocol := resp.Header["Connection"], resp.Header["Upgrade"]
	writeHead(c, resp, false)
	for name, values := range map[string][]string{"Connection": connection, "Upgrade": protocol} {
		for _, value := range values {
			c.Response.Header.Set(name, value)
		}
	}
	s.metrics.request(false, resp.StatusCode)
	x.conn.Unwatch()
	s.tunnels.Add(1)
	c.Hijack(func(front net.Conn) {
		defer s.tunnels.Done()
		defer x.release()
		s.splice(x, front, back)
	})
}

// splice copies both ways until either end is done.
func (s *Server) splice(x *exchange, front net.Conn, back io.ReadWriteCloser) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		_, _ = io.Copy(back, front) // either end may end it
		back.Close()
	}()
	stop := context.AfterFunc(x.ctx, func() { back.Close() }) // a hard stop
	_, _ = io.Copy(front, back)
	stop()
	back.Close()
	x.conn.Conn.Close() // ends the other direction's read
	<-over
}

// answerOld streams an answer of unknown length to an HTTP/1.0 client, which
// can't read chunks: the end of the connection is the end of the answer.
func (s *Server) answerOld(c *fasthttp.RequestCtx, x *exchange, a *answer) {
	c.SetConnectionClose()
	head := oldHead(&c.Response.Header)
	s.tunnels.Add(1)
	c.HijackSetNoResponse(true)
	c.Hijack(func(net.Conn) {
		defer s.tunnels.Done()
		_, err := x.conn.Write(head)
		if err == nil {
			_, err = x.conn.ReadFrom(a)
		}
		if err != nil && a.err != nil {
			x.conn.Reset()
		}
		_ = a.Close() // it has been read, or the connection is reset
	})
}

// oldHead is an answer's head without framing.
func oldHead(h *fasthttp.ResponseHeader) []byte {
	b := append([]byte("HTTP/1.0 "), strconv.Itoa(h.StatusCode())...)
	b = append(b, ' ')
	phrase := string(h.StatusMessage())
	if phrase == "" {
		phrase = http.StatusText(h.StatusCode())
	}
	b = append(b, phrase...)
	b = append(b, "\r\n"...)
	for key, value := range h.All() {
		switch string(key) {
		case "Content-Length", "Transfer-Encoding", "Connection":
			continue
		}
		b = append(append(append(append(b, key...), ": "...), value...), "\r\n"...)
	}
	return append(b, "Connection: close\r\n\r\n"...)
}
