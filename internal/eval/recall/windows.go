package recall

import (
	"fmt"
	"slices"
)

// Windows cuts every corpus into stretches of n sessions, each a corpus of its
// own: a memory that is younger. A question goes to the window that holds all of
// its evidence, and is left out where none does; those that nothing answers are
// dealt out in turn.
func (s *Set) Windows(n int) *Set {
	out := &Set{Name: fmt.Sprintf("%s in windows of %d sessions", s.Name, n)}
	for _, c := range s.Corpora {
		out.Corpora = append(out.Corpora, c.windows(n)...)
	}
	return out
}

func (c Corpus) windows(n int) []Corpus {
	var sessions []string
	for _, u := range c.Units {
		if !slices.Contains(sessions, u.Session) {
			sessions = append(sessions, u.Session)
		}
	}
	var out []Corpus
	in := map[string]int{} // the window of a unit
	for _, u := range c.Units {
		w := slices.Index(sessions, u.Session) / n
		for len(out) <= w {
			out = append(out, Corpus{Name: fmt.Sprintf("%s/%d", c.Name, len(out)), last: c.last})
		}
		out[w].Units = append(out[w].Units, u)
		in[u.ID] = w
	}
	dealt := 0
	for _, q := range c.Questions {
		w := dealt % len(out)
		if len(q.Relevant) == 0 {
			dealt++
		} else {
			w = in[q.Relevant[0]]
			if slices.ContainsFunc(q.Relevant, func(id string) bool { return in[id] != w }) {
				continue
			}
		}
		q.number = len(out[w].Questions)
		out[w].Questions = append(out[w].Questions, q)
	}
	return out
}
