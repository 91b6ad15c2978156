package main

import (
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
)

// apiError is an error as OpenAI's clients read it.
type apiError struct {
	Error struct {
		Message, Type, Code string
		Param               *string
	}
}

func (r reply) apiError(t *testing.T) (e apiError) {
	t.Helper()
	if err := json.Unmarshal(r.body, &e); err != nil || e.Error.Message == "" || r.header.Get("Content-Type") != "application/json" {
		t.Fatalf("not an error of the API: %s %q (%v)", r.header.Get("Content-Type"), r.body, err)
	}
	return e
}

func TestUpstreamThatIsNotThere(t *testing.T) {
	t.Parallel()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := ln.Addr().String()
	ln.Close()
	w := newWorld(t, "LLM_API_BASE=http://"+address+"/v1")
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		r := post(t, w.st.proxyURL()+path, `{"model":"m","messages":[{"role":"user","content":"My name is Ann."}]}`)
		e := r.apiError(t).Error
		if r.status != http.StatusBadGateway || e.Type != "server_error" || e.Code != "upstream_unreachable" || !strings.Contains(e.Message, address) || !strings.Contains(e.Message, "LLM_API_BASE") {
			t.Errorf("%s: %d %+v", path, r.status, e)
		}
	}
	if ids := w.sessions(); len(ids) != 0 {
		t.Errorf("a session without an answer: %q", ids)
	}
	if h := w.health(); !h.Ready {
		t.Errorf("readyz: %+v", h)
	}
}

func TestBodyAboveTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_MAX_BODY=64KiB")
	inside := `{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", 60<<10) + `"}]}`
	if r := w.send(inside); r.status != http.StatusOK {
		t.Errorf("a body inside the limit: %d %s", r.status, r.body)
	}
	for _, n := range []int{65 << 10, 24 << 20} {
		for range 3 {
			r := w.send(`{"model":"m","messages":[{"role":"user","content":"` + strings.Repeat("x", n) + `"}]}`)
			e := r.apiError(t).Error
			if r.status != http.StatusRequestEntityTooLarge || e.Type != "invalid_request_error" || !strings.Contains(e.Message, "65536") || r.memory() != "skipped;reason=limit" {
				t.Errorf("%d bytes: %d %s %+v", n, r.status, r.memory(), e)
			}
		}
	}
	if n := len(w.seen()); n != 1 {
		t.Errorf("the upstream got %d requests", n)
	}
}
