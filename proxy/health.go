package proxy

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/valyala/fasthttp"

	"hindsight/store"
)

// The states of a server.
const (
	starting int32 = iota
	serving
	draining
)

// Ready says whether requests can be forwarded. It is false while starting or
// draining, whatever memory's state.
func (s *Server) Ready() bool { return s.state.Load() == serving }

// Health is readyz's body and status code, for other listeners that answer it.
func (s *Server) Health() (body []byte, code int) {
	memory, reason := s.cfg.Memory()
	ready := s.Ready()
	body, err := json.Marshal(struct {
		Ready  bool   `json:"ready"`
		Memory string `json:"memory"`
		Reason string `json:"reason"`
	}{ready, memory, reason})
	if err != nil || !ready {
		return body, http.StatusServiceUnavailable
	}
	return body, http.StatusOK
}

// ownPath answers the probes, the only paths that aren't the upstream's.
func (s *Server) ownPath(c *fasthttp.RequestCtx, uri string) bool {
	rest, ok := strings.CutPrefix(uri, "/"+store.Product+"/")
	if !ok || !c.IsGet() && !c.IsHead() {
		return false
	}
	path, _, _ := strings.Cut(rest, "?")
	switch path {
	case "healthz":
		c.SetContentType("text/plain; charset=utf-8")
		c.SetBodyString("ok\n")
	case "readyz":
		body, code := s.Health()
		c.SetStatusCode(code)
		c.SetContentType("application/json")
		c.Response.SetBodyRaw(body)
	default:
		return false
	}
	return true
}
