package lifecycle

import (
	"slices"

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

// twin is the index of a live memory that says the same, or -1: the same
// folded text or a near-equal one with the same claims; or what the model
// calls the same, if the claims agree and the texts are related. The dear
// comparisons come last: a scope may hold ten thousand memories.
func (f *fit) twin(m store.Memory, c extract.Candidate) int {
	folded := store.Fold(m.Text)
	return slices.IndexFunc(f.live, func(o store.Memory) bool {
		if o.Scope != m.Scope && o.Scope != f.in.Job.Owner.Scope() {
			return false
		}
		if store.Fold(o.Text) == folded {
			return true
		}
		near := alike(len(o.Text), len(m.Text)) && wording.Near(o.Text, m.Text) > Near
		called := c.Relation == extract.SameAs && c.RelationID == o.ID && related(m, o)
		if near && !wording.Inverted(o.Text, m.Text) || called && !wording.NamesInverted(o.Text, m.Text) || fromOneSentence(m, o) {
			return wording.SameClaims(o.Text, m.Text) && !turned(o.Text, m.Text)
		}
		return false
	})
}

// turned says whether two texts are the same words in another order, or the
// same comparison the other way round: never one memory.
func turned(a, b string) bool { return wording.Permuted(a, b) || wording.Swapped(a, b) }

// alike says whether texts of these lengths can be nearer than [Near].
func alike(a, b int) bool { return min(a, b)*4 >= max(a, b)*3 }

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

func related(a, b store.Memory) bool {
	return sameSubject(a, b) || wording.Near(a.Text, b.Text) >= Related
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
		if cl.wishes = extract.Wishes(c.Quote); len(cl.wishes) == 0 {
			cl.wishes = extract.Wishes(c.Text)
		}
	}
	return cl
}

// replaces says whether m retires old. Only the user's own word does: it
// contradicts old by the model's judgement, refines it without losing a claim,
// gives another value to a thing of which there is one, denies it, or is a
// newer wish of the same kind.
func (f *fit) replaces(m store.Memory, c extract.Candidate, old store.Memory, by claim) bool {
	if c.By != store.ByUser || old.Scope != m.Scope || old.ID == m.ID || c.Type == store.EventType {
		return false
	}
	named := c.RelationID == old.ID && related(m, old)
	switch {
	case named && c.Relation == extract.Contradicts:
		return true
	case named && c.Relation == extract.Refines:
		return wording.Keeps(m.Text, old.Text)
	case old.AttributedTo != store.ByUser:
		return false
	}
	if slices.ContainsFunc(said(old), by.states.Replaces) {
		return true
	}
	return old.Standing && old.Type == store.Preference && len(by.wishes) > 0 &&
		slices.ContainsFunc(said(old), func(s string) bool { return extract.Displaces(by.wishes, extract.Wishes(s)) })
}

// outdated says whether a memory was stated after the candidate and makes it
// untrue: the candidate came late.
func (f *fit) outdated(m store.Memory, c extract.Candidate) bool {
	return c.By == store.ByUser && c.Type != store.EventType && slices.ContainsFunc(f.live, func(o store.Memory) bool {
		if o.Scope != m.Scope || o.AttributedTo != store.ByUser || !latest(o).After(c.Time) {
			return false
		}
		newest := o.Text
		if n := len(o.Evidence); n > 0 {
			newest = o.Evidence[n-1].Quote
		}
		st, ok := f.states[newest]
		if !ok {
			st = extract.State(newest, false)
			f.states[newest] = st
		}
		return st.Replaces(c.Quote)
	})
}

// said are the user's own words behind a memory.
func said(m store.Memory) []string {
	out := []string{m.Text}
	for _, e := range m.Evidence {
		out = append(out, e.Quote)
	}
	return out
}
