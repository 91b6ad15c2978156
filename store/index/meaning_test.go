package index

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// vectorSource keeps vectors beside a source.
type vectorSource struct {
	mu  sync.Mutex
	log []freshVector
	by  map[string][]float32
}

func (s *vectorSource) put(id string, v ...float32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string][]float32{}
	}
	s.by[id] = v
	s.log = append(s.log, freshVector{id, v})
}

func (s *vectorSource) VectorVersion(string, store.Scope) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.log))
}

func (s *vectorSource) ScopeVectors(_ context.Context, _ string, _ store.Scope, take func(string, []float32)) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, v := range s.by {
		take(id, v)
	}
	return uint64(len(s.log)), nil
}

func (s *vectorSource) VectorChanges(_ string, _ store.Scope, since uint64, take func(string, []float32)) (uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.log[since:] {
		take(f.id, f.values)
	}
	return uint64(len(s.log)), true
}

func meant(words string, v ...float32) Query {
	q := ask(words)
	q.Vector = v
	return q
}

func TestBothLegsAreUnited(t *testing.T) {
	s, v := newSource(), &vectorSource{}
	for _, m := range []store.Memory{memory("word", "red boat"), memory("near", "something else"), memory("far", "nothing at all"), memory("bare", "no vector yet")} {
		s.put(m)
	}
	v.put("word", 0, 1, 0)
	v.put("near", 1, 0, 0)
	v.put("far", 0, 0, 1)
	x := open(t, Config{Vectors: v}, s)
	res, err := x.Search(t.Context(), meant("boat", 0.9, 0.1, 0))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Hit{}
	for _, h := range res.Hits {
		got[h.Memory.ID] = h
	}
	if h := got["near"]; !h.Embedded || h.Cosine < 0.89 || h.Cosine > 0.91 || h.Words.Own != 0 {
		t.Errorf("the near one without a word of it: %+v", h)
	}
	if h := got["word"]; h.Words.Own == 0 || h.Score <= got["near"].Score {
		t.Errorf("the one with the word: %+v, beside %+v", h, got["near"])
	}
	if h, ok := got["bare"]; ok {
		t.Errorf("one without word and vector was found: %+v", h)
	}
	for _, h := range res.Hits {
		if h.Score < 0 || h.Score > 1 {
			t.Errorf("%s has the score %v", h.Memory.ID, h.Score)
		}
	}
	// Filters hold for this leg too.
	q := meant("boat", 1, 0, 0)
	q.Keep = func(m *store.Memory) bool { return m.ID != "near" }
	if slices.Contains(ids(t, x, q), "near") {
		t.Error("a vector found what the query keeps out")
	}
	// A question of another dimension goes by words.
	if got := ids(t, x, meant("boat", 1, 0)); !slices.Equal(got, []string{"word"}) {
		t.Errorf("another dimension: %v", got)
	}
}

// A filtered search gives what is outside the filter too, as a search of its own
// would, while the vectors are compared once.
func TestFilteredAndWhole(t *testing.T) {
	src, vec := newSource(), &vectorSource{}
	rnd := rand.New(rand.NewPCG(3, 4))
	for i := range 40 {
		m := memory(fmt.Sprintf("m%d", i), fmt.Sprintf("tea number %d", i))
		if i%3 == 0 {
			m.Type = store.Solution
		}
		src.put(m)
		vec.put(m.ID, unitVector(rnd, 8)...)
	}
	x := open(t, Config{Vectors: vec}, src)
	q := meant("tea number 7", unitVector(rnd, 8)...)
	search := func(q Query) Result {
		t.Helper()
		res, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	whole := search(q)
	q.Keep = func(m *store.Memory) bool { return m.Type == store.Solution }
	kept := search(q)
	q.Whole = true
	both := search(q)
	if both.Whole == nil || kept.Whole != nil {
		t.Fatal("the whole result isn't there exactly where it is asked for")
	}
	if diff := cmp.Diff(whole, *both.Whole); diff != "" {
		t.Errorf("the whole result: %s", diff)
	}
	both.Whole = nil
	if diff := cmp.Diff(kept, both); diff != "" || len(kept.Hits) != 14 {
		t.Errorf("the filtered one, of %d: %s", len(kept.Hits), diff)
	}
}

func TestVectorsFollowTheirMemories(t *testing.T) {
	s, v := newSource(), &vectorSource{}
	s.put(memory("a", "first"))
	x := open(t, Config{Vectors: v}, s)
	find := func() []string { return ids(t, x, meant("zzz", 1, 0)) }
	if got := find(); len(got) != 0 {
		t.Fatalf("%v without a vector", got)
	}
	v.put("a", 1, 0)
	if got := find(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v after its vector came", got)
	}
	m := memory("a", "first")
	m.Importance = 1
	s.put(m) // the text is the same: so is the vector
	if got := find(); !slices.Equal(got, []string{"a"}) {
		t.Errorf("%v after another importance", got)
	}
	s.put(memory("a", "second")) // another text: none until it comes
	if got := find(); len(got) != 0 {
		t.Errorf("%v by the vector of another text", got)
	}
	v.put("a", 0, 1)
	v.put("new", 1, 0) // before its memory is seen
	s.put(memory("new", "third"))
	if got := find(); !slices.Equal(got, []string{"new"}) {
		t.Errorf("%v, want the new one", got)
	}
	v.put("new")
	if got := find(); len(got) != 0 {
		t.Errorf("%v after its vector went", got)
	}
}

// TestSweepingKeepsVectors changes so much that memories are numbered anew.
func TestSweepingKeepsVectors(t *testing.T) {
	s, v := newSource(), &vectorSource{}
	rnd := rand.New(rand.NewPCG(1, 1))
	want := map[string][]float32{}
	for i := range 1500 {
		id := fmt.Sprint(i)
		s.put(memory(id, "text "+id))
		want[id] = unitVector(rnd, 8)
		v.put(id, want[id]...)
	}
	x := open(t, Config{Vectors: v}, s)
	ids(t, x, meant("zzz", unitVector(rnd, 8)...))
	for i := range 1400 {
		id := fmt.Sprint(i)
		s.put(memory(id, "other text "+id))
		want[id] = unitVector(rnd, 8)
		v.put(id, want[id]...)
	}
	ids(t, x, meant("zzz", unitVector(rnd, 8)...))
	for _, id := range []string{"0", "700", "1399", "1400", "1499"} {
		res, err := x.Search(t.Context(), meant("zzz", want[id]...))
		if err != nil || len(res.Hits) == 0 || res.Hits[0].Memory.ID != id || res.Hits[0].Cosine < 0.999 {
			t.Errorf("the memory nearest to %s's vector is another, %v", id, err)
		}
	}
}

func TestTheBudgetCountsVectors(t *testing.T) {
	s, v := newSource(), &vectorSource{}
	for i := range 100 {
		id := fmt.Sprint(i)
		s.put(memory(id, "text"))
		v.put(id, make([]float32, 512)...)
	}
	with, without := open(t, Config{Vectors: v}, s), open(t, Config{}, s)
	ids(t, with, ask("text"))
	ids(t, without, ask("text"))
	if more := with.used - without.used; more < 100*512*4 {
		t.Errorf("100 vectors count %d bytes", more)
	}
}
