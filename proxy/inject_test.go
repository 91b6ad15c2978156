package proxy_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"hindsight/inject"
	"hindsight/proxy"
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
	"hindsight/proxy/session"
	"hindsight/store"
)

func TestInjected(t *testing.T) {
	var up script
	r := start(t, up.handler(ok))
	r.plan = block("<notes>")
	resp, _ := r.post(hello)
	if got, want := string(up.last(t).body), strings.Replace(hello, `"hello"`, `"<notes>\nhello"`, 1); got != want {
		t.Errorf("upstream got %s", got)
	}
	if h := resp.Header; h.Get("Hindsight-Status") != "injected" || h.Get("Hindsight-Memories") != "m1" {
		t.Errorf("headers %v", h)
	}
	r.end()
	if len(r.committed) != 1 || len(r.begun) != 1 || len(r.begun[0].Blocks) != 1 {
		t.Errorf("committed %d plans, begun with %v", len(r.committed), r.begun)
	}
	eventually(t, "recorded", func() bool {
		return strings.Join(r.happened(), ",") == "begin,ended,finish,record finish,recorded"
	})
}

// The journal hears of a beginning where the end doesn't come with it.
func TestBeginsInTheJournal(t *testing.T) {
	whole := `{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}`
	for name, c := range map[string]struct {
		step   bool // the answer's second half waits until the journal knows of it
		stream bool
	}{"whole": {}, "in two": {step: true}, "stream": {step: true, stream: true}} {
		t.Run(name, func(t *testing.T) {
			known := make(chan struct{})
			r := start(t, func(w http.ResponseWriter, _ *http.Request) {
				said := whole
				if c.stream {
					said = events
					w.Header().Set("Content-Type", "text/event-stream")
				} else {
					w.Header().Set("Content-Length", strconv.Itoa(len(said)))
				}
				_, _ = io.WriteString(w, said[:20])
				if c.step {
					w.(http.Flusher).Flush()
					<-known
				}
				_, _ = io.WriteString(w, said[20:])
			})
			begins := func() int { return strings.Count(strings.Join(r.happened(), ","), "record begin") }
			if c.step {
				go func() {
					defer close(known)
					for range 1000 {
						if begins() > 0 {
							return
						}
						time.Sleep(5 * time.Millisecond)
					}
				}()
			}
			r.post(hello)
			r.end()
			if got, want := begins(), map[bool]int{true: 1}[c.step]; got != want {
				t.Errorf("the journal heard of %d beginnings, want %d: %v", got, want, r.happened())
			}
		})
	}
}

func TestNothingPlanned(t *testing.T) {
	for _, c := range []struct {
		name   string
		turn   func(*session.Turn)
		plan   inject.Plan
		status string
	}{
		{"off", func(t *session.Turn) { t.Off, t.Session = "no_user", "" }, inject.Plan{}, "off;reason=no_user"},
		{"write", func(t *session.Turn) { t.Mode = session.Write }, inject.Plan{}, "off"},
		{"none", func(*session.Turn) {}, inject.Plan{Status: inject.None, Degraded: "words"}, "none;degraded=words"},
		{"skipped", func(*session.Turn) {}, inject.Plan{Status: inject.Skipped, Reason: "tool_turn"}, "skipped;reason=tool_turn"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var up script
			r := start(t, up.handler(ok))
			r.identify = func(in session.Incoming) *session.Turn {
				tn := turn(in)
				c.turn(tn)
				return tn
			}
			r.plan = func(context.Context, inject.Conversation) inject.Plan { return c.plan }
			resp, _ := r.post(hello)
			if got := resp.Header.Get("Hindsight-Status"); got != c.status {
				t.Errorf("status %q, want %q", got, c.status)
			}
			if got := string(up.last(t).body); got != hello {
				t.Errorf("upstream got %s", got)
			}
			r.end()
		})
	}
	t.Run("no memory at all", func(t *testing.T) {
		r := start(t, ok, noMemory)
		if resp, got := r.post(hello); resp.Header.Get("Hindsight-Status") != "off" || got != whole {
			t.Errorf("status %q", resp.Header.Get("Hindsight-Status"))
		}
	})
	t.Run("other routes say nothing", func(t *testing.T) {
		r := start(t, ok)
		resp, _ := r.do("GET", "/v1/chat/completions", nil)
		for k := range resp.Header {
			if strings.HasPrefix(k, "Hindsight") {
				t.Errorf("header %s", k)
			}
		}
	})
}

