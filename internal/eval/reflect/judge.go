package reflecteval

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"hindsight/store"
)

// Outcome is what the product made of a case.
type Outcome struct {
	Prior    []store.Memory // as they stand afterwards, in the case's order
	Memories []store.Memory // every other one, whatever its state
	Dropped  []store.Dropped
	Strategy string // how it was found: a prompt's version, rules
}

// Add sorts memories of the case's scope: prior are the ids of those that were
// there before, in the case's order.
func (o *Outcome) Add(all []store.Memory, prior []string) {
	if o.Prior == nil {
		o.Prior = make([]store.Memory, len(prior))
	}
	for _, m := range all {
		if i := slices.Index(prior, m.ID); i >= 0 {
			o.Prior[i] = m
		} else {
			o.Memories = append(o.Memories, m)
		}
	}
}

// Result is what became of one case.
type Result struct {
	ID   string `json:"id"`
	Lang string `json:"lang"`
	Counts
	MissedMust   [][][]string    `json:"missed_must,omitempty"`   // of each expected memory that is missing
	LeakedWords  []string        `json:"leaked_words,omitempty"`  // of must_not_store
	MissedPriors []int           `json:"missed_priors,omitempty"` // that should have been replaced
	Memories     []Kept          `json:"memories"`
	Dropped      []store.Dropped `json:"dropped"`
	Strategy     string          `json:"strategy,omitempty"`
	Error        string          `json:"error,omitempty"` // no answer: nothing else counts

	byType map[store.Type]Counts
}

// Kept is a memory in short.
type Kept struct {
	Type  store.Type  `json:"type"`
	State store.State `json:"state"`
	Text  string      `json:"text"`
}

// Counts are the figures of one or many cases.
type Counts struct {
	Cases           int `json:"cases"`
	Found           int `json:"found"`            // expected memories
	Missed          int `json:"missed"`           //
	Beyond          int `json:"beyond"`           // memories above max_memories
	NothingCases    int `json:"nothing_cases"`    // from which nothing may come
	NothingBroken   int `json:"nothing_broken"`   // of them, those with a memory
	Stored          int `json:"must_not_stored"`  // strings of must_not_store that were stored
	Superseded      int `json:"superseded"`       // as expected
	SupersedeMissed int `json:"supersede_missed"` //
	SupersedeWrong  int `json:"supersede_wrong"`  // priors that were replaced and should stand
	Failed          int `json:"failed"`           // cases without an answer
}

func (c *Counts) add(o Counts) {
	c.Cases += o.Cases
	c.Found += o.Found
	c.Missed += o.Missed
	c.Beyond += o.Beyond
	c.NothingCases += o.NothingCases
	c.NothingBroken += o.NothingBroken
	c.Stored += o.Stored
	c.Superseded += o.Superseded
	c.SupersedeMissed += o.SupersedeMissed
	c.SupersedeWrong += o.SupersedeWrong
	c.Failed += o.Failed
}

// Judge holds an outcome against its case.
func Judge(c Case, o Outcome) Result {
	r := Result{
		ID: c.ID, Lang: c.Lang, Strategy: o.Strategy, Dropped: append([]store.Dropped{}, o.Dropped...),
		Memories: []Kept{}, byType: map[store.Type]Counts{},
	}
	r.Cases = 1
	var active []store.Memory
	for _, m := range o.Memories {
		r.Memories = append(r.Memories, Kept{m.Type, m.State, m.Text})
		if m.State == store.Active {
			active = append(active, m)
		}
	}
	for _, e := range c.Expected {
		counts := r.byType[e.Types[0]]
		if slices.ContainsFunc(active, e.is) || slices.ContainsFunc(o.Prior, e.stands) { // said again: the one that was there
			r.Found++
			counts.Found++
		} else {
			r.Missed++
			counts.Missed++
			r.MissedMust = append(r.MissedMust, e.Must)
		}
		r.byType[e.Types[0]] = counts
	}
	if c.MaxMemories != nil {
		r.Beyond = max(0, len(active)-*c.MaxMemories)
		r.beyondByType(c, active)
	}
	if c.ExpectNothing {
		r.NothingCases = 1
		r.NothingBroken = min(1, len(active))
	}
	for _, s := range c.MustNotStore {
		if slices.ContainsFunc(o.Memories, func(m store.Memory) bool { return holds(m, s) }) {
			r.Stored++
			r.LeakedWords = append(r.LeakedWords, s)
		}
	}
	for i, m := range o.Prior {
		switch wanted, gone := slices.Contains(c.Supersedes, i), m.State != store.Active; {
		case wanted && gone:
			r.Superseded++
		case wanted:
			r.SupersedeMissed++
			r.MissedPriors = append(r.MissedPriors, i)
		case gone:
			r.SupersedeWrong++
		}
	}
	return r
}

// beyondByType counts the memories above the bound under their types: those
// that nothing expects first.
func (r *Result) beyondByType(c Case, active []store.Memory) {
	left := r.Beyond
	for _, wanted := range []bool{false, true} {
		for _, m := range active {
			is := slices.ContainsFunc(c.Expected, func(e Expected) bool { return e.is(m) })
			if left == 0 || is != wanted {
				continue
			}
			counts := r.byType[m.Type]
			counts.Beyond++
			r.byType[m.Type] = counts
			left--
		}
	}
}

// is says whether a memory is the expected one.
func (e Expected) is(m store.Memory) bool {
	text := fold(m.Text)
	has := func(s string) bool { return strings.Contains(text, fold(s)) }
	for _, group := range e.Must {
		if !slices.ContainsFunc(group, has) {
			return false
		}
	}
	return slices.Contains(e.Types, m.Type) && !slices.ContainsFunc(e.MustNot, has)
}

// stands says whether an earlier memory is the expected one, still.
func (e Expected) stands(m store.Memory) bool { return m.State == store.Active && e.is(m) }

// holds says whether a string stands in any part of a memory.
func holds(m store.Memory, s string) bool {
	parts := []string{m.Text, m.Subject, m.Scenario}
	for _, e := range m.Evidence {
		parts = append(parts, e.Quote, e.Context)
	}
	return strings.Contains(fold(strings.Join(parts, "\n")), fold(s))
}

// fold makes case and width alike.
func fold(s string) string { return strings.ToLower(norm.NFKC.String(s)) }
