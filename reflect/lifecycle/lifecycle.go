// Package lifecycle fits what a session taught among the memories that exist.
// [Fit] is a pure function: candidates and the scope's memories in, one
// outcome out, which the store applies in a single transaction, new memories
// before retired ones. [Doubtful] lists the pairs about which a model is worth
// asking first; [Question] and [Answered] are that call's two ends.
//
// Code decides, not the model. Numbers, dates, negations and names come first:
// two texts that differ in one of them are never the same memory, whatever a
// model says of them, and neither are two that differ in one value. The model's
// word counts only for what is left. A candidate that says the same joins its
// evidence, a fuller form becomes a revision of the same memory, and one that
// can't hold beside another retires it, or is retired by it: which of them
// holds follows from when they were said, never from when they arrived.
package lifecycle

import (
	"cmp"
	"runtime"
	"slices"
	"strings"
	"time"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// Near is the likeness (see wording.Near) from which two texts with the same
// claims are one memory.
const Near = 0.85

// Related is the likeness from which a model may relate two texts that don't
// have the same subject.
const Related = 0.4

// maxEvidence bounds the evidence that one memory gathers.
const maxEvidence = 20

// OwnOutput is the reason for dropping what the assistant only repeated from a
// memory that it was given.
const OwnOutput = "own_output"

// Input is what one look back found and what is there already.
type Input struct {
	Job store.Job
	// Scope is where everything goes that was found; empty: the owner's, by type.
	Scope    store.Scope
	Found    extract.Result
	Injected []store.Memory // what the session was given
	Existing []store.Memory // all memories of the owner's scopes
	// Near lists by a candidate's text the ids of memories that are near it by
	// meaning; nil where there are no vectors.
	Near     map[string][]string
	Strategy string
	Now      time.Time
}

// Fit decides for every candidate whether it is new, known, or replaces
// something. Of a memory that changes, the outcome holds the whole new form.
func Fit(in Input) store.Outcome {
	f := &fit{in: in, changed: map[string]int{}, joined: map[string]string{}, states: map[string]extract.Statement{}}
	f.out.Strategy = in.Strategy
	f.out.Dropped = in.Found.Dropped
	f.out.Verdicts = in.Found.Verdicts
	for _, m := range in.Existing {
		switch m.State {
		case store.Active:
			f.live = append(f.live, m)
		case store.Superseded:
			f.past = append(f.past, m)
		}
	}
	f.verdicts()
	for _, c := range inOrder(in.Found.Candidates) {
		runtime.Gosched() // requests go first
		f.place(c)
	}
	for _, c := range in.Found.Held {
		f.hold(c)
	}
	f.out.Memories = append(f.fresh, f.touched...)
	return f.out
}

type fit struct {
	in      Input
	live    []store.Memory               // active ones, this outcome's changes included
	past    []store.Memory               // superseded ones, likewise
	fresh   []store.Memory               // new ones
	touched []store.Memory               // existing ones that change
	changed map[string]int               // index in touched by id
	joined  map[string]string            // by the id that a candidate would have had, the memory that it joined
	states  map[string]extract.Statement // by their words, of memories that are newer than a candidate
	out     store.Outcome
}

// verdicts names the memories that the session confirmed; the store counts
// uses and sets last_verified when it applies the outcome.
func (f *fit) verdicts() {
	for _, v := range f.in.Found.Verdicts {
		if v.Verdict == "confirmed" && f.find(v.ID) >= 0 {
			f.keep(v.ID)
		}
	}
}

// inOrder sorts candidates as they were said, so that of two that contradict
// each other the later one holds. What was found comes by importance.
func inOrder(found []extract.Candidate) []extract.Candidate {
	out := slices.Clone(found)
	slices.SortStableFunc(out, func(a, b extract.Candidate) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.Offset, b.Offset))
	})
	return out
}

// place finds a candidate's place: known already, a fuller form of what is
// known, said before something that makes it untrue, or new.
func (f *fit) place(c extract.Candidate) {
	if c.By != store.ByUser && f.repeats(c) {
		f.drop(c, OwnOutput)
		return
	}
	if id, ok := f.joined[c.RelationID]; ok { // it was related to another candidate
		c.RelationID = id
	}
	m := f.memory(c)
	if slices.ContainsFunc(f.in.Existing, func(o store.Memory) bool { return o.State != store.Active && told(o, m.Evidence[0]) && same(o, m) }) {
		f.out.Merged++ // read already, and past, whatever has become of it
		return
	}
	next := f.outdated(m, c)
	if i := f.twin(m, c); i >= 0 && !between(next, m, f.live[i]) {
		f.join(f.live[i], m)
		return
	}
	if next != nil {
		f.late(m, c, *next)
		return
	}
	if i := f.refined(m, c); i >= 0 {
		f.joined[m.ID] = f.live[i].ID
		m = f.revise(f.live[i], m)
		f.out.Revised++
	} else {
		f.live = append(f.live, m)
		f.fresh = append(f.fresh, m)
	}
	f.keep(m.ID)
	f.released(m)
	by := claimOf(c)
	for _, old := range slices.Clone(f.live) {
		if f.replaces(m, c, old, by) {
			f.supersede(old, m.ID, c.Time)
		}
	}
}

