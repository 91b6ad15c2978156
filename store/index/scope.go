package index

import (
	"slices"
	"sync"

	"hindsight/store"
)

// The fields of a memory that are indexed apart.
const (
	own      = iota // text and subject
	scenario        // of future use
	around          // evidence: the quote with a turn on each side
	fields
)

// none is the absence of a group or session.
const none = ^uint32(0)

// scope is the inverted index of one scope. Memories get numbers in the order
// of arrival; a changed one gets a new number and its old one is dead until
// the next sweep.
type scope struct {
	mu      sync.RWMutex
	version uint64
	seen    uint64 // version of the vectors

	terms  map[string]uint32
	lists  [][]posting // by term, ascending by doc
	bridge []uint32    // by term: the term of its concept, or none
	docs   []doc
	byID   map[string]uint32
	things map[string][]string // ids by what they give the value of
	dead   int
	active int // documents
	bytes  int
	// unsaved counts the changes that the last snapshot doesn't show.
	unsaved int

	// total and count give the mean length of a field over active memories.
	total, count [fields]int

	groups   map[turnKey]uint32
	turns    []turn // by group
	sessions map[string]uint32
	length   []int // by session: terms of its active memories' own texts

	vectors     vectorSet
	vectorBytes int // of them, as they are counted in bytes
}

// empty says that a scope has no active memory at a version.
func (s *scope) empty(version uint64) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.version == version && s.active == 0
}

type posting struct {
	doc uint32
	tf  [fields]uint8
}

// doc is one memory, with what a search asks of every one of them beside it: a
// look at the memory itself would be a walk through all of main memory.
type doc struct {
	mem      *store.Memory // nil: dead
	len      [fields]uint16
	vector   uint32 // its slot, or none
	group    uint32
	sess     uint32
	active   bool
	timed    bool // valid from or to some time
	standing bool
}

// turn joins the memories of one turn of one session to those of the turns
// before and after it.
type turn struct {
	prev, next uint32
	docs       []uint32
}

type turnKey struct {
	sess uint32
	turn int
}

// emptyScope has room for n memories.
func emptyScope(n int) *scope {
	return &scope{
		terms: make(map[string]uint32), docs: make([]doc, 0, n), byID: make(map[string]uint32, n),
		groups: make(map[turnKey]uint32), sessions: make(map[string]uint32),
	}
}

func newScope(mems []store.Memory, version uint64) *scope {
	s := emptyScope(len(mems))
	s.version = version
	a := &analyser{memo: make(map[string]string, 4096)}
	for i := range mems {
		s.put(a, mems[i])
	}
	s.clip()
	return s
}

// clip gives every list exactly the room that it needs, out of one array.
func (s *scope) clip() {
	n := 0
	for _, l := range s.lists {
		n += len(l)
	}
	all := make([]posting, 0, n)
	for t, l := range s.lists {
		from := len(all)
		all = append(all, l...)
		s.lists[t] = all[from:len(all):len(all)]
	}
}

// refresh takes over what changed since the last time. False means that the
// scope must be loaded again.
func (s *scope) refresh(src Source, vec Vectors, key slotKey) bool {
	// Vectors first: the memory of one that is seen now can be seen then.
	seen := uint64(0)
	if vec != nil {
		seen = vec.VectorVersion(key.tenant, key.scope)
	}
	now := src.ScopeVersion(key.tenant, key.scope)
	s.mu.RLock()
	current := s.version == now && s.seen == seen
	s.mu.RUnlock()
	if current {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var fresh []freshVector
	if s.seen != seen {
		var ok bool
		s.seen, ok = vec.VectorChanges(key.tenant, key.scope, s.seen, func(id string, values []float32) {
			fresh = append(fresh, freshVector{id, slices.Clone(values)})
		})
		if !ok {
			return false
		}
	}
	if s.version != now {
		mems, version, ok := src.ScopeChanges(key.tenant, key.scope, s.version)
		if !ok {
			return false
		}
		a := new(analyser)
		for i := range mems {
			s.put(a, mems[i])
		}
		s.version = version
		s.unsaved += len(mems)
	}
	for _, v := range fresh {
		s.embed(v.id, v.values)
	}
	s.unsaved += len(fresh)
	if s.dead > 1000 && s.dead > len(s.docs)/3 {
		s.sweep()
	}
	return true
}

// freshVector is a changed vector; without values it is gone.
type freshVector struct {
	id     string
	values []float32
}

// embed gives a memory its vector, or takes it away.
func (s *scope) embed(id string, values []float32) {
	n, ok := s.byID[id]
	if !ok {
		return
	}
	d := &s.docs[n]
	if d.vector != none {
		s.vectors.drop(d.vector)
		d.vector = none
	}
	if len(values) > 0 {
		d.vector = s.vectors.put(n, values)
	}
	s.countVectors()
}

// countVectors brings the bytes of the vectors up to date.
func (s *scope) countVectors() {
	is := s.vectors.bytes()
	s.bytes += is - s.vectorBytes
	s.vectorBytes = is
}

func (s *scope) size() (bytes, docs, unsaved int) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.bytes, len(s.docs) - s.dead, s.unsaved
}

