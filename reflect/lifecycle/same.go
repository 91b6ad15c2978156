package lifecycle

import (
	"slices"
	"strings"
	"time"

	"hindsight/reflect/extract"
	"hindsight/reflect/wording"
	"hindsight/store"
)

// repeats says whether the assistant or a tool only said again what a memory
// had told it.
func (f *fit) repeats(c extract.Candidate) bool {
	return slices.ContainsFunc(f.in.Injected, func(m store.Memory) bool {
		return len(wording.MissingNumbers(c.Text, m.Text)) == 0 && len(wording.MissingNames(c.Text, m.Text)) == 0 &&
			(wording.Near(c.Text, m.Text) > Near || wording.Shared(c.Text, m.Text) >= 0.6)
	})
}

// twin is the index of a live memory that says the same, or -1. The dear
// comparisons come last: a scope may hold ten thousand memories.
func (f *fit) twin(m store.Memory, c extract.Candidate) int {
	return slices.IndexFunc(f.live, func(o store.Memory) bool {
		if o.Scope != m.Scope && o.Scope != f.in.Job.Owner.Scope() {
			return false
		}
		if o.ID == m.ID || same(o, m) || told(o, m.Evidence[0]) && (fromOneSentence(m, o) && sameClaims(o, m) || wording.Keeps(o.Text, m.Text) && wording.Near(o.Text, m.Text) >= Related) {
			return true
		}
		if m.About != "" && m.About == o.About && strings.HasPrefix(m.About, "value ") && sameClaims(o, m) {
			return true // but for the number, which is the same, the words are too
		}
		if c.Relation != extract.SameAs || c.RelationID != o.ID || !f.related(m, o) {
			return false
		}
		return wording.SameClaims(o.Text, m.Text) && !wording.Swapped(o.Text, m.Text) && !wording.Replaced(o.Text, m.Text) &&
			(wording.Rearranged(o.Text, m.Text) || !wording.Permuted(o.Text, m.Text) && !wording.NamesInverted(o.Text, m.Text))
	})
}

// same says whether two memories say the same without anybody's judgement:
// the same folded text, or a near-equal one with the same words and claims.
func same(a, b store.Memory) bool { return Duplicate(a.Text, b.Text) }

// Duplicate says whether one of two texts adds nothing to the other, as far as
// code can tell: near-equal, with the same numbers, times, names, denials and
// words that carry meaning, in the same order, in whichever person they speak
// of the user.
func Duplicate(a, b string) bool {
	if extract.Reports(a) != extract.Reports(b) {
		a, b = extract.First(a), extract.First(b)
	}
	a, b = wording.SpelledOut(a), wording.SpelledOut(b)
	if store.Fold(a) == store.Fold(b) {
		return true
	}
	if !alike(len(a), len(b)) || otherDigits(a, b) {
		return false
	}
	n := wording.Near(a, b)
	if n <= Near && (n < Related || wording.NearForm(a, b) <= Near) {
		return false
	}
	return wording.SameWords(a, b) && !wording.Inverted(a, b) && wording.SameClaims(a, b) && !turned(a, b)
}

// otherDigits says whether two texts of which both hold numbers in digits hold
// as many, and others: a cheap look before the dear ones.
func otherDigits(a, b string) bool {
	x, y := strings.FieldsFunc(a, noDigit), strings.FieldsFunc(b, noDigit)
	slices.Sort(x)
	slices.Sort(y)
	return len(x) == len(y) && !slices.Equal(x, y)
}

func noDigit(r rune) bool { return r < '0' || r > '9' }

// sameClaims says whether two memories agree in everything that code decides.
func sameClaims(a, b store.Memory) bool {
	return wording.SameClaims(a.Text, b.Text) && !turned(a.Text, b.Text)
}

// turned says whether two texts are the same words in another order, or the
// same comparison the other way round: never one memory.
func turned(a, b string) bool { return wording.Permuted(a, b) || wording.Swapped(a, b) }

// alike says whether texts of these lengths may be near-equal, numbers written
// in another way included.
func alike(a, b int) bool { return min(a, b)*3 >= max(a, b)*2 }

// fromOneSentence says whether two memories rest on the same words of one
// turn: a model and a rule wrote the same thing down in two ways.
func fromOneSentence(a, b store.Memory) bool {
	x, y := a.Evidence[0], store.Evidence{}
	for _, e := range b.Evidence {
		if e.Session == x.Session && e.Turn == x.Turn {
			y = e
		}
	}
	return y.Quote != "" && store.Fold(x.Quote) == store.Fold(y.Quote) && a.Type == b.Type && sameSubject(a, b)
}

