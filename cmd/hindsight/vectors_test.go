//go:build !race

// The encoder is arithmetic on its own data; under the race detector it takes
// twenty times as long, and finds nothing to detect. What is around it is tested
// there with words alone.

package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

const tea = `"text":"The user prefers tea over coffee.","type":"preference"`

// embedded waits until every memory has its vector and recall goes by vectors.
func (w *world) embedded() {
	w.t.Helper()
	w.until("all is embedded", func() bool {
		var p store.EmbeddingProgress
		w.decode(w.admin(http.MethodGet, "/api/v1/embedding", ""), &p)
		return p.Reason == "" && p.Embedded == p.Memories
	})
}

func (w *world) readiness() (memory, reason string) {
	w.t.Helper()
	var v struct{ Memory, Reason string }
	w.decode(w.admin(http.MethodGet, "/readyz", ""), &v)
	return v.Memory, v.Reason
}

func askAnn(w *world, words string) reply {
	w.t.Helper()
	return w.conversation("Hindsight-User: ann").say(words)
}

func TestAParaphraseIsFound(t *testing.T) {
	leftToWhole(t)
	w := newWorld(t, "HINDSIGHT_EMBEDDER=builtin")
	w.remember("ann", tea)
	w.remember("ann", `"text":"用户的女儿对青霉素过敏","type":"user_fact"`)
	w.embedded()
	for words, want := range map[string]string{
		"what do I drink in the morning?":        "prefers tea",
		"What medicine is my child allergic to?": "青霉素",
	} {
		r := askAnn(w, words)
		if r.memory() != "injected" || !strings.Contains(string(w.last().body), want) {
			t.Errorf("%q: %s, body %s", words, r.memory(), w.last().body)
		}
	}
	if r := askAnn(w, "what is the capital of Mongolia?"); r.memory() != "none" {
		t.Errorf("a foreign question: %s", r.memory())
	}
	w.restart() // the vectors are kept
	w.embedded()
	if r := askAnn(w, "Which hot drink do I like best?"); r.memory() != "injected" {
		t.Errorf("after a restart: %s", r.memory())
	}
	var res struct {
		Results  []struct{ Parts map[string]float64 }
		Degraded string
	}
	w.decode(w.admin(http.MethodPost, "/api/v1/memories/search", `{"query":"beverages","scopes":["user:ann"]}`), &res)
	if len(res.Results) == 0 || res.Results[0].Parts["vector"] == 0 || res.Degraded != "" {
		t.Errorf("search: %+v", res)
	}
}

// TestALearnedMemoryIsFoundByMeaningAtOnce asks as soon as a session is closed: its
// memories have their vectors then.
func TestALearnedMemoryIsFoundByMeaningAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	w := newWorld(t, "HINDSIGHT_EMBEDDER=builtin")
	w.embedded()
	kept, _ := w.learn("My daughter is allergic to penicillin.", "Hindsight-User: ann")
	var p store.EmbeddingProgress
	w.decode(w.admin(http.MethodGet, "/api/v1/embedding", ""), &p)
	if len(kept) == 0 || p.Embedded != p.Memories {
		t.Errorf("%d were learned, %d of %d have a vector", len(kept), p.Embedded, p.Memories)
	}
	if r := askAnn(w, "Which medicine is dangerous for my child?"); r.memory() != "injected" {
		t.Errorf("a paraphrase: %s", r.memory())
	}
}

// TestSearchWithoutAServerGoesByMeaning searches a directory that nobody holds.
func TestSearchWithoutAServerGoesByMeaning(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	w := newWorld(t, "HINDSIGHT_EMBEDDER=builtin")
	w.remember("ann", tea)
	w.embedded()
	w.stop()
	out := (&shell{t: t, env: w.env}).must("memories", "search", "beverages", "--json")
	var found struct {
		Results  []struct{ Parts map[string]float64 }
		Degraded string
	}
	w.decode([]byte(out), &found)
	if len(found.Results) != 1 || found.Results[0].Parts["vector"] == 0 || found.Degraded != "" {
		t.Errorf("search: %s", out)
	}
}

