package index

import (
	"slices"

	"hindsight/store"
)

// about takes a memory into the account of what it gives the value of. Of
// several active ones about one thing the last by [store.Order] is found;
// writers that didn't know of each other may both have left theirs active.
func (s *scope) about(m *store.Memory) {
	if m.About == "" {
		return
	}
	if s.things == nil {
		s.things = map[string][]string{}
	}
	s.things[m.About] = append(s.things[m.About], m.ID)
	s.agree(m.About)
}

// unsaid takes a memory out of that account.
func (s *scope) unsaid(m *store.Memory) {
	if m.About == "" {
		return
	}
	s.things[m.About] = slices.DeleteFunc(s.things[m.About], func(id string) bool { return id == m.ID })
	if len(s.things[m.About]) == 0 {
		delete(s.things, m.About)
		return
	}
	s.agree(m.About)
}

// agree lets the last of the active memories about one thing be found, and no
// other.
func (s *scope) agree(about string) {
	var last *store.Memory
	for _, id := range s.things[about] {
		if m := s.docs[s.byID[id]].mem; m.State == store.Active && (last == nil || store.Order(last, m) < 0) {
			last = m
		}
	}
	for _, id := range s.things[about] {
		d := &s.docs[s.byID[id]]
		switch {
		case d.active && d.mem != last:
			s.count1(d, -1)
			d.active = false
		case !d.active && d.mem == last:
			d.active = true
			s.count1(d, 1)
		}
	}
}
