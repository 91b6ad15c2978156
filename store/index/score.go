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
			r.res.DF[i] += s.frequency(t.Text)
		}
	}
	r.res.Docs = count[own]
	if r.sample != nil && r.sample.DF != nil {
		r.projected(r.res.Docs, slices.Clone(r.res.DF))
	}
	for f := range fields {
		r.mean[f] = float64(total[f]) / float64(max(count[f], 1))
	}
	if r.sample != nil && r.sample.Means != nil {
		r.mean = *r.sample.Means
	}
	for i, df := range r.res.DF {
		r.idf[i] = idf(r.res.Docs, df)
	}
}

// frequency counts the active documents that hold a term.
func (s *scope) frequency(term string) int {
	list := s.list(term)
	if s.active == len(s.docs) {
		return len(list)
	}
	n := 0
	for _, p := range list {
		if s.docs[p.doc].active {
			n++
		}
	}
	return n
}

func idf(n, df int) float64 { return math.Log1p((float64(max(n, df)-df) + 0.5) / (float64(df) + 0.5)) }

func (s *scope) list(term string) []posting {
	t, ok := s.terms[term]
	if !ok {
		return nil
	}
	return s.lists[t]
}

// words scores one scope by words, and lists the documents that can be candidates.
func (r *search) words(l *legs, s *scope) {
	l.begin(len(s.docs))
	l.sess = zeroed(l.sess, len(s.length))
	r.tf = zeroed(r.tf, len(s.length))
	sessions, mean := s.meanSession()
	if r.more != nil {
		if sessions = int(float32(sessions) * r.more.docs); r.sample.Sessions > 0 {
			sessions = r.sample.Sessions
			mean = float32(r.mean[own]) * float32(r.sample.Docs) / float32(sessions)
		}
	}
	norm := r.norms()
	for i, t := range r.q.Terms {
		w := float32(r.idf[i] * t.Weight * (k1 + 1))
		r.said = r.said[:0]
		for _, p := range s.list(t.Text) {
			d := &s.docs[p.doc]
			if d.mem == nil {
				continue
			}
			a := &l.raw[p.doc]
			a.met = true
			if tf := p.tf[scenario]; tf > 0 {
				a.score[scenario] += w * norm[scenario].saturate(float32(tf), d.len[scenario])
			}
			if tf := p.tf[around]; tf > 0 {
				a.score[around] += w * norm[around].saturate(float32(tf), d.len[around])
			}
			if p.tf[own] == 0 {
				continue
			}
			a.score[own] += w * norm[own].saturate(float32(p.tf[own]), d.len[own])
			if d.sess != none && d.active {
				if r.tf[d.sess] == 0 {
					r.said = append(r.said, d.sess)
				}
				r.tf[d.sess] += float32(p.tf[own])
			}
		}
		said := len(r.said)
		if r.more != nil {
			said = int(float32(said) * r.more.terms[i])
		}
		r.bySession(l, s, t, idf(max(sessions, said), said), mean)
	}
	r.reach(l, s)
	for _, i := range l.docs {
		d, a := &s.docs[i], &l.raw[i]
		a.near = max(a.near, a.score[scenario], a.score[around])
		if a.allowed = r.allowed(d); !a.allowed {
			continue
		}
		r.best = max(r.best, a.score[own], a.near)
		if d.sess != none && (a.score[own] > 0 || a.near > 0) {
			r.top = max(r.top, l.sess[d.sess])
		}
	}
}

// begin empties the leg for n documents.
func (l *legs) begin(n int) {
	if l.docs = l.docs[:0]; cap(l.raw) < n {
		l.raw = make([]raw, n)
		return
	}
	l.raw = l.raw[:n]
	clear(l.raw)
}

// reach hands every own score on to the memories one turn before and after, and lists
// what has any score then, in order; with a vector in the query, all.
func (r *search) reach(l *legs, s *scope) {
	for i := range l.raw {
		d := &s.docs[i]
		w := l.raw[i].score[own]
		if w == 0 || d.group == none || !d.active {
			continue
		}
		t := &s.turns[d.group]
		for _, g := range [2]uint32{t.prev, t.next} {
			if g == none {
				continue
			}
			for _, n := range s.turns[g].docs {
				a := &l.raw[n]
				a.near, a.met = max(a.near, w), true
			}
		}
	}
	all := len(r.q.Vector) > 0
	for i := range l.raw {
		if all || l.raw[i].met {
			l.docs = append(l.docs, uint32(i))
		}
	}
}