// between says whether something else was said after a late candidate and
// before the memory that says the same was.
func between(next *store.Memory, m, twin store.Memory) bool {
	return next != nil && next.ID != twin.ID && m.ValidFrom.Before(twin.ValidFrom) && !same(*next, m) && after(twin, *next)
}

// supersede retires a memory; id is the one that holds from then on.
func (f *fit) supersede(old store.Memory, id string, from time.Time) {
	old.State, old.SupersededBy, old.ValidTo = store.Superseded, id, from
	old.UpdatedAt = f.in.Now
	f.change(old)
}

// late writes what was true until next was said: it was delivered after it.
// What it had replaced itself, had it come in time, ends with it.
func (f *fit) late(m store.Memory, c extract.Candidate, next store.Memory) {
	if i := slices.IndexFunc(f.past, func(o store.Memory) bool {
		return o.Scope == m.Scope && same(o, m) && (o.ValidTo.IsZero() || !c.Time.After(o.ValidTo))
	}); i >= 0 {
		f.join(f.past[i], m)
		return
	}
	until := next.ValidFrom
	if !until.After(c.Time) {
		until, _ = next.Stated()
	}
	m.State, m.SupersededBy, m.ValidTo = store.Superseded, next.ID, until
	f.fresh = append(f.fresh, m)
	f.past = append(f.past, m)
	f.keep(m.ID)
	by := claimOf(c)
	for _, old := range slices.Clone(f.past) {
		if old.ID != m.ID && old.SupersededBy == next.ID && f.replaces(m, c, old, by) && !after(old, m) {
			f.supersede(old, m.ID, c.Time)
		}
	}
}

// join adds a candidate's evidence to the memory that says the same.
func (f *fit) join(o, m store.Memory) {
	e := m.Evidence[0]
	f.keep(o.ID)
	f.out.Merged++
	f.joined[m.ID] = o.ID
	if told(o, e) {
		return // the same words read again prove nothing more
	}
	f.gather(&o, m)
	if e.Time.Before(o.ValidFrom) {
		o.ValidFrom = e.Time
		for _, old := range slices.Clone(f.past) { // it replaced them earlier than was known
			if old.SupersededBy == o.ID && old.ValidTo.After(e.Time) && !after(old, m) {
				f.supersede(old, o.ID, e.Time)
			}
		}
	}
	f.change(o)
}

// revise gives a memory the fuller words of a candidate; the form before it
// stays in its history.
func (f *fit) revise(o, m store.Memory) store.Memory {
	f.gather(&o, m)
	o.Text, o.Confidence = m.Text, m.Confidence
	o.Subject, o.Scenario = cmp.Or(m.Subject, o.Subject), cmp.Or(m.Scenario, o.Scenario)
	o.About = cmp.Or(m.About, o.About)
	f.change(o)
	return o
}

// gather adds the evidence of a candidate to a memory. A person's word takes
// over what rested on another's.
func (f *fit) gather(o *store.Memory, m store.Memory) {
	e := m.Evidence[0]
	if len(o.Evidence) < maxEvidence {
		o.Evidence = append(slices.Clone(o.Evidence), e)
	} else if at, _ := o.Stated(); e.Time.After(at) {
		o.Evidence = append(slices.Clone(o.Evidence[:maxEvidence-1]), e) // the newest decides the order
	}
	if m.AttributedTo == store.ByUser {
		o.AttributedTo = store.ByUser
	}
	o.LastVerified = later(o.LastVerified, e.Time)
	o.Importance = max(o.Importance, m.Importance)
	o.Standing = o.Standing || m.Standing
	o.UpdatedAt = f.in.Now
}

// told says whether a memory rests on this evidence already.
func told(o store.Memory, e store.Evidence) bool {
	return slices.ContainsFunc(o.Evidence, func(x store.Evidence) bool {
		return x.Session == e.Session && x.Turn == e.Turn && strings.Contains(store.Fold(x.Quote), store.Fold(e.Quote))
	})
}

func (f *fit) find(id string) int {
	return slices.IndexFunc(f.live, func(m store.Memory) bool { return m.ID == id })
}

// change puts the new form of a memory into the outcome, once. A retired one
// is no longer found among the live.
func (f *fit) change(m store.Memory) {
	is := func(o store.Memory) bool { return o.ID == m.ID }
	i, j := f.find(m.ID), slices.IndexFunc(f.past, is)
	switch active := m.State == store.Active; {
	case i >= 0 && active:
		f.live[i] = m
	case j >= 0 && !active:
		f.past[j] = m
	case i >= 0:
		f.live = slices.Delete(f.live, i, i+1)
		f.past = append(f.past, m)
	}
	if i := slices.IndexFunc(f.fresh, is); i >= 0 {
		f.fresh[i] = m
	} else if i, ok := f.changed[m.ID]; ok {
		f.touched[i] = m
	} else {
		f.changed[m.ID] = len(f.touched)
		f.touched = append(f.touched, m)
	}
}

func (f *fit) keep(id string) {
	if !slices.Contains(f.out.Kept, id) {
		f.out.Kept = append(f.out.Kept, id)
	}
}

func (f *fit) drop(c extract.Candidate, reason string) {
	f.out.Dropped = append(f.out.Dropped, store.Dropped{Text: c.Text, Reason: reason})
}
