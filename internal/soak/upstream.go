package soak

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"hindsight/internal/fakellm"
)

// The headers by which a client tells the upstream what to do with a request, and
// which it is.
const (
	headerTag  = "Soak-Tag"
	headerFate = "Soak-Fate"
)

// Fates of a request, as its client asks for them.
const (
	whole   = "whole"   // it is answered
	stream  = "stream"  // by a stream
	leave   = "leave"   // the client leaves in the middle of the stream
	early   = "early"   // the client leaves before the first byte
	refused = "refused" // by Hindsight: too long
	models  = "models"  // another route
	limited = "limited" // 429
	broken  = "broken"  // 500
	cut     = "cut"     // the stream breaks off
	reset   = "reset"   // the connection ends without an answer
)

// upstream is the scripted model, with faults.
type upstream struct {
	base  string
	stop  func()
	model *fakellm.Server

	mu      sync.Mutex
	seen    map[string]int           // requests by tag
	arrived map[string]chan struct{} // closed when the tag's request is there
}

func newUpstream() (*upstream, error) {
	u := &upstream{model: fakellm.New(fakellm.Config{}), seen: map[string]int{}, arrived: map[string]chan struct{}{}}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("start the upstream: %w", err)
	}
	srv := &http.Server{Handler: u, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(ln) // always ErrServerClosed: stop is the only way out
	}()
	u.base, u.stop = "http://"+ln.Addr().String()+"/v1", func() { _ = srv.Close(); <-done }
	return u, nil
}

func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if tag := r.Header.Get(headerTag); tag != "" {
		u.arrive(tag)
	}
	switch r.Header.Get(headerFate) {
	case limited:
		http.Error(w, `{"error":{"message":"slow down","type":"rate_limit_error"}}`, http.StatusTooManyRequests)
	case broken:
		http.Error(w, `{"error":{"message":"broken","type":"server_error"}}`, http.StatusInternalServerError)
	case early:
		<-r.Context().Done()
	case leave:
		begin(w)
		<-r.Context().Done()
	case cut:
		begin(w)
		panic(http.ErrAbortHandler)
	case reset:
		panic(http.ErrAbortHandler)
	default:
		u.model.ServeHTTP(w, r)
	}
}

// begin begins a stream.
func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"scripted-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Well"},"finish_reason":null}]}`+"\n\n")
	_ = http.NewResponseController(w).Flush()
}

func (u *upstream) arrive(tag string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.seen[tag]++
	if ch, ok := u.arrived[tag]; ok {
		close(ch)
		delete(u.arrived, tag)
	}
}

// awaits is closed when the tag's request has come.
func (u *upstream) awaits(tag string) <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	ch := make(chan struct{})
	u.arrived[tag] = ch
	return ch
}

// forwarded counts the requests that have come, those that came again once.
func (u *upstream) forwarded() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.seen)
}
