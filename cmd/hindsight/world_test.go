package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"hindsight/internal/fakellm"
	"hindsight/store"
)

// world is the whole product in front of a scripted model: a real listener, a
// real Badger directory, everything on that serve has on.
type world struct {
	t     testing.TB
	model *fakellm.Server
	// answer, where set, answers instead of the model; false passes on to it.
	answer func(w http.ResponseWriter, r *http.Request, body []byte) bool
	// adjust, where set, changes what the environment makes of the configuration.
	adjust func(*Config)
	env    map[string]string
	st     *stack
	stop   func()

	mu  sync.Mutex
	got []arrived
}

// arrived is a request as the upstream got it.
type arrived struct {
	header http.Header
	path   string
	body   []byte
}

const worldToken = "the-token-of-the-tests"

// newWorld starts the product with extra environment ("NAME=value").
func newWorld(t testing.TB, env ...string) *world {
	t.Helper()
	return newWorldOf(t, func(w *world) {
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			w.env[name] = value
		}
	})
}

// newWorldOf starts the product after prepare has changed what it starts with.
func newWorldOf(t testing.TB, prepare func(*world)) *world {
	t.Helper()
	w := &world{t: t, model: fakellm.New(fakellm.Config{}), env: map[string]string{
		"HINDSIGHT_DATA_DIR": t.TempDir(), "HINDSIGHT_LISTEN": "127.0.0.1:0", "HINDSIGHT_ADMIN_LISTEN": "127.0.0.1:0",
		"HINDSIGHT_ADMIN_TOKEN": worldToken, "HINDSIGHT_LOG_LEVEL": "error", "HINDSIGHT_REFLECT_MODEL": fakellm.Model,
		"LLM_API_KEY": "sk-reflection", "HINDSIGHT_RECALL_DEADLINE": "5s", "HINDSIGHT_EMBEDDER": "none",
	}}
	up := httptest.NewServer(http.HandlerFunc(w.upstream))
	t.Cleanup(up.Close)
	w.env["LLM_API_BASE"] = up.URL + "/v1"
	prepare(w)
	w.start()
	t.Cleanup(func() { w.stop() })
	return w
}

// start starts the product; it waits until memory is on unless a test says
// otherwise by MEMORY=off in its environment.
func (w *world) start() {
	w.t.Helper()
	cfg, err := load(settings{}, setting{}, environ{get: func(n string) string { return w.env[n] }, pid: 2, home: w.env["HINDSIGHT_DATA_DIR"]}, true)
	if err != nil {
		w.t.Fatal(err)
	}
	if w.adjust != nil {
		w.adjust(&cfg)
	}
	ctx, cancel := context.WithCancel(context.Background())
	st, err := startStack(ctx, cfg)
	if err != nil {
		cancel()
		w.t.Fatal(err)
	}
	var once sync.Once
	w.st, w.stop = st, func() {
		once.Do(func() {
			cancel()
			if err := st.wait(); err != nil {
				w.t.Errorf("stop: %v", err)
			}
		})
	}
	want := "on"
	if v := w.env["MEMORY"]; v != "" {
		want = v
	}
	w.until("memory is "+want, func() bool {
		var v struct{ Memory string }
		w.decode(w.admin(http.MethodGet, "/readyz", ""), &v)
		return v.Memory == want
	})
}

// restart stops it and starts it again on the same directory.
func (w *world) restart() {
	w.t.Helper()
	w.stop()
	w.start()
}

func (w *world) upstream(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	if !bytes.Contains(body, []byte("hindsight_memories")) && !bytes.Contains(body, []byte("hindsight_consolidation")) {
		w.mu.Lock()
		w.got = append(w.got, arrived{header: r.Header.Clone(), path: r.URL.RequestURI(), body: body})
		w.mu.Unlock()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	if w.answer == nil || !w.answer(rw, r, body) {
		w.model.ServeHTTP(rw, r)
	}
}

// seen is every request that reached the upstream, reflection's apart.
func (w *world) seen() []arrived {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]arrived(nil), w.got...)
}

// last is the last request that reached the upstream.
func (w *world) last() arrived {
	w.t.Helper()
	all := w.seen()
	if len(all) == 0 {
		w.t.Fatal("nothing reached the upstream")
	}
	return all[len(all)-1]
}

// reply is what a client got.
type reply struct {
	status int
	header http.Header
	body   []byte
}

func (r reply) session() string { return r.header.Get("Hindsight-Session") }
func (r reply) memory() string  { return r.header.Get("Hindsight-Status") }

// text is the answer's text.
func (r reply) text() string {
	var v struct {
		Choices []struct{ Message struct{ Content string } }
	}
	if json.Unmarshal(r.body, &v) != nil || len(v.Choices) == 0 {
		return ""
	}
	return v.Choices[0].Message.Content
}

