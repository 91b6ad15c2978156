// Package lifecycle fits what a session taught among the memories that exist.
// [Fit] is a pure function: candidates and the scope's memories in, one
// outcome out, which the store applies in a single transaction, new memories
// before retired ones.
//
// Code decides, not the model. Numbers, dates, negations and names come first:
// two texts that differ in one of them are never the same memory, whatever a
// model says of them. The model's word counts only for what is left.
package lifecycle

import (
	"cmp"
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

// Known is the reason for dropping what is older than what is known.
const Known = "older"

// Input is what one look back found and what is there already.
type Input struct {
	Job      store.Job
	Found    extract.Result
	Injected []store.Memory // what the session was given
	Existing []store.Memory // all memories of the owner's scopes
	Strategy string
	Now      time.Time
}

// Fit decides for every candidate whether it is new, known, or replaces
// something. Of a memory that changes, the outcome holds the whole new form.
func Fit(in Input) store.Outcome {
	f := &fit{in: in, changed: map[string]int{}, states: map[string]extract.Statement{}}
	f.out.Strategy = in.Strategy
	f.out.Dropped = in.Found.Dropped
	f.out.Verdicts = in.Found.Verdicts
	for _, m := range in.Existing {
		if m.State == store.Active {
			f.live = append(f.live, m)
		}
	}
	f.verdicts()
	for _, c := range inOrder(in.Found.Candidates) {
		f.place(c)
	}
	f.out.Memories = append(f.fresh, f.touched...)
	return f.out
}

type fit struct {
	in      Input
	live    []store.Memory               // active ones, this outcome's changes included
	fresh   []store.Memory               // new ones
	touched []store.Memory               // existing ones that change
	changed map[string]int               // index in touched by id
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

// place finds a candidate's place.
func (f *fit) place(c extract.Candidate) {
	if c.By != store.ByUser && f.repeats(c) {
		f.drop(c, OwnOutput)
		return
	}
	m := f.memory(c)
	if i := f.twin(m, c); i >= 0 {
		f.join(i, m)
		return
	}
	if f.outdated(m, c) {
		f.drop(c, Known)
		return
	}
	var retired []store.Memory
	by := claimOf(c)
	for _, old := range f.live {
		if !f.replaces(m, c, old, by) {
			continue
		}
		if latest(old).After(c.Time) { // delivered late: what it says was true before
			f.drop(c, Known)
			return
		}
		retired = append(retired, old)
	}
	for _, old := range retired {
		f.supersede(old, m, c)
	}
	f.live = append(f.live, m)
	f.fresh = append(f.fresh, m)
	f.keep(m.ID)
}

func (f *fit) supersede(old, by store.Memory, c extract.Candidate) {
	old.State, old.SupersededBy = store.Superseded, by.ID
	if c.Relation != extract.Refines { // what is refined was never untrue
		old.ValidTo = c.Time
	}
	old.UpdatedAt = f.in.Now
	f.change(old)
}

// join adds a candidate's evidence to the memory that says the same.
func (f *fit) join(i int, m store.Memory) {
	o, e := f.live[i], m.Evidence[0]
	f.keep(o.ID)
	if slices.ContainsFunc(o.Evidence, func(x store.Evidence) bool {
		return x.Session == e.Session && x.Turn == e.Turn && strings.Contains(store.Fold(x.Quote), store.Fold(e.Quote))
	}) {
		return // the same words read again prove nothing more
	}
	if len(o.Evidence) < maxEvidence {
		o.Evidence = append(slices.Clone(o.Evidence), e)
	}
	o.LastVerified = later(o.LastVerified, e.Time)
	o.Importance = max(o.Importance, m.Importance)
	o.Standing = o.Standing || m.Standing
	o.UpdatedAt = f.in.Now
	f.change(o)
}

func (f *fit) find(id string) int {
	return slices.IndexFunc(f.live, func(m store.Memory) bool { return m.ID == id })
}

// change puts the new form of a memory into the outcome, once. A retired one
// is no longer found among the live.
func (f *fit) change(m store.Memory) {
	if i := f.find(m.ID); i >= 0 && m.State == store.Active {
		f.live[i] = m
	} else if i >= 0 {
		f.live = slices.Delete(f.live, i, i+1)
	}
	if i := slices.IndexFunc(f.fresh, func(o store.Memory) bool { return o.ID == m.ID }); i >= 0 {
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
