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

// words scores one scope and adds its candidates.
func (r *search) words(at int, s *scope) {
	n := len(s.docs)
	for f := range r.score {
		r.score[f] = zeroed(r.score[f], n)
	}
	r.group = zeroed(r.group, len(s.turns))
	for i, t := range r.q.Terms {
		w := float32(r.idf[i] * t.Weight * (k1 + 1))
		for _, p := range s.list(t.Text) {
			d := &s.docs[p.doc]
			for f, tf := range p.tf {
				if tf > 0 && d.mem != nil {
					r.score[f][p.doc] += w * saturate(float32(tf), float32(d.len[f]), float32(r.mean[f]))
				}
			}
		}
	}
	for i := range s.docs {
		d := &s.docs[i]
		if d.group != none && d.active {
			r.group[d.group] = max(r.group[d.group], r.score[own][i])
		}
	}
	r.bySession(s)
	for i := range s.docs {
		d := &s.docs[i]
		c := candidate{scope: at, doc: uint32(i), own: r.score[own][i], near: max(r.score[scenario][i], r.score[around][i])}
		if d.group != none {
			if t := s.turns[d.group]; t.prev != none {
				c.near = max(c.near, r.group[t.prev])
			}
			if t := s.turns[d.group]; t.next != none {
				c.near = max(c.near, r.group[t.next])
			}
		}
		if c.own == 0 && c.near == 0 || !r.allowed(d) {
			continue
		}
		if d.sess != none {
			c.session = r.sess[d.sess]
		}
		r.cand = append(r.cand, c)
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
func (r *search) bySession(s *scope) {
	r.sess = zeroed(r.sess, len(s.length))
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
				r.sess[i] += w * saturate(tf, float32(s.length[i]), mean)
			}
		}
	}
}

// fuse scores the candidates and keeps the best, in order.
func (r *search) fuse() {
	for _, c := range r.cand {
		r.best = max(r.best, float64(c.own), float64(c.near))
		r.top = max(r.top, float64(c.session))
	}
	for i := range r.cand {
		c := &r.cand[i]
		c.score = (float64(c.own) + NearWeight*float64(c.near)) / max(r.best, 1e-9)
		if r.top > 0 {
			c.score += SessionWeight * float64(c.session) / r.top
		}
		c.score /= 1 + NearWeight + SessionWeight
	}
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
