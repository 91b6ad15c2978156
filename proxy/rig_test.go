package proxy_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/inject"
	"hindsight/proxy"
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
	"hindsight/proxy/session"
	"hindsight/store"
)

// memory is a hand-written Tracker, Planner and Recorder. Function fields
// replace what it does by default: every request is a turn of one user, nothing
// is injected, and ends come out of the channel.
type memory struct {
	identify func(session.Incoming) *session.Turn
	plan     func(context.Context, inject.Conversation) inject.Plan
	finish   func()

	ends      chan ended
	mu        sync.Mutex
	events    []string
	incoming  []session.Incoming
	committed []inject.Plan
	withdrawn []string
	begun     []inject.Plan
}

type ended struct {
	turn   *session.Turn
	answer dialect.Answer
	end    session.End
}

func newMemory() *memory { return &memory{ends: make(chan ended, 4096)} }

func (m *memory) note(event string) {
	m.mu.Lock()
	m.events = append(m.events, event)
	m.mu.Unlock()
}

func (m *memory) happened() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.events...)
}

func (m *memory) Identify(_ context.Context, in session.Incoming) *session.Turn {
	in.Header = in.Header.Clone() // the server's again afterwards
	m.mu.Lock()
	m.incoming = append(m.incoming, in)
	m.mu.Unlock()
	if m.identify != nil {
		return m.identify(in)
	}
	return turn(in)
}

func turn(in session.Incoming) *session.Turn {
	t := &session.Turn{
		Owner: store.Owner{Tenant: "t", User: "u"}, Session: "s1", Exchange: "x1", Mode: session.On, Received: in.Received,
	}
	if in.Req != nil {
		for i, msg := range in.Req.Messages {
			if msg.Role == dialect.User {
				t.Places = append(t.Places, inject.Place{Message: i})
				t.Fresh = len(t.Places) - 1
			}
		}
	}
	return t
}

func (m *memory) Begin(_ *session.Turn, p inject.Plan) *store.Exchange {
	m.mu.Lock()
	m.begun = append(m.begun, p)
	m.mu.Unlock()
	m.note("begin")
	return &store.Exchange{ID: "x1"}
}

func (m *memory) Ended(*session.Turn) { m.note("ended") }

func (m *memory) Finish(t *session.Turn, a dialect.Answer, end session.End) *store.Exchange {
	if m.finish != nil {
		m.finish()
	}
	m.note("finish")
	a.Text, a.Reasoning = strings.Clone(a.Text), strings.Clone(a.Reasoning) // good until this returns
	m.ends <- ended{t, a, end}
	return &store.Exchange{ID: "x1", Status: end.Status}
}

func (m *memory) Recorded(*session.Turn) { m.note("recorded") }

func (m *memory) Plan(ctx context.Context, c inject.Conversation) inject.Plan {
	if m.plan != nil {
		return m.plan(ctx, c)
	}
	return inject.Plan{Status: inject.None}
}

func (m *memory) AtOnce(inject.Conversation, bool) (inject.Plan, bool) { return inject.Plan{}, false }

func (m *memory) Commit(p inject.Plan) {
	m.mu.Lock()
	m.committed = append(m.committed, p)
	m.mu.Unlock()
}

func (m *memory) Withdraw(_ store.Owner, session string) {
	m.mu.Lock()
	m.withdrawn = append(m.withdrawn, session)
	m.mu.Unlock()
}

// block is a plan that puts one block into the newest user message.
func block(text string) func(context.Context, inject.Conversation) inject.Plan {
	return func(_ context.Context, c inject.Conversation) inject.Plan {
		ref := store.Ref{ID: "m1", Revision: 1}
		return inject.Plan{
			Status: inject.Injected, New: []store.Ref{ref},
			Blocks: []inject.Block{{Message: c.Places[c.Fresh].Message, Text: text, Refs: []store.Ref{ref}, Fresh: true}},
		}
	}
}

type recorder struct{ m *memory }

func (r recorder) Begin(*store.Exchange)  { r.m.note("record begin") }
func (r recorder) Finish(*store.Exchange) { r.m.note("record finish") }

