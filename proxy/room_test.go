package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hindsight/inject"
	"hindsight/proxy/session"
	"hindsight/store"
)

func roomOf(n int64) option { return func(c *proxyConfig, _ *proxyMemory) { c.MaxInFlight = n } }

// sized is a chat request of n bytes.
func sized(n int) string {
	const open, shut = `{"messages":[{"role":"user","content":"`, `"}]}`
	return open + strings.Repeat("x", n-len(open)-len(shut)) + shut
}

// What finds no room goes on without memory, by length and chunked, and is
// never refused. When others have ended there is room again.
func TestNoRoom(t *testing.T) {
	hold, came := make(chan struct{}), make(chan struct{}, 1)
	var up script
	r := start(t, up.handler(func(w http.ResponseWriter, q *http.Request) {
		if q.Header.Get("Hold") != "" {
			came <- struct{}{}
			<-hold
		}
		ok(w, q)
	}), roomOf(8<<10))
	r.plan = block("notes")
	first := make(chan string)
	go func() {
		resp, _ := r.post(sized(6<<10), "Hold", "1")
		first <- resp.Header.Get("Hindsight-Status")
	}()
	<-came

	// One fails at once, one when it has been read in part, one was too large to
	// ever fit.
	for _, size := range []int{3 << 10, 60 << 10, 3 << 20} {
		body := sized(size)
		for _, chunked := range []bool{false, true} {
			var rd io.Reader = strings.NewReader(body)
			if chunked {
				rd = io.MultiReader(rd)
			}
			resp, got := r.do("POST", "/v1/chat/completions", rd, "Hindsight-User", "me")
			if resp.StatusCode != 200 || got != whole || resp.Header.Get("Hindsight-Status") != "skipped;reason=limit" {
				t.Errorf("%d bytes, chunked %v: %d %q %v", size, chunked, resp.StatusCode, got, resp.Header)
			}
			s := up.last(t)
			if string(s.body) != body || s.header.Get("Hindsight-User") != "" || (s.length < 0) != chunked {
				t.Errorf("%d bytes, chunked %v: upstream got %d bytes, length %d, %v", size, chunked, len(s.body), s.length, s.header)
			}
		}
	}
	if n := len(r.incoming); n != 1 {
		t.Errorf("memory was asked about %d requests", n)
	}
	if r.metric("hindsight_fail_open_total") != 6 {
		t.Errorf("%v counted", r.metric("hindsight_fail_open_total"))
	}
	close(hold)
	if st := <-first; st != "injected" {
		t.Errorf("the first is %q", st)
	}
	r.end()
	eventually(t, "nothing is held", func() bool { return r.metric("hindsight_held_bytes") == 0 })
	if resp, _ := r.post(sized(6 << 10)); resp.Header.Get("Hindsight-Status") != "injected" {
		t.Errorf("afterwards: %v", resp.Header)
	}
}

// A request without room isn't buffered: the upstream has its beginning before
// the client sends the rest.
func TestNoRoomStreams(t *testing.T) {
	got := make(chan int, 100)
	r := start(t, func(w http.ResponseWriter, q *http.Request) {
		buf := make([]byte, 64<<10)
		for {
			n, err := q.Body.Read(buf)
			got <- n
			if err != nil {
				break
			}
		}
		ok(w, q)
	}, roomOf(4<<10))
	pr, pw := io.Pipe()
	go func() {
		pw.Write(bytes.Repeat([]byte{'x'}, 20<<10))
		for sum := 0; sum < 20<<10; {
			sum += <-got
		}
		pw.Write([]byte("the end"))
		pw.Close()
	}()
	if resp, _ := r.do("POST", "/v1/chat/completions", pr); resp.Header.Get("Hindsight-Status") != "skipped;reason=limit" {
		t.Errorf("headers %v", resp.Header)
	}
}

// A copy of an answer that finds no room is given up; the client has it all.
func TestNoRoomForTheAnswer(t *testing.T) {
	long := "data: " + strings.Repeat("x", 6<<10) + "\n\n" + events
	r := start(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range strings.SplitAfterSeq(long, "\n\n") {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
		}
	}, roomOf(4<<10))
	r.plan = block("notes")
	resp, got := r.post(streamed)
	if got != long || resp.Header.Get("Hindsight-Status") != "injected" {
		t.Errorf("client got %d bytes of %d, %v", len(got), len(long), resp.Header)
	}
	if e := r.end(); e.end.Status != store.Truncated {
		t.Errorf("finished as %+v", e.end)
	}
	if r.metric("hindsight_fail_open_total") != 1 {
		t.Error("not counted")
	}
	eventually(t, "nothing is held", func() bool { return r.metric("hindsight_held_bytes") == 0 })
}

