package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// events writes a stream of server-sent events, with the configured pause
// after each.
type events struct {
	w     http.ResponseWriter
	r     *http.Request
	delay time.Duration
	gone  bool // the client has left: nothing more is written
}

func (s *Server) events(w http.ResponseWriter, r *http.Request) *events {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &events{w: w, r: r, delay: s.cfg.Delay}
}

// send writes an event; name is "" for one without.
func (e *events) send(name string, v any) {
	if e.gone {
		return
	}
	b, _ := json.Marshal(v) // strings, numbers and what was JSON already
	if name != "" {
		name = "event: " + name + "\n"
	}
	if _, err := fmt.Fprintf(e.w, "%sdata: %s\n\n", name, b); err != nil || http.NewResponseController(e.w).Flush() != nil {
		e.gone = true
		return
	}
	if e.delay == 0 {
		return
	}
	select {
	case <-time.After(e.delay):
	case <-e.r.Context().Done():
		e.gone = true
	}
}

// pieces cuts a text into the parts of a stream, about a word each.
func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		n := strings.IndexByte(s[1:], ' ') + 1
		if n == 0 || n > 24 {
			n = min(len(s), 12)
			for n < len(s) && s[n]&0xc0 == 0x80 {
				n++
			}
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