func TestAnEmbedderThatFailsDegradesToWords(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	model, url := serveModel(t)
	w := newWorld(t, "HINDSIGHT_EMBEDDER=a-model", "HINDSIGHT_EMBEDDING_API_BASE="+url, "HINDSIGHT_RECALL_DEADLINE=400ms")
	w.remember("ann", tea)
	w.embedded()
	if r := askAnn(w, "what do I drink in the morning?"); r.memory() != "injected" {
		t.Fatalf("with the embedder: %s", r.memory())
	}
	model.down.Store(true)
	if r := askAnn(w, "do I prefer tea?"); r.memory() != "injected;degraded=words" {
		t.Errorf("embedder down: %s", r.memory())
	}
	model.down.Store(false)
	model.slow.Store(true)
	start := time.Now()
	r := askAnn(w, "do I prefer tea or coffee?")
	if took := time.Since(start); r.memory() != "injected;degraded=words" || took > 3*time.Second {
		t.Errorf("slow embedder: %s after %v", r.memory(), took)
	}
	model.slow.Store(false)
	if r := askAnn(w, "is it tea that I prefer?"); r.memory() != "injected" {
		t.Errorf("embedder back: %s", r.memory())
	}
	if !bytes.Contains(w.admin(http.MethodGet, "/metrics", ""), []byte("hindsight_recalls_by_words_total 2")) {
		t.Error("the metrics don't count both")
	}
}

// TestAnotherModelOnOldData is row 39: vectors of two models are never mixed.
func TestAnotherModelOnOldData(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	model, url := serveModel(t)
	w := newWorld(t, "HINDSIGHT_EMBEDDER=a-model", "HINDSIGHT_EMBEDDING_API_BASE="+url)
	w.remember("ann", tea)
	w.embedded()

	for _, c := range []struct {
		what string
		set  func()
		says string
	}{
		{"another name", func() { w.env["HINDSIGHT_EMBEDDER"] = "b-model" }, "b-model"},
		{"another dimension", func() { model.wide.Store(true) }, "513"},
		{"other vectors under the name", func() { model.flip.Store(true) }, "other vectors"},
	} {
		c.set()
		w.stop()
		w.env["MEMORY"] = "degraded"
		w.start()
		if _, reason := w.readiness(); !strings.Contains(reason, "a-model") && !strings.Contains(reason, "b-model") ||
			!strings.Contains(reason, c.says) || !strings.Contains(reason, "hindsight reembed") {
			t.Errorf("%s: %q", c.what, reason)
		}
		if r := askAnn(w, "do I prefer tea?"); r.memory() != "injected;degraded=words" {
			t.Errorf("%s: %s", c.what, r.memory())
		}
		w.reembed()
		w.embedded()
		if memory, reason := w.readiness(); memory != "on" || reason != "" {
			t.Errorf("%s: memory %s, %q after reembed", c.what, memory, reason)
		}
		if r := askAnn(w, "what do I drink in the morning?"); r.memory() != "injected" {
			t.Errorf("%s: %s after reembed", c.what, r.memory())
		}
	}
}

// reembed runs the command against the running server.
func (w *world) reembed() {
	w.t.Helper()
	var out bytes.Buffer
	a := &app{env: environ{get: func(n string) string { return w.env[n] }, pid: 2, home: w.env["HINDSIGHT_DATA_DIR"]}, out: &out, err: &out}
	if code := run(w.t.Context(), a, []string{"reembed"}); code != 0 || !strings.Contains(out.String(), "All 1 memories") {
		w.t.Errorf("reembed: exit %d, %s", code, &out)
	}
}

// TestReembedWithoutAServer lets the command open the directory itself.
func TestReembedWithoutAServer(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	_, url := serveModel(t)
	w := newWorld(t, "HINDSIGHT_EMBEDDER=a-model", "HINDSIGHT_EMBEDDING_API_BASE="+url)
	w.remember("ann", tea)
	w.embedded()
	w.stop()
	w.env["HINDSIGHT_EMBEDDER"] = "b-model"
	w.reembed()
	w.start() // memory is on: the vectors are b-model's
	w.embedded()
}

