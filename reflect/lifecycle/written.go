package lifecycle

import (
	"slices"
	"strings"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// SaidBefore is how often a statement that somebody writes has been written and
// has ended since: replaced by another, forgotten, archived. Written again, it is
// a statement of its own, which takes this number for its turn, and says nothing
// about the ones before it.
func SaidBefore(existing []store.Memory, l store.Lesson, c extract.Candidate) int {
	n := 0
	folded, said := store.Fold(c.Text), store.Fold(c.Quote)
	ids := map[string]bool{}
	for _, o := range existing {
		if o.State == store.Active {
			continue
		}
		ids[o.ID] = true
		for _, e := range o.Evidence {
			if e.Session == "" && e.Turn >= n && strings.Contains(store.Fold(e.Quote), said) {
				n = e.Turn + 1
			}
		}
	}
	for ids[store.MemoryID(l.Owner.Tenant, l.Scope, "", uint64(n), uint64(n), c.Subject, folded)] {
		n++
	}
	return n
}

// Likely are the memories that [Doubtful] may find near a candidate: of its
// subject, near it by meaning, or of much the same letters. The comparison of
// all ten thousand of a scope would take longer than everything else of a write.
func Likely(existing []store.Memory, c extract.Candidate, near []string) []store.Memory {
	letters := lettersOf(c.Text)
	var out []store.Memory
	for i := range existing {
		o := &existing[i]
		if o.State != store.Active {
			continue
		}
		if slices.Contains(near, o.ID) || c.Subject != "" && store.Fold(o.Subject) == store.Fold(c.Subject) ||
			alike(len(o.Text), len(c.Text)) && letters.apart(lettersOf(o.Text)) <= len(c.Text)/3 {
			out = append(out, *o)
		}
	}
	return out
}

// letters count the bytes of a text by their low bits, so that letter case and
// order are nothing.
type letters [32]int

func lettersOf(s string) letters {
	var l letters
	for i := range len(s) {
		if s[i] > ' ' {
			l[s[i]&31]++
		}
	}
	return l
}

// apart is how many bytes one text has more or fewer than the other.
func (l letters) apart(o letters) int {
	n := 0
	for i := range l {
		n += max(l[i]-o[i], o[i]-l[i])
	}
	return n
}