// put adds a memory or replaces the one of the same id. Only active and
// archived ones are kept: nothing else is ever searched for.
func (s *scope) put(a *analyser, m store.Memory) {
	vector := s.kill(m.ID, m.Text, m.Subject)
	if m.State != store.Active && m.State != store.Archived {
		if vector != none {
			s.vectors.drop(vector)
		}
		return
	}
	d := doc{group: none, sess: none, vector: vector}
	n := uint32(len(s.docs))
	if vector != none {
		s.vectors.doc[vector] = n
	}
	s.post(a, &d, n, own, m.Text)
	s.post(a, &d, n, own, m.Subject)
	if m.Type == store.Preference {
		s.hit(n, own, s.term(PreferenceConcept))
	}
	s.post(a, &d, n, scenario, m.Scenario)
	m.Evidence = append([]store.Evidence(nil), m.Evidence...)
	for i := range m.Evidence {
		e := &m.Evidence[i]
		s.post(a, &d, n, around, seen(e))
		e.Context = "" // indexed; the store keeps it
	}
	s.join(&d, &m)
}

// join adds a document, whose words are posted, for a memory that is kept as it is.
func (s *scope) join(d *doc, m *store.Memory) {
	n := uint32(len(s.docs))
	if len(m.Evidence) > 0 && m.Evidence[0].Session != "" {
		s.place(d, m.Evidence[0])
	}
	if d.group != none {
		s.turns[d.group].docs = append(s.turns[d.group].docs, n)
	}
	d.mem, d.active, d.standing = m, m.State == store.Active, m.Standing
	d.timed = !m.ValidFrom.IsZero() || !m.ValidTo.IsZero()
	s.docs = append(s.docs, *d)
	s.byID[m.ID] = n
	s.count1(d, 1)
	s.bytes += weight(m)
	s.about(m)
}

// kill takes a memory away and returns its vector's slot if it is also that of
// what stands in its place: its text and subject are these.
func (s *scope) kill(id, text, subject string) (vector uint32) {
	n, ok := s.byID[id]
	if !ok {
		return none
	}
	d := &s.docs[n]
	s.count1(d, -1)
	s.bytes -= weight(d.mem)
	if vector = d.vector; vector != none && (d.mem.Text != text || d.mem.Subject != subject) {
		s.vectors.drop(vector)
		vector = none
	}
	was := d.mem
	d.mem, d.active, d.vector = nil, false, none
	s.dead++
	delete(s.byID, id)
	s.unsaid(was)
	return vector
}

// count1 adds a memory to the sums that searching needs, or takes it out.
func (s *scope) count1(d *doc, sign int) {
	if !d.active {
		return
	}
	s.active += sign
	for f, n := range d.len {
		if n > 0 {
			s.total[f] += sign * int(n)
			s.count[f] += sign
		}
	}
	if d.sess != none {
		s.length[d.sess] += sign * int(d.len[own])
	}
}

func (s *scope) post(a *analyser, d *doc, n uint32, field int, text string) {
	if text == "" {
		return
	}
	a.scan(text, func(t Token) {
		id := s.term(t.Text)
		s.hit(n, field, id)
		if c := s.bridge[id]; c != none {
			s.hit(n, field, c)
		}
		if t.Kind == Word || t.Kind == Char || t.Kind == Bigram {
			d.len[field] = min(d.len[field]+1, 1<<15)
		}
	})
}

// term numbers a term, and its concept with it.
func (s *scope) term(text string) uint32 {
	if t, ok := s.terms[text]; ok {
		return t
	}
	t := uint32(len(s.lists))
	s.terms[text] = t
	s.lists = append(s.lists, nil)
	s.bridge = append(s.bridge, none)
	s.bytes += len(text) + 68
	if c := Concept(text); c != "" {
		s.bridge[t] = s.term(c)
	}
	return t
}

// hit counts one occurrence of a term in a field of memory n.
func (s *scope) hit(n uint32, field int, t uint32) {
	l := s.lists[t]
	if len(l) == 0 || l[len(l)-1].doc != n {
		l = append(l, posting{doc: n})
		s.lists[t] = l
		s.bytes += 8
	}
	if tf := &l[len(l)-1].tf[field]; *tf < 255 {
		*tf++
	}
}

// place finds the memory's session and turn, and the turn's neighbours.
func (s *scope) place(d *doc, e store.Evidence) {
	sess, ok := s.sessions[e.Session]
	if !ok {
		sess = uint32(len(s.length))
		s.sessions[e.Session] = sess
		s.length = append(s.length, 0)
		s.bytes += len(e.Session) + 64
	}
	d.sess = sess
	g, ok := s.groups[turnKey{sess, e.Turn}]
	if !ok {
		g = uint32(len(s.turns))
		s.groups[turnKey{sess, e.Turn}] = g
		t := turn{prev: none, next: none}
		if p, ok := s.groups[turnKey{sess, e.Turn - 1}]; ok {
			t.prev, s.turns[p].next = p, g
		}
		if p, ok := s.groups[turnKey{sess, e.Turn + 1}]; ok {
			t.next, s.turns[p].prev = p, g
		}
		s.turns = append(s.turns, t)
		s.bytes += 48
	}
	d.group = g
}