func sameSubject(a, b store.Memory) bool {
	return a.Subject != "" && store.Fold(a.Subject) == store.Fold(b.Subject)
}

// related says whether a model's word about two memories can be right: they
// have a subject, words or a meaning in common.
func (f *fit) related(m, o store.Memory) bool {
	return sameSubject(m, o) || wording.Near(m.Text, o.Text) >= Related || slices.Contains(f.in.Near[m.Text], o.ID)
}

// refined is the index of the live memory that a candidate gives a fuller form,
// or -1: it is so by the model's judgement, and loses no claim.
func (f *fit) refined(m store.Memory, c extract.Candidate) int {
	i := f.find(c.RelationID)
	if i < 0 || c.Relation != extract.Refines || c.By != store.ByUser {
		return -1
	}
	if o := f.live[i]; o.Scope != m.Scope || o.Type == store.EventType || !f.related(m, o) || !wording.Keeps(m.Text, o.Text) {
		return -1
	}
	return i
}

// claim is what a candidate may retire others with: what its words state, and
// the kinds of standing wish that it settles.
type claim struct {
	states extract.Statement
	wishes []string
}

func claimOf(c extract.Candidate) claim {
	cl := claim{states: extract.State(c.Quote, c.Corrects)}
	if c.Standing && c.Type == store.Preference {
		cl.wishes = wishesOf(c.Quote, c.Text)
	}
	return cl
}

// wishesOf are the kinds of wish in the first of some texts that has any.
func wishesOf(texts ...string) []string {
	for _, s := range texts {
		if w := extract.Wishes(s); len(w) > 0 {
			return w
		}
	}
	return nil
}

// replaces says whether m retires old. Only the user's own word does: it
// contradicts old by the model's judgement, gives another value to a thing of
// which there is one, denies it, or is a newer wish of the same kind.
func (f *fit) replaces(m store.Memory, c extract.Candidate, old store.Memory, by claim) bool {
	if c.By != store.ByUser || old.Scope != m.Scope || old.ID == m.ID || c.Type == store.EventType || after(old, m) {
		return false
	}
	if c.Relation == extract.Contradicts && c.RelationID == old.ID && f.related(m, old) {
		return true
	}
	if slices.ContainsFunc(said(old), by.states.Replaces) {
		return true
	}
	return old.Standing && old.Type == store.Preference && len(by.wishes) > 0 &&
		slices.ContainsFunc(said(old), func(s string) bool { return extract.Displaces(by.wishes, extract.Wishes(s)) })
}

// outdated finds the first of what was stated after a candidate and makes it
// untrue, or nil: the candidate came late.
func (f *fit) outdated(m store.Memory, c extract.Candidate) *store.Memory {
	if c.By != store.ByUser || c.Type == store.EventType {
		return nil
	}
	var next *store.Memory
	words := stems(c.Quote)
	for _, list := range [][]store.Memory{f.live, f.past} {
		for i := range list {
			o := &list[i]
			if o.Scope == m.Scope && o.AttributedTo == store.ByUser && after(*o, m) && (next == nil || after(*next, *o)) && f.ends(o, m, c, words) {
				next = o
			}
		}
	}
	return next
}

// ends says whether a memory's newest words make a candidate untrue.
func (f *fit) ends(o *store.Memory, m store.Memory, c extract.Candidate, words []string) bool {
	if c.Relation == extract.Contradicts && c.RelationID == o.ID && f.related(m, *o) {
		return true
	}
	if o.Standing && c.Standing && o.Type == store.Preference && c.Type == store.Preference &&
		extract.Displaces(wishesOf(said(*o)...), wishesOf(c.Quote, c.Text)) {
		return true
	}
	newest, at := o.Text, time.Time{}
	for _, e := range o.Evidence {
		if !e.Time.Before(at) {
			newest, at = e.Quote, e.Time
		}
	}
	if m.About == "" || m.About != o.About {
		// But for what both name the value of, it takes a word in common.
		low := strings.ToLower(newest)
		if (m.About == "" || o.About != "") && !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(low, w) }) {
			return false
		}
	}
	st, ok := f.states[newest]
	if !ok {
		st = extract.State(newest, false)
		f.states[newest] = st
	}
	return st.Replaces(c.Quote)
}

// stems are the beginnings of the words of a text.
func stems(s string) []string {
	out := wording.Terms(s)
	for i, w := range out {
		if len(w) > 3 && w[0] < 0x80 {
			out[i] = w[:len(w)-1]
		}
	}
	return out
}

// said are the user's own words behind a memory.
func said(m store.Memory) []string {
	out := []string{m.Text}
	for _, e := range m.Evidence {
		out = append(out, e.Quote)
	}
	return out
}