// Whatever breaks in memory, the client's bytes go upstream.
func TestFailOpen(t *testing.T) {
	late := make(chan struct{})
	for _, c := range []struct {
		name, body, reason string
		set                func(*rig)
		header             []string
		finished           bool
	}{
		{name: "slow plan", reason: "deadline", finished: true, set: func(r *rig) {
			r.plan = func(_ context.Context, c inject.Conversation) inject.Plan { <-late; return block("late")(nil, c) }
		}},
		{name: "panic in plan", reason: "store", finished: true, set: func(r *rig) {
			r.plan = func(context.Context, inject.Conversation) inject.Plan { panic("boom") }
		}},
		{name: "panic in identify", reason: "store", set: func(r *rig) {
			r.identify = func(session.Incoming) *session.Turn { panic("boom") }
		}},
		{name: "no such message", reason: "parse", finished: true, set: func(r *rig) {
			r.plan = func(context.Context, inject.Conversation) inject.Plan {
				return inject.Plan{Status: inject.Injected, Blocks: []inject.Block{{Message: 9, Text: "x"}}}
			}
		}},
		{name: "not JSON", body: "\x00 not json", reason: "parse", finished: true},
		{name: "signed", reason: "signed", header: []string{"Authorization", "AWS4-HMAC-SHA256 x"}},
		{name: "digest", reason: "signed", header: []string{"Content-Digest", "sha-256=:x:"}},
		{name: "encoding", reason: "encoding", header: []string{"Content-Encoding", "compress"}},
		{name: "not gzip", reason: "encoding", header: []string{"Content-Encoding", "gzip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var up script
			r := start(t, up.handler(ok), func(cfg *proxyConfig, _ *proxyMemory) { cfg.RecallDeadline = 30 * time.Millisecond })
			r.plan = block("notes")
			if c.set != nil {
				c.set(r)
			}
			body := c.body
			if body == "" {
				body = hello
			}
			resp, got := r.post(body, c.header...)
			if got != whole || string(up.last(t).body) != body {
				t.Errorf("client got %q, upstream %q", got, up.last(t).body)
			}
			if want := "skipped;reason=" + c.reason; resp.Header.Get("Hindsight-Status") != want {
				t.Errorf("status %q, want %q", resp.Header.Get("Hindsight-Status"), want)
			}
			if r.metric("hindsight_fail_open_total") == 0 {
				t.Error("not counted")
			}
			if c.name == "slow plan" {
				close(late)
			}
			if c.finished {
				if e := r.end(); e.end.Status != store.Complete {
					t.Errorf("finished as %+v", e.end)
				}
			}
			if len(r.committed) > 0 {
				t.Errorf("committed %v", r.committed)
			}
		})
	}
}

// stuck is a tracker whose store hangs: all it can do is end with its context.
type stuck struct{ *memory }

func (s stuck) Identify(ctx context.Context, in session.Incoming) *session.Turn {
	<-ctx.Done()
	t := s.memory.Identify(ctx, in)
	t.Off = "deadline"
	return t
}

// A store that hangs costs a request no more than memory may, however long its
// body is.
func TestAStoreThatHangs(t *testing.T) {
	for _, body := range []string{hello, sized(600 << 10)} {
		var up script
		r := start(t, up.handler(ok), func(cfg *proxyConfig, m *proxyMemory) {
			cfg.RecallDeadline = 30 * time.Millisecond
			m.Tracker = stuck{m.Tracker.(*memory)}
		})
		began := time.Now()
		if _, got := r.post(body); got != whole || string(up.last(t).body) != body {
			t.Errorf("client got %q", got)
		}
		if took := time.Since(began); took < 30*time.Millisecond || took > 3*time.Second {
			t.Errorf("a body of %d bytes took %s", len(body), took)
		}
		if e := r.end(); e.turn.Off != "deadline" {
			t.Errorf("finished as %+v", e)
		}
	}
}

