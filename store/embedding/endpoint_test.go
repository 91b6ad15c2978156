package embedding

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is an endpoint that embeds a text by its length, in three dimensions.
type server struct {
	mu     sync.Mutex
	calls  int
	texts  int
	status int
	base64 bool
	detail string
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	var q struct {
		Model string
		Input []string
	}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Model != "m" || r.URL.Path != "/v1/embeddings" || r.Header.Get("Authorization") != "Bearer k" {
		http.Error(w, "what?", http.StatusTeapot)
		return
	}
	s.texts += len(q.Input)
	if s.status != 0 {
		w.WriteHeader(s.status)
		fmt.Fprint(w, s.detail)
		return
	}
	var data []string
	for i := len(q.Input) - 1; i >= 0; i-- { // in another order
		v := []float32{float32(len(q.Input[i])), 1, 0}
		enc, _ := json.Marshal(v)
		if s.base64 {
			var b []byte
			for _, x := range v {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
			enc, _ = json.Marshal(base64.StdEncoding.EncodeToString(b))
		}
		data = append(data, fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, enc))
	}
	fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
}

func (s *server) set(status int, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status, s.detail = status, detail
}

func (s *server) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

func endpoint(t *testing.T, s http.Handler, now func() time.Time) *Endpoint {
	t.Helper()
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	u, err := url.Parse(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	return NewEndpoint(EndpointConfig{Base: u, Model: "m", Key: "k", Now: now})
}

func TestEndpointSpeaksBothForms(t *testing.T) {
	for _, b64 := range []bool{false, true} {
		s := &server{base64: b64}
		e := endpoint(t, s, nil)
		var texts []string
		for i := range 70 {
			texts = append(texts, strings.Repeat("x", i+1))
		}
		v, err := e.Embed(t.Context(), texts)
		if err != nil || len(v) != 70 || s.called() != 3 {
			t.Fatalf("%d vectors in %d calls, %v", len(v), s.called(), err)
		}
		for i, one := range v {
			if n := math.Hypot(float64(i+1), 1); math.Abs(float64(one[0])-float64(i+1)/n) > 1e-5 || len(one) != 3 {
				t.Fatalf("vector %d is %v", i, one)
			}
		}
	}
}

func TestEndpointRestsAfterFailures(t *testing.T) {
	now := time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)
	s := &server{status: http.StatusBadGateway}
	e := endpoint(t, s, func() time.Time { return now })
	ask := func() error { _, err := e.EmbedQuery(t.Context(), "x"); return err }
	for range 10 {
		if ask() == nil {
			t.Fatal("no error")
		}
	}
	if s.called() != restAfter {
		t.Errorf("%d calls while it fails, want %d", s.called(), restAfter)
	}
	now = now.Add(time.Second)
	if ask(); s.called() != restAfter+1 {
		t.Errorf("%d calls after a second, want one more", s.called())
	}
	if err := ask(); !errors.Is(err, errResting) || s.called() != restAfter+1 {
		t.Errorf("%v after %d calls", err, s.called())
	}
	s.set(0, "")
	now = now.Add(2 * time.Second)
	for range 3 {
		if err := ask(); err != nil {
			t.Error(err)
		}
	}
}

func TestEndpointRefusals(t *testing.T) {
	s := &server{status: http.StatusBadRequest, detail: `{"error":{"message":"too   long"}}`}
	e := endpoint(t, s, nil)
	var refused *Refused
	for range 5 { // a refusal says nothing about the endpoint
		if _, err := e.EmbedQuery(t.Context(), "x"); !errors.As(err, &refused) || refused.Detail != "too long" {
			t.Fatalf("%v", err)
		}
	}
	if s.called() != 5 {
		t.Errorf("%d calls", s.called())
	}
	for name, body := range map[string]string{
		"too few":   `{"data":[]}`,
		"twice one": `{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}`,
		"lengths":   `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`,
		"zeros":     `{"data":[{"embedding":[0,0]},{"embedding":[1,0]}]}`,
		"base64":    `{"data":[{"embedding":"AAA"},{"embedding":"AAA="}]}`,
		"no JSON":   `<html>`,
	} {
		if v, err := decode([]byte(body), 2); err == nil {
			t.Errorf("%s: %v", name, v)
		}
	}
}

func TestEndpointHoldsTheDeadline(t *testing.T) {
	gone := make(chan struct{})
	e := endpoint(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}), nil)
	defer close(gone)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := e.EmbedQuery(ctx, "x"); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
		t.Errorf("%v after %v", err, time.Since(start))
	}
}
