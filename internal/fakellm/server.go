// Package fakellm is a model server that needs no model: it speaks the chat
// completions API and decides what to say from the request's text alone, by
// the rules in one table ([rules] for conversations, [lessons] for
// reflection). Tests, the demo and the benchmarks share it. It keeps no
// conversation: two requests with the same text get the same answer, and
// swapping two conversations swaps their answers.
//
// It reports cached prompt tokens the way providers do, by the longest known
// prefix of messages, so that a broken prompt cache can be seen.
package fakellm

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"hindsight/store"
)

// Config says how the server behaves. The zero value answers at once.
type Config struct {
	// Keep is how many requests [Server.Requests] remembers, 0 for none.
	Keep int
	// Delay is the pause between two chunks of a stream.
	Delay time.Duration
}

// Request is a request as it arrived.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
}

// Server is the model server, an [http.Handler] that is safe for concurrent
// use.
type Server struct {
	cfg Config

	mu       sync.Mutex
	requests []Request
	prefixes map[string]bool // of message prefixes seen, by hash
}

// New makes a server.
func New(cfg Config) *Server {
	return &Server{cfg: cfg, prefixes: map[string]bool{}}
}

// Start serves on addr ("127.0.0.1:0" for any free port) until stop is called.
// base is the URL to use as LLM_API_BASE.
func (s *Server) Start(addr string) (base string, stop func(), err error) {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln) // always ErrServerClosed: stop is the only way out
	}()
	return "http://" + ln.Addr().String() + "/v1", func() { _ = srv.Close(); <-done }, nil
}

// Requests returns the last requests, oldest first.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// ServeHTTP answers chat completions and the list of models; everything else
// is a 404 in the API's error shape.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.remember(Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body})
	switch {
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.chat(w, r, body)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
			map[string]any{"id": Model, "object": "model", "owned_by": "fakellm"},
		}})
	default:
		fail(w, http.StatusNotFound, "no such route: "+r.Method+" "+r.URL.Path)
	}
}

// Model is the name of the scripted model.
const Model = "scripted-1"

func (s *Server) remember(r Request) {
	if s.cfg.Keep == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if over := len(s.requests) - s.cfg.Keep; over > 0 {
		s.requests = append(s.requests[:0], s.requests[over:]...)
	}
}

// usage counts tokens and how many of them a provider's prompt cache would
// have held: those of the longest prefix of messages that was sent before.
func (s *Server) usage(req chatRequest, answer string) map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	prompt, cached := 0, 0
	known := true
	var prefix strings.Builder
	for _, m := range req.raw {
		prefix.Write(m)
		prompt += store.Tokens(string(m))
		key := prefix.String()
		if known = known && s.prefixes[key]; known {
			cached = prompt
		}
		if len(s.prefixes) < 100_000 {
			s.prefixes[key] = true
		}
	}
	out := store.Tokens(answer)
	return map[string]any{
		"prompt_tokens": prompt, "completion_tokens": out, "total_tokens": prompt + out,
		"prompt_tokens_details": map[string]any{"cached_tokens": cached},
	}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // an error here is a client that has gone
}

func fail(w http.ResponseWriter, status int, message string) {
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": message, "type": "invalid_request_error", "param": nil, "code": nil,
	}})
}

var errNoMessages = errors.New("messages: at least one is needed")