// rig is a proxy on a loopback listener in front of a scripted upstream.
type rig struct {
	*memory
	t      testing.TB
	server *proxy.Server
	addr   string
	url    string
	http   *http.Client
	reg    *prometheus.Registry
	stop   context.CancelFunc
	ran    chan error
}

type (
	proxyConfig = proxy.Config
	proxyMemory = proxy.Memory
	option      func(*proxyConfig, *proxyMemory)
)

func noMemory(_ *proxy.Config, m *proxy.Memory) { *m = proxy.Memory{} }

func start(t testing.TB, upstream http.HandlerFunc, opts ...option) *rig {
	t.Helper()
	up := httptest.NewServer(upstream)
	t.Cleanup(up.Close)
	return startAt(t, up.URL, opts...)
}

func startAt(t testing.TB, base string, opts ...option) *rig {
	t.Helper()
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory()
	cfg := proxy.Config{
		Upstream: u, Routes: []proxy.Route{{Suffix: "/chat/completions", Dialect: chat.Dialect{}}},
		RecallDeadline: 5 * time.Second, WatchAfter: 5 * time.Millisecond,
	}
	mem := proxy.Memory{Tracker: m, Planner: m, Recorder: recorder{m}}
	for _, o := range opts {
		o(&cfg, &mem)
	}
	r := &rig{memory: m, t: t, reg: prometheus.NewRegistry(), ran: make(chan error, 1)}
	r.server, err = proxy.New(cfg, mem, nil, r.reg)
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r.addr = ln.Addr().String()
	r.url = "http://" + r.addr
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ran <- r.server.Run(ctx, ln) }()
	tr := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64}
	r.http = &http.Client{Transport: tr}
	t.Cleanup(func() {
		tr.CloseIdleConnections()
		stop()
		r.server.Close()
		select {
		case <-r.ran:
		case <-time.After(10 * time.Second):
			t.Error("the server didn't stop")
		}
	})
	return r
}

const hello = `{"model":"m","messages":[{"role":"user","content":"hello"}]}`

// post sends a chat completion and returns the answer, read whole.
func (r *rig) post(body string, header ...string) (*http.Response, string) {
	r.t.Helper()
	return r.do("POST", "/v1/chat/completions", strings.NewReader(body), header...)
}

func (r *rig) do(method, path string, body io.Reader, header ...string) (*http.Response, string) {
	r.t.Helper()
	resp := r.open(method, path, body, header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatalf("read the answer: %v", err)
	}
	return resp, string(b)
}

func (r *rig) open(method, path string, body io.Reader, header ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequest(method, r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp
}

// end waits for the next finished exchange.
func (r *rig) end() ended {
	r.t.Helper()
	select {
	case e := <-r.ends:
		return e
	case <-time.After(5 * time.Second):
		r.t.Fatal("no exchange was finished")
		panic("unreachable")
	}
}

// raw opens a plain connection to the proxy.
func (r *rig) raw() net.Conn {
	r.t.Helper()
	c, err := net.Dial("tcp", r.addr)
	if err != nil {
		r.t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(10 * time.Second))
	r.t.Cleanup(func() { c.Close() })
	return c
}

func (r *rig) metric(name string) (sum float64) {
	r.t.Helper()
	families, err := r.reg.Gather()
	if err != nil {
		r.t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			for _, m := range f.Metric {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

// eventually polls a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatal("never: " + what)
}

// seen is a request as the upstream got it.
type seen struct {
	method, uri string
	header      http.Header
	host        string
	body        []byte
	length      int64
}

// script answers from a function and keeps what it saw.
type script struct {
	mu   sync.Mutex
	seen []seen
}

func (s *script) handler(answer http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var b bytes.Buffer
		b.ReadFrom(r.Body)
		s.mu.Lock()
		s.seen = append(s.seen, seen{r.Method, r.RequestURI, r.Header.Clone(), r.Host, b.Bytes(), r.ContentLength})
		s.mu.Unlock()
		answer(w, r)
	}
}

func (s *script) all() []seen {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]seen(nil), s.seen...)
}

func (s *script) last(t testing.TB) seen {
	t.Helper()
	all := s.all()
	if len(all) == 0 {
		t.Fatal("the upstream saw nothing")
	}
	return all[len(all)-1]
}

const whole = `{"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":3}}}`

func ok(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	io.WriteString(w, whole)
}
