package index

import "hindsight/store"

// sweep takes dead memories out of every list and numbers the rest anew.
func (s *scope) sweep() {
	number := make([]uint32, len(s.docs))
	kept := s.docs[:0]
	for i, d := range s.docs {
		number[i] = none
		if d.mem != nil {
			number[i] = uint32(len(kept))
			s.byID[d.mem.ID] = number[i]
			kept = append(kept, d)
		}
	}
	clear(s.docs[len(kept):])
	for g := range s.turns {
		docs := s.turns[g].docs[:0]
		for _, n := range s.turns[g].docs {
			if number[n] != none {
				docs = append(docs, number[n])
			}
		}
		s.turns[g].docs = docs
	}
	s.docs, s.dead = kept, 0
	for slot, n := range s.vectors.doc {
		if n != none {
			s.vectors.doc[slot] = number[n]
		}
	}
	for t, l := range s.lists {
		live := l[:0]
		for _, p := range l {
			if n := number[p.doc]; n != none {
				p.doc = n
				live = append(live, p)
			}
		}
		s.bytes -= 8 * (len(l) - len(live))
		s.lists[t] = live
	}
}

// weight estimates what a memory itself takes in bytes.
func weight(m *store.Memory) int {
	n := 640 + len(m.ID) + len(m.Text) + len(m.Subject) + len(m.Scenario)
	for i := range m.Evidence {
		n += 120 + len(m.Evidence[i].Quote) + len(m.Evidence[i].Session)
	}
	for k, v := range m.Metadata {
		n += 64 + len(k) + len(v)
	}
	return n
}
