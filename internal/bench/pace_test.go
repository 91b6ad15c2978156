package bench

import (
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// A target that stands still for a while makes the requests late that were due
// meanwhile, and not only the one that it was asked.
func TestPaceCountsFromWhenARequestWasDue(t *testing.T) {
	const stands = 150 * time.Millisecond
	var asked atomic.Int64
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 {
			time.Sleep(stands)
		}
		_, _ = w.Write([]byte("{}"))
	})}
	go func() { _ = srv.Serve(ln) }()
	t.Cleanup(func() { _ = srv.Close() })
	var numbers atomic.Int64
	r, err := Pace(t.Context(), Target{URL: "http://" + ln.Addr().String() + "/"}, Load{Script: Small, Conns: 1, For: 200 * time.Millisecond}, 500, &numbers)
	if err != nil {
		t.Fatal(err)
	}
	// Three quarters of the requests were due while it stood still.
	if r.Requests != 100 || r.P50 < stands/10 || r.P99 < stands*9/10 {
		t.Errorf("%d requests, p50 %s, p99 %s", r.Requests, r.P50, r.P99)
	}
	if _, err := Pace(t.Context(), Target{}, Load{Conns: 1}, 10, &numbers); err == nil {
		t.Error("no time at all is none to pace")
	}
}