// groups is the best of the listed documents' scores in each turn.
func (r *search) groups(l *legs, s *scope, score func(doc uint32) float32) []float32 {
	r.group = zeroed(r.group, len(s.turns))
	for _, i := range l.docs {
		if d := &s.docs[i]; d.group != none && d.active {
			r.group[d.group] = max(r.group[d.group], score(i))
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
	if len(r.q.Vector) == 0 {
		l.vectors = false
		return
	}
	if !r.compared {
		l.cos = sized(l.cos, len(s.docs))
		l.vectors = s.vectors.cosines(r.q.Vector, l.cos, &r.room)
	}
	if !l.vectors {
		return
	}
	if r.sample != nil {
		r.least = min(r.least, float32(r.sample.Least))
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

// damping is what BM25 adds to a term's frequency, by the length of the text.
type damping struct {
	mean  float32
	short [64]float32
}

func (r *search) norms() *[fields]damping {
	var out [fields]damping
	for f := range out {
		n := &out[f]
		if n.mean = float32(r.mean[f]); n.mean == 0 {
			n.mean = 1
		}
		for i := range n.short {
			n.short[i] = k1 * (1 - b + b*float32(i)/n.mean)
		}
	}
	return &out
}

func (n *damping) saturate(tf float32, length uint16) float32 {
	if int(length) < len(n.short) {
		return tf / (tf + n.short[length])
	}
	return saturate(tf, float32(length), n.mean)
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

// meanSession counts the sessions that have words, and their mean length.
func (s *scope) meanSession() (n int, mean float32) {
	total := 0
	for _, l := range s.length {
		if l > 0 {
			n++
			total += l
		}
	}
	return n, float32(total) / float32(max(n, 1))
}

// bySession adds one term to the scores of sessions, each of which counts as one
// text: the own texts of its memories. It leaves r.tf empty.
func (r *search) bySession(l *legs, s *scope, t Term, idf float64, mean float32) {
	w := float32(idf * t.Weight * (k1 + 1))
	for _, i := range r.said {
		l.sess[i] += w * saturate(r.tf[i], float32(s.length[i]), mean)
		r.tf[i] = 0
	}
}

// fuse scores one scope's documents by both legs and adds its candidates. It needs
// what words and meaning found in all scopes.
func (r *search) fuse(at int, l *legs, s *scope) {
	r.best, r.top = max(r.best, 1e-9), max(r.top, 1e-9)
	total := func(i uint32) float32 {
		w := l.raw[i].score[own] / r.best
		if l.vectors && l.cos[i] != absent {
			return (1-r.share)*w + r.share*r.likeness(l.cos[i])
		}
		return w
	}
	var groups []float32
	if l.vectors {
		groups = r.groups(l, s, total)
	}
	for _, i := range l.docs {
		a, d := &l.raw[i], &s.docs[i]
		if !a.allowed {
			continue
		}
		near := a.near / r.best
		if l.vectors {
			near = max((1-r.share)*max(a.score[scenario], a.score[around])/r.best, neighbour(s, d, groups))
		}
		session := float32(0)
		if d.sess != none {
			session = l.sess[d.sess]
		}
		if score := r.together(total(i), near, session); score > 0 && score >= r.floor {
			r.add(candidate{scope: at, doc: i, score: score})
		}
	}
}

// add keeps a candidate. From time to time all but the best are dropped, and with
// them whatever comes later and is worse.
func (r *search) add(c candidate) {
	r.cand = append(r.cand, c)
	if limit := r.limit(); len(r.cand) >= 4*limit {
		r.choose()
		r.floor = r.cand[limit-1].score
	}
}

func (r *search) limit() int {
	if r.q.Limit <= 0 {
		return DefaultLimit
	}
	return r.q.Limit
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
	slices.SortFunc(r.cand, r.order)
	r.cand = r.cand[:min(r.limit(), len(r.cand))]
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