// A turn that is found too late for the plan is recorded all the same: reading a
// long body takes its time.
func TestLateTurnIsRecorded(t *testing.T) {
	found := make(chan struct{})
	r := start(t, ok, func(cfg *proxyConfig, _ *proxyMemory) { cfg.RecallDeadline = 10 * time.Millisecond })
	r.identify = func(in session.Incoming) *session.Turn { <-found; return turn(in) }
	resp, _ := r.post(sized(600 << 10))
	if resp.Header.Get("Hindsight-Session") != "" {
		t.Error("a session was named before it was found")
	}
	close(found)
	if e := r.end(); e.end.Status != store.Complete || e.answer.Text != "hi" {
		t.Errorf("finished as %+v", e)
	}
	if len(r.begun) != 1 {
		t.Errorf("begun %d times", len(r.begun))
	}
}

func TestEncodedRequests(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, hello)
	z.Close()
	zs, _ := zstd.NewWriter(nil)
	for coding, body := range map[string]string{"gzip": zipped.String(), "zstd": string(zs.EncodeAll([]byte(hello), nil))} {
		var up script
		r := start(t, up.handler(ok))
		r.plan = block("n")
		resp, _ := r.post(body, "Content-Encoding", coding)
		s := up.last(t)
		if want := strings.Replace(hello, `"hello"`, `"n\nhello"`, 1); string(s.body) != want || s.header.Get("Content-Encoding") != "" {
			t.Errorf("%s: upstream got %q %v", coding, s.body, s.header)
		}
		if resp.Header.Get("Hindsight-Status") != "injected" {
			t.Errorf("%s: status %q", coding, resp.Header.Get("Hindsight-Status"))
		}
	}
	// A bomb is not unpacked.
	var bomb bytes.Buffer
	z = gzip.NewWriter(&bomb)
	z.Write(bytes.Repeat([]byte{' '}, 4<<20))
	z.Close()
	var up script
	r := start(t, up.handler(ok), func(c *proxyConfig, _ *proxyMemory) { c.MaxBody = 1 << 20 })
	resp, _ := r.post(bomb.String(), "Content-Encoding", "gzip")
	if up.last(t).header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Hindsight-Status") != "skipped;reason=encoding" {
		t.Errorf("a bomb: %v %q", up.last(t).header, resp.Header.Get("Hindsight-Status"))
	}
}

// strict refuses what holds the block.
func strict(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		if bytes.Contains(b, []byte("notes")) {
			w.WriteHeader(code)
			io.WriteString(w, body)
			return
		}
		if bytes.Contains(b, []byte("bad")) {
			w.WriteHeader(422)
			io.WriteString(w, "second")
			return
		}
		ok(w, q)
	}
}

func TestCleanRetry(t *testing.T) {
	for _, code := range []int{400, 413, 422} {
		r := start(t, strict(code, `{"error":{"message":"no"}}`))
		r.plan = block("notes")
		resp, got := r.post(hello)
		if resp.StatusCode != 200 || got != whole || resp.Header.Get("Hindsight-Status") != "skipped;reason=upstream_refused" || resp.Header.Get("Hindsight-Memories") != "" {
			t.Errorf("%d: client got %d %q %v", code, resp.StatusCode, got, resp.Header)
		}
		if e := r.end(); e.end.Status != store.Complete || len(r.begun) != 1 || len(r.begun[0].Blocks) != 0 {
			t.Errorf("%d: finished %+v, begun with %v", code, e.end, r.begun)
		}
		if fmt.Sprint(r.withdrawn) != "[s1]" {
			t.Errorf("%d: withdrawn %v", code, r.withdrawn)
		}
	}
}

