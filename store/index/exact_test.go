package index

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"hindsight/store"
)

// counted is a text as a test counts it.
type counted struct {
	tf  map[string]float64
	len float64
}

func count(texts ...string) counted {
	c := counted{tf: map[string]float64{}}
	for _, x := range texts {
		for _, t := range Tokens(x) {
			c.tf[t.Text]++
			if k := Concept(t.Text); k != "" {
				c.tf[k]++
			}
			if t.Kind != Part {
				c.len++
			}
		}
	}
	return c
}

// bm25 scores a text among others of a mean length.
func bm25(c counted, q Query, idf map[string]float64, mean float64) float64 {
	sum := 0.0
	for _, t := range q.Terms {
		if tf := c.tf[t.Text]; tf > 0 {
			sum += idf[t.Text] * t.Weight * (k1 + 1) * tf / (tf + k1*(1-b+b*c.len/mean))
		}
	}
	return sum
}

// byHand computes what a search must find, memory by memory, out of their texts.
func byHand(mems []store.Memory, vectors map[string][]float32, q Query) []candidateByHand {
	var live []store.Memory
	for _, m := range mems {
		if m.State == store.Active {
			live = append(live, m)
		}
	}
	texts := make([][fields]counted, len(live))
	sessions := map[string]counted{}
	var total, n [fields]float64
	df, sessionDF := map[string]float64{}, map[string]float64{}
	for i, m := range live {
		e := m.Evidence[0]
		texts[i] = [fields]counted{count(m.Text), count(m.Scenario), count(e.Context)}
		all := map[string]bool{}
		for f, c := range texts[i] {
			if c.len > 0 {
				total[f], n[f] = total[f]+c.len, n[f]+1
			}
			for t := range c.tf {
				all[t] = true
			}
		}
		for t := range all {
			df[t]++
		}
		s, ok := sessions[e.Session]
		if !ok {
			s = counted{tf: map[string]float64{}}
		}
		for t, tf := range texts[i][own].tf {
			s.tf[t] += tf
		}
		s.len += texts[i][own].len
		sessions[e.Session] = s
	}
	idfOf := func(df map[string]float64, n int) map[string]float64 {
		out := map[string]float64{}
		for _, t := range q.Terms {
			out[t.Text] = math.Log1p((float64(n) - df[t.Text] + 0.5) / (df[t.Text] + 0.5))
		}
		return out
	}
	words := 0.0
	for _, s := range sessions {
		words += s.len
		for t := range s.tf {
			sessionDF[t]++
		}
	}
	meanSession := words / float64(len(sessions))
	out := make([]candidateByHand, len(live))
	best, top, least, most := 0.0, 0.0, 0.0, 0.0
	cos := make([]float64, len(live))
	for i, m := range live {
		o := &out[i]
		o.m = m
		for f := range fields {
			o.field[f] = bm25(texts[i][f], q, idfOf(df, len(live)), total[f]/n[f])
		}
		o.session = bm25(sessions[m.Evidence[0].Session], q, idfOf(sessionDF, len(sessions)), meanSession)
		for k, x := range vectors[m.ID] {
			cos[i] += float64(x) * float64(q.Vector[k])
		}
		if vectors[m.ID] != nil {
			least, most = min(least, cos[i]), max(most, cos[i])
		}
	}
	near := func(i int, of func(k int) float64) (v float64) {
		for k := range live {
			a, b := live[i].Evidence[0], live[k].Evidence[0]
			if a.Session == b.Session && (a.Turn-b.Turn == 1 || b.Turn-a.Turn == 1) {
				v = max(v, of(k))
			}
		}
		return v
	}
	for i := range out {
		o := &out[i]
		o.near = max(o.field[scenario], o.field[around], near(i, func(k int) float64 { return out[k].field[own] }))
		best = max(best, o.field[own], o.near)
		if o.field[own] > 0 || o.near > 0 {
			top = max(top, o.session)
		}
	}
	share := 0.0
	if len(vectors) > 0 {
		share = VectorWeight
	}
	total1 := func(i int) float64 {
		w := out[i].field[own] / best
		if vectors[out[i].m.ID] == nil {
			return w
		}
		return (1-share)*w + share*(cos[i]-least)/(most-least)
	}
	for i := range out {
		o := &out[i]
		n := max((1-share)*max(o.field[scenario], o.field[around])/best, near(i, total1))
		o.score = (total1(i) + NearWeight*n + SessionWeight*o.session/top) / (1 + NearWeight + SessionWeight)
		if len(vectors) == 0 && o.field[own] == 0 && o.near == 0 {
			o.score = 0 // its session alone admits nothing
		}
	}
	out = slices.DeleteFunc(out, func(o candidateByHand) bool { return o.score == 0 })
	slices.SortFunc(out, func(a, b candidateByHand) int { return cmp.Compare(b.score, a.score) })
	return out
}

type candidateByHand struct {
	m             store.Memory
	field         [fields]float64
	near, session float64
	score         float64
}

// TestSearchIsExact compares searches with the formula, worked out by hand for every
// memory: with words alone and with vectors, for rare and for common words.
func TestSearchIsExact(t *testing.T) {
	mems := library(400)
	rnd := rand.New(rand.NewPCG(11, 12))
	for i := range mems {
		if i%9 == 0 {
			mems[i].State = store.Archived
		}
		mems[i].Evidence[0].Turn = i % 20 / 2 * 2 / (1 + i%2) // gaps, and some share a turn
	}
	s, v := newSource(), &vectorSource{}
	for _, m := range mems {
		s.put(m)
	}
	for i, m := range mems {
		if i%4 > 0 {
			v.put(m.ID, unitVector(rnd, 16)...)
		}
	}
	for name, by := range map[string]map[string][]float32{"words": nil, "vectors": v.by} {
		cfg := Config{}
		if by != nil {
			cfg.Vectors = v
		}
		x := open(t, cfg, s)
		for n := range 6 {
			q := ask(mems[n*31].Text + " " + mems[n*17].Scenario)
			if by != nil {
				q.Vector = unitVector(rnd, 16)
			}
			res, err := x.Search(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			want := byHand(mems, by, q)
			want = want[:min(len(want), DefaultLimit)]
			if len(res.Hits) != len(want) {
				t.Fatalf("%s, question %d: %d hits, want %d", name, n, len(res.Hits), len(want))
			}
			for i, h := range res.Hits {
				w := want[i]
				off := math.Abs(h.Score-w.score) > tolerance()
				if h.Memory.ID == w.m.ID {
					off = off || math.Abs(h.Words.Own-w.field[own]) > 1e-3 || math.Abs(h.Words.Near-w.near) > 1e-3 || math.Abs(h.Words.Session-w.session) > 1e-3
				}
				if off {
					t.Errorf("%s, question %d, rank %d: %s %v %+v, want %s", name, n, i, h.Memory.ID, h.Score, h.Words, fmt.Sprintf("%s %v %v near %v session %v", w.m.ID, w.score, w.field, w.near, w.session))
				}
			}
		}
	}
}