// TestTheInterfaceOfLastTime is row 61, through the front door and with vectors.
func TestTheInterfaceOfLastTime(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	t.Parallel()
	for _, embedder := range []string{"none", "builtin"} {
		w := newWorld(t, "HINDSIGHT_DEFAULT_USER=ann", "HINDSIGHT_EMBEDDER="+embedder)
		w.remember("ann", `"type":"user_fact","text":"接口文档在哪里"`)
		want := w.remember("ann", `"type":"error_lesson","text":"上周三登录接口504超时"`)
		if embedder != "none" {
			w.embedded()
		}
		if r := w.conversation().say("上次那个接口的问题解决了吗"); r.header.Get("Hindsight-Memories") != want.ID {
			t.Errorf("%s: %s with %s, want %s alone", embedder, r.memory(), r.header.Get("Hindsight-Memories"), want.ID)
		}
	}
}

// A replay shows what an embedder would change, without one vector in the store.
func TestReplayWithAnotherEmbedder(t *testing.T) {
	if testing.Short() {
		t.Skip("the encoder takes seconds: make test has it")
	}
	t.Parallel()
	w := newWorld(t, "HINDSIGHT_EMBEDDER=none")
	w.remember("ann", tea)
	if r := askAnn(w, "Which hot drink do I like best?"); r.memory() != "none" {
		t.Fatalf("by words: %s", r.memory())
	}
	w.flush()
	if now, text := w.replay("--embedder", "builtin"); now.Summary.InjectedNow != 1 || now.Summary.Differ != 1 {
		t.Errorf("by meaning: %+v\n%s", now.Summary, text)
	}
	if now, _ := w.replay(); now.Summary.InjectedNow != 0 {
		t.Errorf("as configured: %+v", now.Summary)
	}
}

// TestManyMemoriesAndASlowEmbedder is row 46: with 100,000 memories in a scope and
// an embedder that doesn't answer, the deadline holds and the request goes on. The
// first may come while the scope is read; the others are recalled by words.
func TestManyMemoriesAndASlowEmbedder(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 100,000 memories")
	}
	model, url := serveModel(t)
	model.slow.Store(true)
	const deadline = 500 * time.Millisecond
	w := newWorld(t, "HINDSIGHT_EMBEDDER=a-model", "HINDSIGHT_EMBEDDING_API_BASE="+url, "HINDSIGHT_RECALL_DEADLINE="+deadline.String(),
		"HINDSIGHT_TENANT=acme", "MEMORY=degraded")
	now := time.Now()
	many := make([]store.Memory, 100_000)
	for i := range many {
		many[i] = store.Memory{
			ID: fmt.Sprintf("m%015d", i), Tenant: "acme", Scope: store.UserScope("ann"), Type: store.UserFact, Layer: store.Semantic, State: store.Active,
			Text: fmt.Sprintf("Crate %d stands in hall %d beside crate %d.", i, i%977, i/3), Importance: 0.5, CreatedAt: now, UpdatedAt: now, Revision: 1,
		}
	}
	many[4711].Text = "The boathouse key hangs behind the barometer."
	if _, err := w.st.store.PutMemories(t.Context(), many); err != nil {
		t.Fatal(err)
	}
	asked := 0
	ask := func() (reply, time.Duration) {
		asked++ // the same body gets the same block
		start := time.Now()
		r := askAnn(w, fmt.Sprintf("Where does the boathouse key hang? %d", asked))
		return r, time.Since(start)
	}
	w.until("the scope is read", func() bool {
		r, took := ask()
		if r.status != http.StatusOK || took > 10*deadline {
			t.Fatalf("status %d after %v", r.status, took)
		}
		return strings.HasPrefix(r.memory(), "injected")
	})
	for range 5 {
		if r, took := ask(); r.memory() != "injected;degraded=words" || took > 4*deadline {
			t.Errorf("%s after %v", r.memory(), took)
		}
	}
}
