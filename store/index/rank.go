package index

import (
	"context"

	"hindsight/store"
)

// Sample is what another store has found for a query: the memories that can be
// among the best, with whatever bears on their scores (their sessions, and the
// others about the same things), and what must be counted over all.
type Sample struct {
	Memories []store.SharedMemory
	// Docs is the number of active memories in the query's scopes and DF, for each
	// term of the query, in how many of them it stands. DF nil: Memories are all
	// that there are.
	Docs int
	DF   []int
	// Least is the least cosine of the question's vector with any memory's.
	Least float64
	// Means are the mean lengths of the active memories' fields; nil: those of the
	// sample.
	Means *Lengths
	// Sessions is how many sessions have active memories; 0: as many as the sample
	// lets expect.
	Sessions int
}

// Lengths are those of a memory's fields, in terms: its text and subject, its
// scenario, and its evidence with what stands around it.
type Lengths [fields]float64

// LengthsOf measures a memory.
func LengthsOf(m *store.Memory) (out Lengths) {
	a := new(analyser)
	add := func(field int, text string) {
		a.scan(text, func(t Token) {
			if t.Kind != Part {
				out[field]++
			}
		})
	}
	add(own, m.Text)
	add(own, m.Subject)
	add(scenario, m.Scenario)
	for i := range m.Evidence {
		add(around, seen(&m.Evidence[i]))
	}
	return out
}

// seen is what of a piece of evidence is indexed.
func seen(e *store.Evidence) string {
	if e.Context == "" {
		return e.Quote
	}
	return e.Context
}

// Rank is Search for memories that lie elsewhere: the same scores and the same
// order. How many sessions there are is projected from the sample.
func Rank(ctx context.Context, q Query, s Sample) (Result, error) {
	by := map[store.Scope][]store.Memory{}
	for i := range s.Memories {
		m := s.Memories[i].Memory
		by[m.Scope] = append(by[m.Scope], m)
	}
	run := &search{q: q, scratch: new(scratch), share: float32(q.Share), sample: &s}
	if q.Share == 0 {
		run.share = VectorWeight
	}
	at := map[store.Scope]*scope{}
	for sc, mems := range by {
		at[sc] = newScope(mems, 0)
		run.scopes = append(run.scopes, at[sc])
	}
	for i := range s.Memories {
		if m := &s.Memories[i]; len(m.Vector) > 0 {
			at[m.Memory.Scope].embed(m.Memory.ID, m.Vector)
		}
	}
	return run.do(ctx)
}

// more says how many times as many memories there are as the sample has, and for
// each term of the query, as hold it in the sample. Sessions are counted so: the
// sample has whole ones.
type more struct {
	docs  float32
	terms []float32
}

// projected puts what was counted over all into the place of what was counted over
// the sample.
func (r *search) projected(docs int, df []int) {
	r.res.Docs = r.sample.Docs
	r.more = &more{docs: max(1, float32(r.sample.Docs)/float32(max(docs, 1))), terms: make([]float32, len(df))}
	for i, n := range df {
		r.res.DF[i] = r.sample.DF[i]
		r.more.terms[i] = max(1, float32(r.sample.DF[i])/float32(max(n, 1)))
	}
}

// MemoryTerms are the terms under which a memory is indexed, those of its own
// text first, as often as they occur, and with the concepts that they stand for.
func MemoryTerms(m *store.Memory) []string {
	var out []string
	a := new(analyser)
	add := func(text string) {
		a.scan(text, func(t Token) {
			out = append(out, t.Text)
			if c := Concept(t.Text); c != "" {
				out = append(out, c)
			}
		})
	}
	add(m.Text)
	add(m.Subject)
	if m.Type == store.Preference {
		out = append(out, PreferenceConcept)
	}
	add(m.Scenario)
	for i := range m.Evidence {
		add(seen(&m.Evidence[i]))
	}
	return out
}

// Allowed is List for memories that lie elsewhere.
func Allowed(q Query, s Sample) []*store.Memory {
	by := map[store.Scope][]store.Memory{}
	for i := range s.Memories {
		m := s.Memories[i].Memory
		by[m.Scope] = append(by[m.Scope], m)
	}
	r := search{q: q}
	var out []*store.Memory
	for _, mems := range by {
		sc := newScope(mems, 0)
		for i := range sc.docs {
			if r.allowed(&sc.docs[i]) {
				out = append(out, sc.docs[i].mem)
			}
		}
	}
	return out
}