// An upstream that drops kept connections gets a request without room again,
// from its start.
func TestNoRoomStaleConnections(t *testing.T) {
	var requests atomic.Int32
	r := startAt(t, closing(t, &requests), roomOf(40<<10))
	for i := range 20 {
		if resp, body := r.post(sized(50 << 10)); resp.StatusCode != 200 || body != "ok" {
			t.Fatalf("request %d: %d %q", i, resp.StatusCode, body)
		}
	}
	if requests.Load() != 20 {
		t.Errorf("%d requests were answered", requests.Load())
	}
}

func TestNoRoomStillAsksForKeys(t *testing.T) {
	var up script
	r := start(t, up.handler(ok), roomOf(1<<10), func(c *proxyConfig, _ *proxyMemory) { c.RequireKey, c.APIKey = true, "upstream" })
	r.identify = func(in session.Incoming) *session.Turn {
		tn := turn(in)
		tn.Keyed = in.Header.Get("Authorization") == "Bearer hk"
		tn.Denied = !tn.Keyed
		return tn
	}
	if resp, _ := r.post(sized(2<<10), "Authorization", "Bearer other"); resp.StatusCode != 401 || len(up.all()) != 0 {
		t.Errorf("a stranger got %d", resp.StatusCode)
	}
	if resp, _ := r.post(sized(2<<10), "Authorization", "Bearer hk"); resp.StatusCode != 200 || up.last(t).header.Get("Authorization") != "Bearer upstream" {
		t.Errorf("a caller with a key: %d, upstream got %v", resp.StatusCode, up.last(t).header)
	}
}

// Whatever becomes of an exchange, its room is given back.
func TestRoomIsGivenBack(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, sized(20<<10))
	z.Close()
	late := make(chan struct{})
	for name, c := range map[string]struct {
		upstream http.HandlerFunc
		set      func(*rig)
		body     string
		header   []string
		status   string
	}{
		"answered":         {upstream: ok},
		"refused":          {upstream: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }},
		"broken off":       {upstream: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
		"too large":        {upstream: ok, body: sized(2 << 20)},
		"not JSON":         {upstream: ok, body: strings.Repeat("x", 5000)},
		"coded":            {upstream: ok, body: zipped.String(), header: []string{"Content-Encoding", "gzip"}, status: "none"},
		"coded, no room":   {upstream: ok, body: zipped.String() + strings.Repeat("\x00", 60<<10), header: []string{"Content-Encoding", "gzip"}, status: "skipped;reason=limit"},
		"panic in memory":  {upstream: ok, set: func(r *rig) { r.identify = func(session.Incoming) *session.Turn { panic("boom") } }},
		"panic at the end": {upstream: ok, set: func(r *rig) { r.finish = func() { panic("boom") } }},
		"memory off": {upstream: ok, set: func(r *rig) {
			r.identify = func(in session.Incoming) *session.Turn { t := turn(in); t.Off = "no_user"; return t }
		}},
		"late plan": {upstream: ok, set: func(r *rig) {
			r.plan = func(context.Context, inject.Conversation) inject.Plan { <-late; return inject.Plan{} }
			time.AfterFunc(100*time.Millisecond, func() { close(late) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, c.upstream, roomOf(80<<10), small, func(cfg *proxyConfig, _ *proxyMemory) { cfg.RecallDeadline = 50 * time.Millisecond })
			if c.set != nil {
				c.set(r)
			}
			body := c.body
			if body == "" {
				body = sized(4 << 10)
			}
			resp, _ := r.post(body, c.header...)
			if st := resp.Header.Get("Hindsight-Status"); c.status != "" && st != c.status {
				t.Errorf("status %q, want %q", st, c.status)
			}
			eventually(t, "nothing is held", func() bool { return r.metric("hindsight_held_bytes") == 0 })
		})
	}
	t.Run("client gone", func(t *testing.T) {
		came := make(chan struct{})
		r := start(t, func(_ http.ResponseWriter, q *http.Request) {
			io.Copy(io.Discard, q.Body)
			close(came)
			<-q.Context().Done()
		})
		ctx, leave := context.WithCancel(context.Background())
		go func() { <-came; leave() }()
		req, err := http.NewRequestWithContext(ctx, "POST", r.url+"/v1/chat/completions", strings.NewReader(sized(4<<10)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.http.Do(req); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		eventually(t, "nothing is held", func() bool {
			return r.metric("hindsight_held_bytes") == 0 && r.metric("hindsight_client_gone_total") == 1
		})
	})
}
