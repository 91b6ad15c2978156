//go:build !race

// The encoder is arithmetic on its own data; under the race detector it takes
// twenty times as long, and finds nothing to detect. What is around it is tested
// there with words alone.

package inject

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"hindsight/store"
	"hindsight/store/embedding"
	"hindsight/store/index"
)

// meaningful is a disk whose memories have vectors.
type meaningful struct {
	*disk
	builtin *embedding.Builtin
}

func (m meaningful) VectorVersion(string, store.Scope) uint64 { return m.ScopeVersion("", "") }

func (m meaningful) ScopeVectors(ctx context.Context, tenant string, sc store.Scope, take func(string, []float32)) (uint64, error) {
	mems, version, err := m.ScopeMemories(ctx, tenant, sc)
	for _, one := range mems {
		v, err := m.builtin.Embed(ctx, []string{one.Text})
		if err != nil {
			return 0, err
		}
		take(one.ID, v[0])
	}
	return version, err
}

func (m meaningful) VectorChanges(string, store.Scope, uint64, func(string, []float32)) (uint64, bool) {
	return 0, false
}

// asker answers questions by the built-in encoder, unless wait or fail say otherwise.
type asker struct {
	*embedding.Builtin
	known map[string][]float32
	fail  error
	wait  bool
}

func (a *asker) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if out[i] = a.known[text]; out[i] == nil {
			v, err := a.Builtin.Embed(ctx, []string{text})
			if err != nil {
				return nil, err
			}
			out[i] = v[0]
		}
	}
	return out, nil
}

func (a *asker) Question(ctx context.Context, text string) ([]float32, error) {
	if a.wait {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if a.fail != nil {
		return nil, a.fail
	}
	return a.EmbedQuery(ctx, text)
}

// warmed is the encoder with the background's vectors, which are made once.
var warmed = sync.OnceValues(func() (asker, error) {
	b, err := embedding.Open()
	if err != nil {
		return asker{}, err
	}
	a := asker{Builtin: b, known: map[string][]float32{}}
	for _, texts := range [][]string{statementsEnglish(), statementsChinese(), questionsEnglish(), questionsChinese()} {
		vectors, err := b.Embed(context.Background(), texts)
		if err != nil {
			return asker{}, err
		}
		for i, text := range texts {
			a.known[text] = vectors[i]
		}
	}
	return a, nil
})

func (d *disk) meaning(t testing.TB, cfg Config) (*Engine, *asker) {
	t.Helper()
	shared, err := warmed()
	if err != nil {
		t.Fatal(err)
	}
	a := &shared
	if cfg.Deadline == 0 {
		cfg.Deadline = time.Minute
	}
	cfg.Embedder = a
	x := index.New(index.Config{Vectors: meaningful{d, a.Builtin}}, d)
	t.Cleanup(x.Close)
	e, err := New(cfg, x, d, d, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e, a
}

// TestOtherWordsAreUnderstood asks in words that the memory doesn't have.
func TestOtherWordsAreUnderstood(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	others := []store.Memory{
		fact("tabs", "User prefers tabs over spaces"), fact("docs", "接口文档在哪里"),
		fact("db", "The staging database is PostgreSQL 15 on port 5433"), fact("rent", "房租每月4200元，每季度付一次"),
	}
	for _, c := range []struct{ memory, ask string }{
		{"The user prefers tea over coffee.", "what do I drink in the morning?"},
		{"User drives a 2014 Skoda Octavia", "Which vehicle do I own?"},
		{"User booked a flight to Osaka for 14 March", "When is my plane to Japan?"},
		{"用户的女儿对青霉素过敏", "What medicine is my child allergic to?"},
		{"User's dog is called Biscuit and is afraid of fireworks", "我的狗叫什么？"},
		{"User is allergic to peanuts", "我对什么食物过敏？"},
		{"用户喜欢喝乌龙茶，不加糖", "Which beverage do I enjoy without sugar?"},
	} {
		d := &disk{}
		d.put(others...)
		d.put(fact("m", c.memory))
		e, _ := d.meaning(t, Config{})
		if got := newIDs(e.Plan(t.Context(), talk("s", c.ask))); !slices.Equal(got, []string{"m"}) {
			t.Errorf("%q over %q: got %v", c.ask, c.memory, got)
		}
	}
}

func TestWithoutTheQuestionsVectorWordsGoOn(t *testing.T) {
	t.Parallel()
	d := &disk{}
	d.put(fact("m", "User's name is Ann"))
	e, a := d.meaning(t, Config{Deadline: 2 * time.Second})
	a.fail = errors.New("down")
	p := e.Plan(t.Context(), talk("s", "what is my name?"))
	if p.Degraded != "words" || p.Status != Injected {
		t.Errorf("embedder down: %s, degraded %q", p.Status, p.Degraded)
	}
	res, err := e.Search(t.Context(), SearchRequest{Tenant: "t", Scopes: ann.OwnScopes(), Query: "name", Now: now})
	if err != nil || res.Degraded != "words" || len(res.Results) != 1 {
		t.Errorf("search: %+v, %v", res, err)
	}
	a.fail, a.wait = nil, true
	start := time.Now()
	p = e.Plan(t.Context(), talk("s2", "what is my name?"))
	if took := time.Since(start); p.Degraded != "words" || p.Status != Injected || took > 1900*time.Millisecond {
		t.Errorf("slow embedder: %s, degraded %q, after %v", p.Status, p.Degraded, took)
	}
	a.wait = false
	p = e.Plan(t.Context(), talk("s3", "what is my name?"))
	if p.Degraded != "" || p.Status != Injected {
		t.Errorf("embedder back: %s, degraded %q", p.Status, p.Degraded)
	}
}

func TestSearchShowsTheVectorsPart(t *testing.T) {
	if testing.Short() {
		t.Skip("loads the encoder")
	}
	d := &disk{}
	d.put(fact("m", "The user prefers tea over coffee."), fact("o", "User lives in Lisbon"))
	e, _ := d.meaning(t, Config{})
	res, err := e.Search(t.Context(), SearchRequest{Tenant: "t", Scopes: ann.OwnScopes(), Query: "hot beverages", Now: now})
	if err != nil || len(res.Results) == 0 || res.Results[0].Memory.ID != "m" {
		t.Fatalf("%+v, %v", res, err)
	}
	if p := res.Results[0].Parts; p["vector"] < 0.2 || p["final"] <= 0 || p["final"] > 1 {
		t.Errorf("parts %v", p)
	}
}

// The golden questions once more, by meaning too.
func TestGateGoldenByMeaning(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: make test has it")
	}
	golden(t, func(d *disk) *Engine { e, _ := d.meaning(t, Config{}); return e })
}
