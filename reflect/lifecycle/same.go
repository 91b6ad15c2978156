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
		return (near || called || fromOneSentence(m, o)) && wording.SameClaims(o.Text, m.Text)
	})
}

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

// replaces says whether m retires old. Only the user's own word does: it
// contradicts old by the model's judgement, refines it without losing a claim,
// or gives another value to a thing of which there is one.
// slotted says whether the candidate's quote has a slot at all.
func (f *fit) replaces(m store.Memory, c extract.Candidate, old store.Memory, slotted bool) bool {
	if c.By != store.ByUser || old.Scope != m.Scope || old.ID == m.ID || c.Type == store.EventType {
		return false
	}
	named := c.RelationID == old.ID && related(m, old)
	switch {
	case named && c.Relation == extract.Contradicts:
		return true
	case named && c.Relation == extract.Refines:
		return wording.Keeps(m.Text, old.Text)
	}
	return slotted && old.AttributedTo == store.ByUser && slices.ContainsFunc(said(old), func(s string) bool { return extract.SameSlot(c.Quote, s) })
}

// said are the user's own words behind a memory.
func said(m store.Memory) []string {
	out := []string{m.Text}
	for _, e := range m.Evidence {
		out = append(out, e.Quote)
	}
	return out
}
