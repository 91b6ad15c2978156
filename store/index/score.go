package index

import (
	"cmp"
	"math"
	"slices"

	"hindsight/store"
)

// statistics counts over all scopes together, so that scores of two scopes can
// be compared.
func (r *search) statistics() {
	var total, count [fields]int
	r.res.DF = make([]int, len(r.q.Terms))
	r.idf = make([]float64, len(r.q.Terms))
	for _, s := range r.scopes {
		for f := range fields {
			total[f] += s.total[f]
			count[f] += s.count[f]
		}
		for i, t := range r.q.Terms {
			for _, p := range s.list(t.Text) {
				if s.docs[p.doc].active {
					r.res.DF[i]++
				}
			}
		}
	}
	r.res.Docs = count[own]
	for f := range fields {
		r.mean[f] = float64(total[f]) / float64(max(count[f], 1))
	}
	for i, df := range r.res.DF {
		r.idf[i] = idf(r.res.Docs, df)
	}
}

func idf(n, df int) float64 { return math.Log1p((float64(max(n, df)-df) + 0.5) / (float64(df) + 0.5)) }

func (s *scope) list(term string) []posting {
	t, ok := s.terms[term]
	if !ok {
		return nil
	}
	return s.lists[t]
}

// words scores one scope by words.
func (r *search) words(l *legs, s *scope) {
	n := len(s.docs)
	for f := range l.score {
		l.score[f] = zeroed(l.score[f], n)
	}
	for i, t := range r.q.Terms {
		w := float32(r.idf[i] * t.Weight * (k1 + 1))
		for _, p := range s.list(t.Text) {
			d := &s.docs[p.doc]
			for f, tf := range p.tf {
				if tf > 0 && d.mem != nil {
					l.score[f][p.doc] += w * saturate(float32(tf), float32(d.len[f]), float32(r.mean[f]))
				}
			}
		}
	}
	r.bySession(l, s)
	groups := r.groups(s, l.score[own])
	l.near = zeroed(l.near, n)
	l.allowed = sized(l.allowed, n)
	for i := range s.docs {
		d := &s.docs[i]
		l.near[i] = max(l.score[scenario][i], l.score[around][i], neighbour(s, d, groups))
		l.allowed[i] = (len(r.q.Vector) > 0 || l.score[own][i] > 0 || l.near[i] > 0) && r.allowed(d)
		if !l.allowed[i] {
			continue
		}
		r.best = max(r.best, l.score[own][i], l.near[i])
		if d.sess != none && (l.score[own][i] > 0 || l.near[i] > 0) {
			r.top = max(r.top, l.sess[d.sess])
		}
	}
}

// groups is the best of the given scores in each turn.
func (r *search) groups(s *scope, score []float32) []float32 {
	r.group = zeroed(r.group, len(s.turns))
	for i := range s.docs {
		if d := &s.docs[i]; d.group != none && d.active {
			r.group[d.group] = max(r.group[d.group], score[i])
		}
	}
	return r.group
}

// neighbour is the best score in the turns before and after a document's.
func neighbour(s *scope, d *doc, groups []float32) (best float32) {
	if d.group == none {
		return 0
	}
	t := &s.turns[d.group]
	if t.prev != none {
		best = groups[t.prev]
	}
	if t.next != none {
		best = max(best, groups[t.next])
	}
	return best
}

// meaning scores one scope by vectors.
func (r *search) meaning(l *legs, s *scope) {
	if l.vectors = false; len(r.q.Vector) == 0 {
		return
	}
	l.cos = sized(l.cos, len(s.docs))
	if l.vectors = s.vectors.cosines(r.q.Vector, l.cos, &r.room); !l.vectors {
		return
	}
	for i, c := range l.cos {
		if c != absent && s.docs[i].active {
			r.least, r.most = min(r.least, c), max(r.most, c)
		}
	}
}

func saturate(tf, length, mean float32) float32 {
	if mean == 0 {
		mean = 1
	}
	return tf / (tf + k1*(1-b+b*length/mean))
}

func (r *search) allowed(d *doc) bool {
	if d.mem == nil || r.q.Standing && !d.standing {
		return false
	}
	if !r.q.Archived {
		if !d.active || d.timed && (!d.mem.ValidTo.IsZero() && !r.q.Now.Before(d.mem.ValidTo) || r.q.Now.Before(d.mem.ValidFrom)) {
			return false
		}
	}
	return r.q.Keep == nil || r.q.Keep(d.mem)
}

