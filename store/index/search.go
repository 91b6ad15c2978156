package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
)

// The constants of the words leg: BM25's own, and the weights of the fusion
// own + near + session (Near is the best of the scenario, the evidence and the
// memories one turn before and after). docs/recall.md says what they were measured
// on.
const (
	k1            = 1.2
	b             = 0.75
	NearWeight    = 0.6
	SessionWeight = 0.5
)

// VectorWeight is the usual share of meaning in a memory's own score, the rest is
// that of words; for one without a vector words are all.
const VectorWeight = 0.4

// DefaultLimit is how many candidates a search gives.
const DefaultLimit = 50

// Term is one term of a query; Weight scales its part of the score (1 for the
// words of the message, less for context).
type Term struct {
	Text   string
	Weight float64
}

// Query asks for the memories of some scopes of one tenant.
type Query struct {
	Tenant string
	Scopes []store.Scope
	Terms  []Term // each text once
	// Vector is the question's, of unit length and of the model that made the
	// memories'; empty: words alone. Share is what it weighs beside the words; 0
	// means VectorWeight.
	Vector   []float32
	Share    float64
	Now      time.Time
	Limit    int  // 0 means DefaultLimit
	Standing bool // standing memories only
	// Keep, where set, says which memories may be returned. It is called
	// during the search and must be fast.
	Keep func(*store.Memory) bool
	// Whole asks for Result.Whole.
	Whole bool
	// Archived includes archived memories and those that are no longer valid.
	Archived bool
}

// Words are the parts of a hit's score by words, as raw BM25, and Score, their
// fusion normalised over the search: (own + 0.6 near)/best + 0.5 session/best
// session, over 2.1, so between 0 and 1.
type Words struct {
	Own, Near, Session float64
	Score              float64
}

// Match says where a memory holds a term of the query.
type Match uint8

// The places of a match.
const (
	Absent Match = iota
	InNear       // in its evidence, or in a memory one turn away
	InOwn        // in its text, subject or scenario
)

// Hit is one candidate. The memory belongs to the index: it must not be
// changed. Evidence contexts are left out of it.
type Hit struct {
	Memory *store.Memory
	Scope  store.Scope
	Words  Words
	// Cosine is that of the question's vector and the memory's; meaningless unless
	// Embedded, which says that there are both.
	Cosine   float64
	Embedded bool
	// Values are the memory's vector, where Embedded; they belong to the index.
	Values []float32
	// Score is what hits are ordered by, between 0 and 1: both legs fused, or with
	// words alone Words.Score.
	Score float64
	// Match has one entry for each term of the query.
	Match []Match
	// Coverage is the share of the query's idf mass (weights included) that
	// the memory's own text and scenario hold.
	Coverage float64
}

// Result of a search: hits by descending score (ties: the newer, then the
// smaller id), the number of active memories in the scopes, and for each term
// of the query in how many of them it stands.
type Result struct {
	Hits []Hit
	Docs int
	DF   []int
	// Degraded is a word for what the result lacks, empty where it lacks nothing.
	Degraded string
	// Whole is the result without Keep, where the query asks for it. Nil where the
	// searcher doesn't know how to give both for little more than one of them.
	Whole *Result
}

// Search finds the best memories. An error means that a scope could
// not be loaded, or that ctx ended, which it wraps.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	// One order of scopes for all searches, each scope once: two searches that
	// hold read locks can't wait for each other behind a writer.
	names := slices.Clone(q.Scopes)
	slices.Sort(names)
	names = slices.Compact(names)
	scopes := make([]*scope, 0, len(names))
	for _, sc := range names {
		s, err := x.open(ctx, slotKey{q.Tenant, sc})
		if err != nil {
			return Result{}, err
		}
		scopes = append(scopes, s)
	}
	for _, s := range scopes {
		s.mu.RLock()
		defer s.mu.RUnlock()
	}
	sc := x.scratch.Get().(*scratch)
	defer x.scratch.Put(sc)
	run := &search{q: q, scopes: scopes, scratch: sc, share: float32(q.Share)}
	if q.Share == 0 {
		run.share = VectorWeight
	}
	res, err := run.do(ctx)
	if err != nil || !q.Whole || q.Keep == nil {
		return res, err
	}
	q.Keep = nil
	whole := &search{q: q, scopes: scopes, scratch: sc, share: run.share, compared: true}
	all, err := whole.do(ctx)
	res.Whole = &all
	return res, err
}

