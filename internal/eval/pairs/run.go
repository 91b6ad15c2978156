package pairs

import (
	"time"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// Judge says how a model relates a pair's second statement to its first.
type Judge func(p Pair, update bool) extract.Relation

// The judges: no model at all, one that is always right, and one that takes
// everything for the same, as small models do.
var (
	None Judge = func(Pair, bool) extract.Relation { return extract.New }
	True Judge = func(_ Pair, update bool) extract.Relation {
		if update {
			return extract.Contradicts
		}
		return extract.SameAs
	}
	Credulous Judge = func(Pair, bool) extract.Relation { return extract.SameAs }
)

// Fate is what became of a pair's two statements.
type Fate string

// The fates.
const (
	Merged   Fate = "merged"   // one memory with the evidence of both
	Replaced Fate = "replaced" // the second retired the first
	Both     Fate = "both"     // two memories stand side by side
)

// Result is a pair and its fate.
type Result struct {
	Pair
	Fate Fate
}

// Run gives each pair to reflection, a session a statement, the second a day
// after the first.
func Run(set []Pair, update bool, judge Judge) []Result {
	out := make([]Result, len(set))
	for i, p := range set {
		out[i] = Result{p, fate(p, judge(p, update))}
	}
	return out
}

func fate(p Pair, relation extract.Relation) Fate {
	owner := store.Owner{Tenant: "eval", User: "u"}
	var known []store.Memory
	at := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	for i, text := range []string{p.First, p.Then} {
		c := extract.Candidate{
			Type: store.UserFact, Text: text, Quote: text, Subject: "pair", By: store.ByUser, Turn: 1,
			Time: at.AddDate(0, 0, i), Importance: 0.8, Confidence: 0.9,
		}
		if i == 1 {
			c.Relation, c.RelationID = relation, known[0].ID
		}
		res := lifecycle.Fit(lifecycle.Input{
			Job:   store.Job{Session: string(rune('a' + i)), To: 1, Owner: owner},
			Found: extract.Result{Candidates: []extract.Candidate{c}}, Existing: known, Now: c.Time,
		})
		if i == 1 {
			switch {
			case res.Merged > 0:
				return Merged
			case len(res.Memories) > 1:
				return Replaced
			}
			return Both
		}
		known = res.Memories
		known[0].Revision = 1
	}
	return Both
}

// Count counts the results of a language that had a fate.
func Count(rs []Result, language string, f Fate) (had, all int) {
	for _, r := range rs {
		if r.Language == language {
			all++
			if r.Fate == f {
				had++
			}
		}
	}
	return had, all
}