// send posts a body to the chat route. Headers come as "Name: value".
func (w *world) send(body string, headers ...string) reply {
	w.t.Helper()
	r, err := w.trySend(body, headers...)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func (w *world) trySend(body string, headers ...string) (reply, error) {
	return w.post("/v1/chat/completions", body, headers...)
}

func (w *world) post(path, body string, headers ...string) (reply, error) {
	req, err := http.NewRequest(http.MethodPost, w.st.proxyURL()+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer sk-test")
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, raw}, err
}

// conversation builds up a chat history, as a client does.
type conversation struct {
	w        *world
	headers  []string
	extra    string   // further fields of the body, such as `"tools":[…],`
	messages []string // JSON
}

func (w *world) conversation(headers ...string) *conversation {
	return &conversation{w: w, headers: headers}
}

func (c *conversation) add(role, text string) *conversation {
	b, _ := json.Marshal(map[string]string{"role": role, "content": text})
	c.messages = append(c.messages, string(b))
	return c
}

func (c *conversation) body() string {
	return `{"model":"` + fakellm.Model + `",` + c.extra + `"messages":[` + strings.Join(c.messages, ",") + `]}`
}

// say adds the words, sends the history and adds the answer to it, exactly as
// it came.
func (c *conversation) say(words string) reply {
	c.w.t.Helper()
	return c.add("user", words).send()
}

// send sends the history as it is and adds the answer.
func (c *conversation) send() reply {
	c.w.t.Helper()
	r := c.w.send(c.body(), c.headers...)
	if r.status != http.StatusOK {
		c.w.t.Fatalf("status %d: %s", r.status, r.body)
	}
	var v struct {
		Choices []struct{ Message json.RawMessage }
	}
	c.w.decode(r.body, &v)
	c.messages = append(c.messages, string(v.Choices[0].Message))
	return r
}

// admin calls the management API and fails the test on anything but a 2xx.
func (w *world) admin(method, path, body string) []byte {
	w.t.Helper()
	status, raw := w.tryAdmin(method, path, body)
	if status/100 != 2 && path != "/readyz" {
		w.t.Fatalf("%s %s answered %d: %s", method, path, status, raw)
	}
	return raw
}

func (w *world) tryAdmin(method, path, body string) (int, []byte) {
	w.t.Helper()
	req, err := http.NewRequest(method, w.st.adminURL()+path, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+worldToken)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	client := http.DefaultClient
	if w.st.cfg.Admin.CertFile != "" {
		by, err := trusting(w.st.cfg)
		if err != nil {
			w.t.Fatal(err)
		}
		client = &http.Client{Transport: by}
		defer client.CloseIdleConnections()
	}
	resp, err := client.Do(req)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, raw
}

func (w *world) decode(raw []byte, v any) {
	w.t.Helper()
	if err := json.Unmarshal(raw, v); err != nil {
		w.t.Fatalf("%v in %s", err, raw)
	}
}

// remember writes a memory for a user.
func (w *world) remember(user, fields string) store.Memory {
	w.t.Helper()
	var m store.Memory
	w.decode(w.admin(http.MethodPost, "/api/v1/memories", `{"scope":"`+string(store.UserScope(user))+`",`+fields+`}`), &m)
	return m
}

// close ends a session and waits for its reflection.
func (w *world) close(session string) (kept []store.Memory, dropped []store.Dropped) {
	w.t.Helper()
	var v struct {
		Memories []store.Memory
		Dropped  []store.Dropped
	}
	w.decode(w.admin(http.MethodPost, "/api/v1/sessions/"+url.PathEscape(session)+"/close?wait=20s", ""), &v)
	return v.Memories, v.Dropped
}

// memories lists what is kept in a user's scope.
func (w *world) memories(user string) []store.Memory {
	w.t.Helper()
	var v struct{ Memories []store.Memory }
	w.decode(w.admin(http.MethodGet, "/api/v1/memories?limit=100&scope="+url.QueryEscape(string(store.UserScope(user))), ""), &v)
	return v.Memories
}

// keptSession is a session as the management API shows it.
type keptSession struct {
	ID        string
	Scope     store.Scope
	Parent    string
	Turns     int
	Events    []store.Event
	Exchanges []struct {
		ID     string
		Status store.ExchangeStatus
	}
}

func (s keptSession) said() []string {
	var words []string
	for _, e := range s.Events {
		if e.Kind == store.UserInput {
			words = append(words, e.Text)
		}
	}
	return words
}

// session reads a session once everything that clients have read is on disk.
func (w *world) session(id string) keptSession {
	w.t.Helper()
	w.flush()
	var s keptSession
	w.decode(w.admin(http.MethodGet, "/api/v1/sessions/"+url.PathEscape(id), ""), &s)
	return s
}

// sessions lists the ids of all sessions.
func (w *world) sessions() []string {
	w.t.Helper()
	w.flush()
	var v struct{ Sessions []struct{ ID string } }
	w.decode(w.admin(http.MethodGet, "/api/v1/sessions?limit=1000", ""), &v)
	var ids []string
	for _, s := range v.Sessions {
		ids = append(ids, s.ID)
	}
	return ids
}

// flush waits until every answer that a client has read is on disk.
func (w *world) flush() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := (closer{w.st}).Settle(ctx); err != nil {
		w.t.Fatal(err)
	}
}

// patience is how long a test waits for what must come; under the race detector
// the encoder takes twenty times as long.
const patience = time.Minute

// until waits for a condition of another goroutine.
func (w *world) until(what string, done func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !done(); {
		if time.Now().After(deadline) {
			w.t.Fatalf("not after %s: %s", patience, what)
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-w.t.Context().Done():
			w.t.Fatal("the test has ended")
		}
	}
}