func TestCleanRetryNever(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	for _, c := range []struct {
		name   string
		code   int
		answer string
		header []string
		req    func(*dialect.Request)
	}{
		{name: "another status", code: 409, answer: "x"},
		{name: "idempotency key", code: 400, answer: "x", header: []string{"Idempotency-Key", "k"}},
		{name: "filtered", code: 400, answer: `{"error":{"code":"content_filter"}}`},
		{name: "policy", code: 400, answer: `{"error":{"code":null,"type":"content_policy_violation"}}`},
		{name: "key", code: 400, answer: `{"error":{"code":"invalid_api_key"}} `},
		{name: "model", code: 400, answer: `{"code":"model_not_found"}`},
		{name: "long answer", code: 400, answer: long, header: []string{"Idempotency-Key", "k"}},
		{name: "background", code: 400, answer: "x", req: func(q *dialect.Request) { q.Background = true }},
		{name: "kept", code: 400, answer: "x", req: func(q *dialect.Request) { q.Store, q.Conversation = true, "c" }},
		{name: "kept, answered", code: 400, answer: "x", req: func(q *dialect.Request) { q.Store, q.PreviousResponseID = true, "p" }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var up script
			r := start(t, up.handler(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(c.code)
				io.WriteString(w, c.answer)
			}), func(cfg *proxyConfig, _ *proxyMemory) {
				cfg.Routes = []proxy.Route{{Suffix: "/chat/completions", Dialect: seeing{req: c.req}}}
			})
			r.plan = block("notes")
			resp, got := r.post(hello, c.header...)
			if resp.StatusCode != c.code || got != c.answer || len(up.all()) != 1 {
				t.Errorf("got %d %.60q after %d requests", resp.StatusCode, got, len(up.all()))
			}
			if e := r.end(); e.end.Status != store.Errored {
				t.Errorf("finished as %+v", e.end)
			}
		})
	}
}

// seeing is a dialect whose scanner sees more.
type seeing struct {
	chat.Dialect
	req func(*dialect.Request)
}

func (d seeing) Scan(body []byte) (*dialect.Request, error) {
	q, err := d.Dialect.Scan(body)
	if err == nil && d.req != nil {
		d.req(q)
	}
	return q, err
}

// A refusal that isn't the block's fault switches the retry off for ten more.
func TestCleanRetryBackoff(t *testing.T) {
	var up script
	r := start(t, up.handler(func(w http.ResponseWriter, q *http.Request) {
		w.WriteHeader(422)
		io.WriteString(w, "second")
	}))
	r.plan = block("notes")
	for i := range 13 {
		before := len(up.all())
		resp, got := r.post(hello)
		if resp.StatusCode != 422 || got != "second" {
			t.Fatalf("client got %d %q", resp.StatusCode, got)
		}
		want := 1
		if i == 0 || i == 11 {
			want = 2
		}
		if n := len(up.all()) - before; n != want {
			t.Errorf("request %d went up %d times, want %d", i, n, want)
		}
	}
	if len(r.withdrawn) != 0 {
		t.Errorf("withdrawn %v", r.withdrawn)
	}
}

func TestKeys(t *testing.T) {
	var up script
	r := start(t, up.handler(ok), func(c *proxyConfig, _ *proxyMemory) { c.RequireKey, c.APIKey = true, "upstream" })
	r.identify = func(in session.Incoming) *session.Turn {
		tn := turn(in)
		known := in.Header.Get("Authorization") == "Bearer hk" || in.Header.Get("X-Api-Key") == "hk"
		tn.Keyed, tn.Denied = known, !known
		return tn
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		if resp, _ := r.do("POST", path, strings.NewReader(hello), "Authorization", "Bearer other"); resp.StatusCode != 401 {
			t.Errorf("%s: a stranger got %d", path, resp.StatusCode)
		}
		if len(up.all()) != 0 {
			t.Fatal("a stranger's request went up")
		}
	}
	for _, path := range []string{"/v1/chat/completions", "/v1/embeddings"} {
		r.do("POST", path, strings.NewReader(hello), "Authorization", "Bearer hk")
		if got := up.last(t).header.Get("Authorization"); got != "Bearer upstream" {
			t.Errorf("%s: upstream got %q", path, got)
		}
		r.do("POST", path, strings.NewReader(hello), "X-Api-Key", "hk")
		if h := up.last(t).header; h.Get("X-Api-Key") != "upstream" || h.Get("Authorization") != "" {
			t.Errorf("%s: upstream got %v", path, h)
		}
	}
}
