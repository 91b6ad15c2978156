package session

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
	"hindsight/proxy/session/clients"
	"hindsight/store"
)

// fakeStore keeps what the journal would have written.
type fakeStore struct {
	mu        sync.Mutex
	off       error
	key       store.IdentityKey
	aliases   map[string]string
	facts     map[string]string
	sessions  map[string]store.Session
	places    map[string][]store.Place
	anchors   map[store.Owner]map[store.Hash][]store.Anchor
	exchanges map[string]store.Exchange
	order     []string // ids of finished exchanges
	asked     int      // anchors' keys, so far
}

func newFakeStore() *fakeStore {
	return &fakeStore{
		key: store.IdentityKey{1, 2, 3}, aliases: map[string]string{}, facts: map[string]string{},
		sessions: map[string]store.Session{}, places: map[string][]store.Place{},
		anchors: map[store.Owner]map[store.Hash][]store.Anchor{}, exchanges: map[string]store.Exchange{},
	}
}

func (s *fakeStore) Key() (store.IdentityKey, error) { return s.key, s.off }

func (s *fakeStore) TenantAlias(_ context.Context, tenant string) (string, error) {
	if to, ok := s.aliases[tenant]; ok {
		return to, nil
	}
	return tenant, nil
}

func (s *fakeStore) Fact(ctx context.Context, name string) (string, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.facts[name]
	return v, ok, ctx.Err()
}

func (s *fakeStore) SetFact(_ context.Context, name, value string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.facts[name] = value
	return nil
}

func (s *fakeStore) OpenSessions(_ context.Context, o store.Owner) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, x := range s.sessions {
		if x.Owner.Tenant == o.Tenant && x.Parent == "" {
			n++
		}
	}
	return n, nil
}

func (s *fakeStore) Anchors(ctx context.Context, o store.Owner, keys []store.Hash) ([][]store.Anchor, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.Agent = ""
	s.asked += len(keys)
	out := make([][]store.Anchor, len(keys))
	for i, key := range keys {
		out[i] = slices.Clone(s.anchors[o][key])
	}
	return out, ctx.Err()
}

func (s *fakeStore) Session(ctx context.Context, o store.Owner, id string) (store.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.sessions[id]
	if err := ctx.Err(); err != nil {
		return x, err
	}
	if !ok || x.Owner.Tenant != o.Tenant || x.Owner.User != o.User {
		return store.Session{}, store.ErrNotFound
	}
	return x, nil
}

func (s *fakeStore) Places(ctx context.Context, _ store.Owner, session string) ([]store.Place, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places[session], ctx.Err()
}

// journal applies a record as the store would.
func (s *fakeStore) journal(x *store.Exchange) {
	if x == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rec := s.sessions[x.Session]
	rec.ID, rec.Owner, rec.State = x.Session, x.Owner, store.Open
	rec.ExternalID, rec.Parent = x.SessionInfo.ExternalID, x.SessionInfo.Parent
	rec.Turns, rec.LastSeen, rec.Dialect, rec.Cred = max(rec.Turns, x.Turn), x.Finished, x.Dialect, x.Cred
	s.sessions[x.Session] = rec
	o := x.Owner
	o.Agent = ""
	if s.anchors[o] == nil {
		s.anchors[o] = map[store.Hash][]store.Anchor{}
	}
	for _, a := range x.Anchors {
		s.anchors[o][a.Key] = append([]store.Anchor{a}, s.anchors[o][a.Key]...)
	}
	for _, p := range x.Places {
		if !slices.Contains(s.places[x.Session], p) {
			s.places[x.Session] = append(s.places[x.Session], p)
		}
	}
	if x.Status != "" && !slices.Contains(s.order, x.ID) {
		s.order = append(s.order, x.ID)
	}
	s.exchanges[x.ID] = *x
}

// events lists kinds and texts of a session's events, in order.
func (s *fakeStore) events(session string) []string {
	var out []string
	for _, id := range s.order {
		if x := s.exchanges[id]; x.Session == session {
			for _, e := range x.Events {
				out = append(out, fmt.Sprintf("%d %s: %s", e.Turn, e.Kind, e.Text))
			}
		}
	}
	return out
}

// world is a tracker over a fake store, with a clock that a test moves.
type world struct {
	t  *testing.T
	st *fakeStore
	k  *Tracker
	mu sync.Mutex
	at time.Time
}

func newWorld(t *testing.T, cfg Config) *world {
	w := &world{t: t, st: newFakeStore(), at: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)}
	w.start(cfg)
	return w
}

