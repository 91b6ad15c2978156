package hreflect_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	hreflect "hindsight/reflect"
	"hindsight/reflect/llm"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

var ann = store.Owner{Tenant: "t", User: "ann"}

// clock is a wall clock that a test moves by hand.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// keys lends one credential while it has one.
type keys struct {
	mu    sync.Mutex
	value string
}

func (k *keys) Credential(string) (string, string, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return "Authorization", k.value, k.value != ""
}

func (k *keys) set(v string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.value = v
}

// house is a real store, a scripted model server and a runner.
type house struct {
	*badgerdb.Store
	t     *testing.T
	clock *clock
	keys  *keys
	cfg   hreflect.Config
	*hreflect.Runner

	mu     sync.Mutex
	reason string   // of the last dead letter
	asked  []string // the data of each question
	auth   []string
	reply  func(w http.ResponseWriter, n int, data string)
}

func newHouse(t *testing.T, reply func(w http.ResponseWriter, n int, data string)) *house {
	t.Helper()
	h := &house{t: t, clock: &clock{t: time.Date(2026, 11, 27, 10, 0, 0, 0, time.UTC)}, keys: &keys{value: "Bearer sk-caller"}, reply: reply}
	srv := httptest.NewServer(http.HandlerFunc(h.serve))
	t.Cleanup(srv.Close)
	h.cfg = hreflect.Config{Upstream: srv.URL, Now: h.clock.now, Tick: 5 * time.Millisecond}
	h.open(t.TempDir())
	return h
}

func (h *house) serve(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Role, Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || len(body.Messages) != 2 {
		h.t.Errorf("question: %v", err)
		return
	}
	h.mu.Lock()
	h.asked = append(h.asked, body.Messages[1].Content)
	h.auth = append(h.auth, r.Header.Get("Authorization"))
	n := len(h.asked)
	h.mu.Unlock()
	h.reply(w, n, body.Messages[1].Content)
}

func (h *house) calls() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.asked)
}

// open runs a store on a directory until the test, or the returned call, ends it.
func (h *house) open(dir string) (stop func()) {
	h.t.Helper()
	s, err := badgerdb.New(badgerdb.Config{Dir: dir, Now: h.clock.now, Linger: time.Millisecond})
	if err != nil {
		h.t.Fatal(err)
	}
	h.Store = s
	stop = background(h.t, func(ctx context.Context) {
		if err := s.Run(ctx); err != nil {
			h.t.Error(err)
		}
	})
	if err := s.Ready(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
	return stop
}

// run starts a runner; the returned call stops it.
func (h *house) run() (stop func()) {
	h.t.Helper()
	r, err := hreflect.New(h.cfg, applied{h.Store, h}, h.keys, llm.New(llm.Config{Silence: 200 * time.Millisecond}))
	if err != nil {
		h.t.Fatal(err)
	}
	h.Runner = r
	return background(h.t, r.Run)
}

// applied notes what the runner asks the store to apply.
type applied struct {
	*badgerdb.Store
	h *house
}

func (a applied) Apply(ctx context.Context, j store.Job, out store.Outcome) (store.Job, error) {
	a.h.mu.Lock()
	a.h.reason = out.Dead
	a.h.mu.Unlock()
	return a.Store.Apply(ctx, j, out)
}

func (h *house) dead() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.reason
}

func background(t *testing.T, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); run(ctx) }()
	stop = sync.OnceFunc(func() { cancel(); <-done })
	t.Cleanup(stop)
	return stop
}

// talk records exchanges of one session: user, assistant, user, assistant …
func (h *house) talk(session string, turn int, texts ...string) {
	h.t.Helper()
	for i := 0; i+1 < len(texts); i += 2 {
		at := h.clock.now()
		h.Finish(&store.Exchange{
			ID: fmt.Sprintf("x-%s-%d", session, turn), Session: session, Owner: ann, Status: store.Complete, HTTP: 200,
			Started: at, Finished: at, Zone: "UTC", Dialect: "chat", Model: "m", Turn: turn, Tokens: 20,
			Events: []store.Event{
				{Kind: store.UserInput, Time: at, Turn: turn, Text: texts[i]},
				{Kind: store.FinalOutput, Time: at, Turn: turn, Text: texts[i+1]},
			},
		})
		turn++
		h.clock.add(time.Second)
	}
	if err := h.Flush(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// close ends a session and returns its job when that is over.
func (h *house) close(session string) store.Job {
	h.t.Helper()
	j, ok, err := h.Enqueue(h.t.Context(), ann, session, store.TriggerExplicit)
	if err != nil || !ok {
		h.t.Fatalf("enqueue: %v %v", ok, err)
	}
	h.Wake()
	ctx, cancel := context.WithTimeout(h.t.Context(), 10*time.Second)
	defer cancel()
	if j, err = h.WaitJob(ctx, j.ID); err != nil {
		h.t.Fatalf("wait: %v (%s %s)", err, j.State, j.Reason)
	}
	return j
}

// over is close for a job that fails: the time of every retry comes.
func (h *house) over(session string) store.Job {
	h.t.Helper()
	j, _, err := h.Enqueue(h.t.Context(), ann, session, store.TriggerExplicit)
	if err != nil {
		h.t.Fatal(err)
	}
	h.until("it is over", func() bool {
		h.clock.add(time.Second)
		j, err = h.Job(h.t.Context(), j.ID)
		return err == nil && (j.State == store.Done || j.State == store.Dead)
	})
	return j
}

// until polls for a condition.
func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			h.t.Fatalf("never came: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

func (h *house) texts() (active []string) {
	h.t.Helper()
	ms, _, err := h.ScopeMemories(h.t.Context(), "t", ann.Scope())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range ms {
		if m.State == store.Active {
			active = append(active, m.Text)
		}
	}
	slices.Sort(active)
	return active
}

func (h *house) job(state store.JobState) (store.Job, bool) {
	h.t.Helper()
	js, err := h.Jobs(h.t.Context(), state)
	if err != nil {
		h.t.Fatal(err)
	}
	if len(js) == 0 {
		return store.Job{}, false
	}
	return js[0], true
}

// say streams an answer's text.
func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	b, _ := json.Marshal(text)
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%s},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", b)
}

// itemOf is a model's item about a user's sentence in the first event that
// holds it.
func itemOf(data, quote, text string, more ...any) string {
	id := ""
	for line := range strings.Lines(data) {
		var e struct{ ID, Text string }
		if json.Unmarshal([]byte(line), &e) == nil && strings.Contains(e.Text, quote) && id == "" {
			id = e.ID
		}
	}
	it := map[string]any{
		"type": "user_fact", "text": text, "subject": "", "scenario": "", "importance": 0.8, "confidence": 0.9, "standing": false,
		"said_by": "user", "events": []string{id}, "quote": quote, "time_expression": "", "relation": "new", "relation_id": "",
	}
	for i := 0; i+1 < len(more); i += 2 {
		it[more[i].(string)] = more[i+1]
	}
	b, _ := json.Marshal(it)
	return string(b)
}