// bySession scores every session as one text: the own texts of its memories.
func (r *search) bySession(l *legs, s *scope) {
	l.sess = zeroed(l.sess, len(s.length))
	n, total := 0, 0
	for _, l := range s.length {
		if l > 0 {
			n++
			total += l
		}
	}
	if n == 0 {
		return
	}
	mean := float32(total) / float32(n)
	for _, t := range r.q.Terms {
		r.tf = zeroed(r.tf, len(s.length))
		df := 0
		for _, p := range s.list(t.Text) {
			d := &s.docs[p.doc]
			if d.sess == none || p.tf[own] == 0 || !d.active {
				continue
			}
			if r.tf[d.sess] == 0 {
				df++
			}
			r.tf[d.sess] += float32(p.tf[own])
		}
		if df == 0 {
			continue
		}
		w := float32(idf(n, df) * t.Weight * (k1 + 1))
		for i, tf := range r.tf {
			if tf > 0 {
				l.sess[i] += w * saturate(tf, float32(s.length[i]), mean)
			}
		}
	}
}

// fuse scores one scope's documents by both legs and adds its candidates. It needs
// what words and meaning found in all scopes.
func (r *search) fuse(at int, l *legs, s *scope) {
	r.total = sized(r.total, len(s.docs))
	r.best, r.top = max(r.best, 1e-9), max(r.top, 1e-9)
	for i, w := range l.score[own] {
		r.total[i] = w / r.best
		if l.vectors && l.cos[i] != absent {
			r.total[i] = (1-r.share)*w/r.best + r.share*r.likeness(l.cos[i])
		}
	}
	groups := r.groups(s, r.total)
	for i := range s.docs {
		if !l.allowed[i] {
			continue
		}
		d := &s.docs[i]
		near := max(l.score[scenario][i], l.score[around][i]) / r.best
		if l.vectors {
			near *= 1 - r.share
		}
		session := float32(0)
		if d.sess != none {
			session = l.sess[d.sess]
		}
		score := r.together(r.total[i], max(near, neighbour(s, d, groups)), session)
		if score > 0 {
			r.cand = append(r.cand, candidate{scope: at, doc: uint32(i), score: score})
		}
	}
}

// likeness is a cosine as a share of the way from the least to the greatest.
func (r *search) likeness(c float32) float32 {
	if r.most <= r.least {
		return 0
	}
	return (c - r.least) / (r.most - r.least)
}

// together fuses the parts of a document's score: its own and its best
// neighbour's, of at most 1, and its session's words.
func (r *search) together(own, near, session float32) float32 {
	return (own + NearWeight*near + SessionWeight*session/r.top) / (1 + NearWeight + SessionWeight)
}

// choose keeps the best candidates, in order.
func (r *search) choose() {
	limit := r.q.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	if len(r.cand) > 8*limit {
		// Most candidates share one common word: a threshold from a sample
		// spares sorting them.
		r.cand = prune(r.cand, limit)
	}
	slices.SortFunc(r.cand, r.order)
	r.cand = r.cand[:min(limit, len(r.cand))]
}

func (r *search) order(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	x, y := r.memory(a), r.memory(b)
	if c := y.CreatedAt.Compare(x.CreatedAt); c != 0 {
		return c
	}
	return cmp.Compare(x.ID, y.ID)
}

func (r *search) memory(c candidate) *store.Memory { return r.scopes[c.scope].docs[c.doc].mem }

// prune drops candidates that can't be among the best limit: those below the
// limit-th of the counts by score.
func prune(cand []candidate, limit int) []candidate {
	const bins = 256
	var count [bins + 1]int
	bin := func(c candidate) int { return min(bins, int(c.score*bins)) }
	for _, c := range cand {
		count[bin(c)]++
	}
	floor, n := bins, count[bins]
	for floor > 0 && n < limit {
		floor--
		n += count[floor]
	}
	kept := cand[:0]
	for _, c := range cand {
		if bin(c) >= floor {
			kept = append(kept, c)
		}
	}
	return kept
}

func zeroed(s []float32, n int) []float32 {
	if cap(s) < n {
		return make([]float32, n)
	}
	s = s[:n]
	clear(s)
	return s
}

// sized is zeroed without the zeroes.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