// acme is the usual configuration of a test: one tenant, everybody named.
var acme = Config{Tenant: "acme", TrustHeaders: true}

func (w *world) start(cfg Config) {
	w.t.Helper()
	cfg.Now = w.now
	rules, err := clients.New(clients.Default(), clients.WithStrip(inject.Strip))
	if err != nil {
		w.t.Fatal(err)
	}
	w.k, err = New(cfg, w.st, rules, nil, nil)
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.at
}

func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.at = w.at.Add(d)
}

// m is a message of a request.
type m map[string]any

func user(text string) m      { return m{"role": "user", "content": text} }
func system(text string) m    { return m{"role": "system", "content": text} }
func assistant(text string) m { return m{"role": "assistant", "content": text} }
func tool(id, text string) m  { return m{"role": "tool", "tool_call_id": id, "content": text} }
func calling(id, name string) m {
	return m{"role": "assistant", "content": nil, "tool_calls": []m{{
		"id": id, "type": "function", "function": m{"name": name, "arguments": "{}"},
	}}}
}

// incoming scans a chat request; extra is merged into its body.
func (w *world) incoming(h http.Header, extra m, messages ...m) Incoming {
	w.t.Helper()
	body := m{"model": "fake-1", "messages": messages}
	for k, v := range extra {
		body[k] = v
	}
	raw, err := json.Marshal(body)
	if err != nil {
		w.t.Fatal(err)
	}
	req, err := chat.Dialect{}.Scan(raw)
	if err != nil {
		w.t.Fatal(err)
	}
	if h == nil {
		h = http.Header{}
	}
	return Incoming{Header: h, Path: "/v1/chat/completions", Dialect: "chat", Req: req}
}

func (w *world) identify(in Incoming) *Turn { return w.k.Identify(context.Background(), in) }

// answer ends a turn with a whole 2xx answer, as the proxy does.
func (w *world) answer(t *Turn, a dialect.Answer) {
	w.pass(time.Second)
	w.st.journal(w.k.Begin(t, inject.Plan{}))
	w.k.Ended(t)
	a.Whole = true
	w.st.journal(w.k.Finish(t, a, End{Status: store.Complete, HTTP: 200}))
	w.k.Recorded(t)
}

// fail ends a turn with an upstream's error.
func (w *world) fail(t *Turn, status int) {
	w.pass(time.Second)
	w.k.Ended(t)
	if x := w.k.Finish(t, dialect.Answer{}, End{Status: store.Errored, HTTP: status}); x != nil {
		w.t.Errorf("a failed exchange is recorded: %+v", x)
	}
	w.k.Recorded(t)
}

// ask sends a request that is answered with text, and returns the turn.
func (w *world) ask(h http.Header, text string, messages ...m) *Turn {
	w.t.Helper()
	t := w.identify(w.incoming(h, nil, messages...))
	w.answer(t, dialect.Answer{Text: text})
	return t
}

// talk is a client that keeps its history.
type talk struct {
	w       *world
	h       http.Header
	extra   m
	history []m
	turns   []*Turn
}

func (c *talk) say(words, answer string) *Turn {
	c.w.t.Helper()
	c.history = append(c.history, user(words))
	t := c.w.identify(c.w.incoming(c.h, c.extra, c.history...))
	c.w.answer(t, dialect.Answer{Text: answer})
	c.history = append(c.history, assistant(answer))
	c.turns = append(c.turns, t)
	return t
}

func headers(kv ...string) http.Header {
	h := http.Header{}
	for i := 0; i+1 < len(kv); i += 2 {
		h.Add(kv[i], kv[i+1])
	}
	return h
}

// by is a request's headers with a credential and a user.
func by(user string, more ...string) http.Header {
	return headers(append([]string{"Authorization", "Bearer sk-one", "Hindsight-User", user}, more...)...)
}

func wantSame(t *testing.T, what string, got ...string) {
	t.Helper()
	for _, g := range got[1:] {
		if g != got[0] || g == "" {
			t.Errorf("%s: %q, want all equal", what, got)
			return
		}
	}
}

func wantDistinct(t *testing.T, what string, got ...string) {
	t.Helper()
	seen := map[string]bool{}
	for _, g := range got {
		if g == "" || seen[g] {
			t.Errorf("%s: %q, want all different", what, got)
			return
		}
		seen[g] = true
	}
}

var errOff = &store.Off{Reason: "locked"}
