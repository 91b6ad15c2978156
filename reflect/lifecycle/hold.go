package lifecycle

import (
	"slices"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// HeldFor is the member of a memory's metadata that says why it waits for a
// person's word.
const HeldFor = "held_for"

// hold keeps a candidate out of use until a person has looked at it. It joins
// nothing, replaces nothing and confirms nothing. What is known already, in use
// or not, isn't asked about again.
func (f *fit) hold(c extract.Candidate) {
	m := f.memory(c)
	m.State, m.Standing, m.Importance = store.Quarantined, false, min(m.Importance, extract.MinImportance)
	m.Metadata = map[string]string{HeldFor: c.Why}
	known := func(o store.Memory) bool { return o.ID == m.ID || same(o, m) }
	if !slices.ContainsFunc(f.in.Existing, known) && !slices.ContainsFunc(f.fresh, known) {
		f.fresh = append(f.fresh, m)
	}
}

// released takes out of quarantine what the user has now said in person: the new
// memory stands for it.
func (f *fit) released(m store.Memory) {
	if m.AttributedTo != store.ByUser {
		return
	}
	for _, o := range f.in.Existing {
		if o.State == store.Quarantined && o.Scope == m.Scope && same(o, m) {
			o.State, o.SupersededBy, o.ValidTo, o.UpdatedAt = store.Superseded, m.ID, m.ValidFrom, f.in.Now
			f.change(o)
		}
	}
}