// search is one search over scopes that are locked.
type search struct {
	q      Query
	scopes []*scope
	sample *Sample // of what the scopes are, where they aren't whole; else nil
	more   *more   // how much more there is than the sample; nil: nothing
	*scratch
	compared bool // the vectors have been, by a search before this one with the same scratch

	res  Result
	mean [fields]float64
	idf  []float64
	best float32 // of own and near
	top  float32 // of the sessions
	// The least and the greatest cosine; most is 0 where there is none.
	least, most float32
	share       float32 // of the vectors
	floor       float32 // what a candidate must reach by now
}

// scratch is the room that a search needs; it is used again.
type scratch struct {
	legs  []legs // by scope
	group []float32
	tf    []float32 // by session: of one term
	said  []uint32  // the sessions that have it
	cand  []candidate
	room  []float32
}

// legs are the raw scores of one scope's documents.
type legs struct {
	docs    []uint32  // that can be candidates
	raw     []raw     // by document
	cos     []float32 // by document; absent
	sess    []float32 // by session
	vectors bool      // cos has any
}

// raw are one document's scores by words.
type raw struct {
	score   [fields]float32
	near    float32 // its best field beside own, its best neighbour
	met     bool    // it is listed
	allowed bool
}

type candidate struct {
	scope int
	doc   uint32
	score float32
}

func (r *search) do(ctx context.Context) (Result, error) {
	r.statistics()
	for len(r.legs) < len(r.scopes) {
		r.legs = append(r.legs, legs{})
	}
	for i, s := range r.scopes {
		if err := ctx.Err(); err != nil {
			return Result{}, fmt.Errorf("search memories: %w", err)
		}
		r.words(&r.legs[i], s)
		r.meaning(&r.legs[i], s)
	}
	r.cand = r.cand[:0]
	for i, s := range r.scopes {
		r.fuse(i, &r.legs[i], s)
	}
	r.choose()
	r.res.Hits = make([]Hit, len(r.cand))
	for i, c := range r.cand {
		r.res.Hits[i] = r.hit(c)
	}
	return r.res, nil
}

// hit completes a candidate: what of the query it holds and where.
func (r *search) hit(c candidate) Hit {
	s := r.scopes[c.scope]
	d, l := &s.docs[c.doc], &r.legs[c.scope]
	h := Hit{Memory: d.mem, Scope: d.mem.Scope, Match: make([]Match, len(r.q.Terms)), Score: float64(c.score)}
	h.Words = Words{Own: float64(l.raw[c.doc].score[own]), Near: float64(l.raw[c.doc].near)}
	if d.sess != none {
		h.Words.Session = float64(l.sess[d.sess])
	}
	h.Words.Score = float64(r.together(l.raw[c.doc].score[own]/r.best, l.raw[c.doc].near/r.best, float32(h.Words.Session)))
	if l.vectors && l.cos[c.doc] != absent {
		h.Cosine, h.Embedded, h.Values = float64(l.cos[c.doc]), true, s.vectors.values(d.vector)
	}
	var mass, held float64
	near := s.neighbours(d)
	for i, t := range r.q.Terms {
		w := r.idf[i] * t.Weight
		mass += w
		list := s.list(t.Text)
		if p, ok := find(list, c.doc); ok {
			h.Match[i] = InNear
			if p.tf[own] > 0 || p.tf[scenario] > 0 {
				h.Match[i] = InOwn
				held += w
				continue
			}
		}
		for _, n := range near {
			if p, ok := find(list, n); ok && p.tf[own] > 0 {
				h.Match[i] = InNear
			}
		}
	}
	if mass > 0 {
		h.Coverage = held / mass
	}
	return h
}

// neighbours are the active memories one turn before and after.
func (s *scope) neighbours(d *doc) []uint32 {
	if d.group == none {
		return nil
	}
	var out []uint32
	for _, g := range [2]uint32{s.turns[d.group].prev, s.turns[d.group].next} {
		if g == none {
			continue
		}
		for _, n := range s.turns[g].docs {
			if s.docs[n].active {
				out = append(out, n)
			}
		}
	}
	return out
}

func find(l []posting, doc uint32) (posting, bool) {
	i, ok := slices.BinarySearchFunc(l, doc, func(p posting, d uint32) int { return cmp.Compare(p.doc, d) })
	if !ok {
		return posting{}, false
	}
	return l[i], true
}
