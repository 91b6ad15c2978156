package admin

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hindsight/proxy/session"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

// rig is an API over a real store.
type rig struct {
	t     *testing.T
	store *badgerdb.Store
	http.Handler
}

// closeFunc closes sessions.
type closeFunc func(ctx context.Context, session string) (store.Job, error)

func (f closeFunc) Close(ctx context.Context, session string) (store.Job, error) {
	return f(ctx, session)
}

func (closeFunc) Settle(context.Context) error { return nil }

// names names sessions as the proxy would; a line that begins with "> " is a
// document's.
type names struct{ store *badgerdb.Store }

func (n names) SessionID(o store.Owner, external string) (string, error) {
	key, err := n.store.Key()
	return session.ExplicitID(key, o, external), err
}

func (n names) PlaceKey(o store.Owner, parts ...string) (store.Hash, error) {
	key, err := n.store.Key()
	return session.ReportedKey(key, o, parts...), err
}

func (names) Words(message string) (words, thirdParty string) {
	if doc, ok := strings.CutPrefix(message, "> "); ok {
		thirdParty, words, _ = strings.Cut(doc, "\n")
	} else {
		words = message
	}
	return words, thirdParty
}

// openStore opens a store in a directory of its own.
func openStore(t *testing.T) *badgerdb.Store {
	t.Helper()
	st, err := badgerdb.New(badgerdb.Config{Dir: t.TempDir(), Linger: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- st.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	if err := st.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	return st
}

// newRig serves an API over a new store. cfg may say what differs.
func newRig(t *testing.T, cfg Config) *rig {
	t.Helper()
	st := openStore(t)
	cfg.Store, cfg.Token = st, "0123456789abcdef"
	if cfg.Closer == nil {
		cfg.Closer = closeFunc(func(ctx context.Context, session string) (store.Job, error) {
			s, err := st.FindSession(ctx, session)
			if err != nil {
				return store.Job{}, err
			}
			job, _, err := st.Enqueue(ctx, s.Owner, s.ID, store.TriggerExplicit)
			return job, err
		})
	}
	if cfg.Naming == nil {
		cfg.Naming = names{st}
	}
	if cfg.Ready == nil {
		cfg.Ready = steady(true, "on", "")
	}
	return &rig{t: t, store: st, Handler: New(cfg).Handler()}
}

// alone is the configuration of a person alone at a machine.
func alone() Config {
	return Config{Tenant: "default", User: func(context.Context) string { return "local" }}
}

// do makes a call and returns its status and its decoded answer.
func (r *rig) do(method, path, body string) (int, map[string]any) {
	r.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	req := httptest.NewRequest(method, path, in)
	req.Host = "localhost:8081"
	req.Header.Set("Authorization", "Bearer 0123456789abcdef")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	r.ServeHTTP(w, req)
	var out map[string]any
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		r.t.Fatalf("%s %s: status %d, answer %q: %v", method, path, w.Code, w.Body, err)
	}
	if w.Header().Get("Content-Type") == "application/problem+json" {
		for _, field := range []string{"type", "title", "status", "detail", "next"} {
			if out[field] == nil || out[field] == "" {
				r.t.Errorf("%s %s: the problem has no %s: %v", method, path, field, out)
			}
		}
	}
	return w.Code, out
}

// must is do for a call that has to answer with a status.
func (r *rig) must(want int, method, path, body string) map[string]any {
	r.t.Helper()
	code, out := r.do(method, path, body)
	if code != want {
		r.t.Fatalf("%s %s %s: status %d, want %d: %v", method, path, body, code, want, out)
	}
	return out
}

// talk journals one exchange of a session and returns its id.
func (r *rig) talk(o store.Owner, session, external, words string) string {
	r.t.Helper()
	x := &store.Exchange{
		ID: "x" + session + words[:1], Session: session, Owner: o, Status: store.Complete, HTTP: http.StatusOK,
		Started: time.Now(), Finished: time.Now(), Dialect: "chat", Model: "m", Turn: 1,
		Events: []store.Event{
			{Kind: store.UserInput, Turn: 1, Text: words, ThirdParty: "a document"},
			{Kind: store.FinalOutput, Turn: 1, Text: "An answer."},
		},
		Tokens: 10, Injected: []store.Ref{{ID: "m1", Revision: 1}},
		SessionInfo: store.SessionInfo{ExternalID: external},
	}
	r.store.Begin(x)
	r.store.Finish(x)
	r.store.SaveWhy(store.Why{Exchange: x.ID, Session: session, Owner: o, Time: x.Started, Status: "injected", Query: words})
	if err := r.store.Flush(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	return x.ID
}

// list is a list in an answer.
func list(out map[string]any, name string) []map[string]any {
	items, _ := out[name].([]any)
	all := make([]map[string]any, len(items))
	for i := range items {
		all[i], _ = items[i].(map[string]any)
	}
	return all
}
