// Package fakellm is a model server that needs no model: it speaks chat
// completions, Anthropic's messages and OpenAI's responses, and decides what to
// say from the request's text alone, by the rules in one table ([rules] for
// conversations, [lessons] for reflection). Tests, the demo and the benchmarks
// share it. Each format is read into one [request] and written from one
// [reply]. Two requests with the same text get the same answer, and swapping
// two conversations swaps their answers; ids follow from a request's bytes. The
// one thing that it keeps is responses for `previous_response_id`.
//
// What a user can order in the text:
//
//	[[tool NAME {json}]]   call this tool; several are called in parallel
//	[[then]]               what follows is called when the results are there
//	[[think WORDS]]        think this before each answer of the turn
//
// It refuses what providers refuse and a proxy could cause: tool results that
// don't stand right after their calls, empty text blocks, a fifth cache marker,
// thoughts that were changed.
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
	// Delay is the pause between two chunks of a stream, and before an answer
	// that comes whole.
	Delay time.Duration
	// Record is called for each request before it is answered, from many
	// goroutines at once. Nil for none.
	Record func(Request)
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
	cfg  Config
	kept *keptResponses

	mu       sync.Mutex
	requests []Request
	prefixes map[string]bool // of message prefixes seen, by hash
}

// New makes a server.
func New(cfg Config) *Server {
	return &Server{
		cfg: cfg, prefixes: map[string]bool{},
		kept: &keptResponses{byID: map[string]keptResponse{}, items: map[string]json.RawMessage{}},
	}
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

// ServeHTTP answers the three formats' routes and the list of models;
// everything else is a 404 in the API's error shape. There are no WebSockets.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	s.remember(Request{Method: r.Method, Path: r.URL.RequestURI(), Header: r.Header.Clone(), Body: body})
	post := r.Method == http.MethodPost
	switch {
	case post && strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.chat(w, r, body)
	case post && strings.HasSuffix(r.URL.Path, "/messages"):
		s.messages(w, r, body)
	case post && strings.HasSuffix(r.URL.Path, "/messages/count_tokens"):
		s.countTokens(w, body)
	case post && strings.HasSuffix(r.URL.Path, "/responses"):
		s.responses(w, r, body)
	case strings.Contains(r.URL.Path, "/responses/"):
		s.responseByID(w, r)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{
			map[string]any{"id": Model, "object": "model", "owned_by": "fakellm"},
		}})
	case r.Header.Get("Anthropic-Version") != "":
		failMessages(w, http.StatusNotFound, "not_found_error", "no such route: "+r.Method+" "+r.URL.Path)
	default:
		fail(w, http.StatusNotFound, "no such route: "+r.Method+" "+r.URL.Path)
	}
}

// Model is the name of the scripted model.
const Model = "scripted-1"

func (s *Server) remember(r Request) {
	if s.cfg.Record != nil {
		s.cfg.Record(r)
	}
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

// usage is the tokens of an exchange: of the prompt, those of them that a
// prompt cache held, and of the answer.
type usage struct{ prompt, cached, out int }

// usage counts tokens and how many of them a provider's prompt cache would
// have held: those of the longest prefix of messages that was sent before.
func (s *Server) usage(raw []json.RawMessage, answer string) usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := usage{out: store.Tokens(answer)}
	known := true
	var prefix strings.Builder
	for _, m := range raw {
		prefix.Write(m)
		u.prompt += store.Tokens(string(m))
		key := prefix.String()
		if known = known && s.prefixes[key]; known {
			u.cached = u.prompt
		}
		if len(s.prefixes) < 100_000 {
			s.prefixes[key] = true
		}
	}
	return u
}

func (u usage) chat() map[string]any {
	return map[string]any{
		"prompt_tokens": u.prompt, "completion_tokens": u.out, "total_tokens": u.prompt + u.out,
		"prompt_tokens_details": map[string]any{"cached_tokens": u.cached},
	}
}

func (u usage) messages() map[string]any {
	return map[string]any{
		"input_tokens": u.prompt - u.cached, "cache_read_input_tokens": u.cached, "cache_creation_input_tokens": 0, "output_tokens": u.out,
	}
}

func (u usage) responses() map[string]any {
	return map[string]any{
		"input_tokens": u.prompt, "input_tokens_details": map[string]any{"cached_tokens": u.cached},
		"output_tokens": u.out, "output_tokens_details": map[string]any{"reasoning_tokens": 0}, "total_tokens": u.prompt + u.out,
	}
}

// answer writes an answer that comes whole, unless the client leaves before.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, v any) {
	if s.cfg.Delay > 0 {
		select {
		case <-time.After(s.cfg.Delay):
		case <-r.Context().Done():
			return
		}
	}
	writeJSON(w, http.StatusOK, v)
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
