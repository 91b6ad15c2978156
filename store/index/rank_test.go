package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"hindsight/store"
)

// TestRankIsSearch ranks whole scopes that lie elsewhere, and samples of them with
// what is counted over all, and compares with the index.
func TestRankIsSearch(t *testing.T) {
	mems := library(400)
	rnd := rand.New(rand.NewPCG(3, 4))
	s, v := newSource(), &vectorSource{}
	var all []store.SharedMemory
	for i, m := range mems {
		s.put(m)
		vec := unitVector(rnd, 16)
		v.put(m.ID, vec...)
		all = append(all, store.SharedMemory{Memory: mems[i], Vector: vec})
	}
	x := open(t, Config{Vectors: v}, s)
	var means, count Lengths
	sessions := map[string]bool{}
	for i := range mems {
		for f, n := range LengthsOf(&mems[i]) {
			if means[f] += n; n > 0 {
				count[f]++
			}
		}
		sessions[mems[i].Evidence[0].Session] = true
	}
	for f := range means {
		means[f] /= count[f]
	}
	for n := range 6 {
		q := ask(mems[n*31].Text)
		q.Vector, q.Limit = unitVector(rnd, 16), 5
		want, err := x.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		// The sessions of the best twenty, and of no others.
		wide := q
		wide.Limit = 20
		best, err := x.Search(t.Context(), wide)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]bool{}
		for _, h := range best.Hits {
			in[h.Memory.Evidence[0].Session] = true
		}
		part := Sample{Docs: len(mems), DF: want.DF, Means: &means, Sessions: len(sessions), Least: 1}
		for _, m := range all {
			if in[m.Memory.Evidence[0].Session] {
				part.Memories = append(part.Memories, m)
			}
			c := 0.0
			for i, x := range m.Vector {
				c += float64(x) * float64(q.Vector[i])
			}
			part.Least = min(part.Least, c)
		}
		if len(part.Memories) == len(all) {
			t.Fatal("the sample is everything")
		}
		for name, sample := range map[string]Sample{"all": {Memories: all}, "a part": part} {
			got, err := Rank(t.Context(), q, sample)
			if err != nil {
				t.Fatal(err)
			}
			if got.Docs != want.Docs || fmt.Sprint(got.DF) != fmt.Sprint(want.DF) {
				t.Errorf("%s, question %d: %d documents, %v; want %d, %v", name, n, got.Docs, got.DF, want.Docs, want.DF)
			}
			for i := range want.Hits {
				g, w := got.Hits[i], want.Hits[i]
				if g.Memory.ID != w.Memory.ID || name == "all" && math.Abs(g.Score-w.Score) > tolerance() {
					t.Errorf("%s, question %d, rank %d: %s %v, want %s %v", name, n, i, g.Memory.ID, g.Score, w.Memory.ID, w.Score)
				}
			}
		}
	}
}

// TestLengthsAreThoseOfTheIndex compares with what the index counts.
func TestLengthsAreThoseOfTheIndex(t *testing.T) {
	m := memory("m", "Ann's build-server v2.1 in 上海 listens on port-8080")
	m.Subject, m.Scenario, m.Type = "server", "when the 服务器 is down", store.Preference
	m.Evidence = []store.Evidence{{Session: "s", Quote: "it's v2.1"}, {Session: "s", Quote: "x", Context: "which one? v2.1!"}}
	s := newScope([]store.Memory{m}, 1)
	for f, n := range LengthsOf(&m) {
		if int(n) != int(s.docs[0].len[f]) {
			t.Errorf("field %d: %v, the index has %d", f, n, s.docs[0].len[f])
		}
	}
	have := map[string]bool{}
	for _, term := range MemoryTerms(&m) {
		have[term] = true
	}
	if len(have) != len(s.terms) {
		t.Errorf("%d terms, the index has %d", len(have), len(s.terms))
	}
	for term := range s.terms {
		if !have[term] {
			t.Errorf("no %q", term)
		}
	}
}
