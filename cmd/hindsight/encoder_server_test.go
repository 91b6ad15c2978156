package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"hindsight/store/embedding"
)

// encoderServer is an embeddings endpoint in front of the built-in encoder.
type encoderServer struct {
	builtin *embedding.Builtin
	down    atomic.Bool
	slow    atomic.Bool
	flip    atomic.Bool // it is another model under the same name
	wide    atomic.Bool // its vectors have a dimension more
}

func serveModel(t *testing.T) (*encoderServer, string) {
	t.Helper()
	b, err := embedding.Open()
	if err != nil {
		t.Fatal(err)
	}
	s := &encoderServer{builtin: b}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	return s, srv.URL
}

func (s *encoderServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.down.Load() {
		http.Error(w, "down", http.StatusServiceUnavailable)
		return
	}
	var q struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if s.slow.Load() {
		<-r.Context().Done()
		return
	}
	vectors, err := s.builtin.Embed(context.WithoutCancel(r.Context()), q.Input)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	type item struct {
		Embedding []float32 `json:"embedding"`
	}
	var data []item
	for _, v := range vectors {
		if s.flip.Load() {
			v[0], v[1] = v[1], v[0]
		}
		if s.wide.Load() {
			v = append(v, 0)
		}
		data = append(data, item{v})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
}
