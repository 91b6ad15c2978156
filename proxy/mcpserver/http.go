package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// The paths of the transports.
const (
	Path       = "/mcp"
	EventsPath = "/mcp/sse"
	SocketPath = "/mcp/ws"
)

// Subprotocol is what a WebSocket client asks for.
const Subprotocol = "mcp"

// Handler serves the three transports over HTTP. whose says who calls; its error
// is what the caller is told. Host, Origin and the token are checked by then.
func (s *Server) Handler(whose func(*http.Request) (Grant, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g, err := whose(r)
		if err != nil {
			deny(w, http.StatusForbidden, err)
			return
		}
		d, err := s.desk(g)
		switch {
		case errors.Is(err, errEnded):
			deny(w, http.StatusServiceUnavailable, err)
			return
		case err != nil:
			deny(w, http.StatusForbidden, err)
			return
		}
		switch r.URL.Path {
		case Path:
			d.stream.ServeHTTP(w, r)
		case EventsPath:
			d.events.ServeHTTP(w, r)
		case SocketPath:
			d.socket(w, r)
		default:
			deny(w, http.StatusNotFound, errors.New("there is nothing here: MCP is at "+Path+", "+EventsPath+" and "+SocketPath))
		}
	})
}

// deny answers with a problem document, as the rest of the port does.
func deny(w http.ResponseWriter, status int, err error) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client is gone if this fails
		"type": "about:blank", "title": http.StatusText(status), "status": status, "detail": err.Error(),
		"next": "See docs/mcp.md for what a token may do.",
	})
}

// pingEvery keeps a WebSocket alive behind proxies, and notices a client that is
// gone.
const pingEvery = 30 * time.Second

// socket serves a WebSocket until its client leaves or the desk closes.
func (d *desk) socket(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{Subprotocol}})
	if err != nil {
		d.log.Debug("a websocket wasn't opened", "error", err) // the client has been told
		return
	}
	defer func() { _ = c.CloseNow() }() // closed already in the usual case
	c.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(d.life) // a hijacked request's own context says nothing
	defer cancel()
	go func() {
		for tick := time.Tick(pingEvery); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
				late, stop := context.WithTimeout(ctx, pingEvery)
				if c.Ping(late) != nil {
					cancel()
				}
				stop()
			}
		}
	}()
	if err := d.server.Run(ctx, transport{socket{c}}); err != nil {
		d.log.Debug("a websocket session ended", "error", err)
	}
}
