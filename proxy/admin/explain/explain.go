// Package explain says in words, in English and Chinese, why a turn was given
// the memories that it was given, and why a statement was thrown away. The
// answer's header, GET …/why, the console and `hindsight memories why` tell one
// story because all of them have it from here.
//
// [Tell] makes the story of one exchange; [Lang.Dropped] and [Lang.Status] say
// single words of the contract. A word that isn't known is shown as it is: a
// newer part may use one that this build hasn't heard of.
package explain

import (
	"cmp"
	"slices"
	"strings"

	"hindsight/store"
)

// Story is what recall considered for one exchange, for people.
type Story struct {
	Exchange string `json:"exchange"`
	// Header is the answer's Hindsight-Status, word for word.
	Header   string `json:"header"`
	Headline string `json:"headline"`
	Lines    []Line `json:"lines"`
}

// Line is one memory that was considered.
type Line struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Chosen  bool   `json:"chosen"`
	Verdict string `json:"verdict"` // the word
	Because string `json:"because"` // the sentence
	// Final is the score that it was ordered by, Gate the value that had to reach
	// the gate's; both from 0 to 1.
	Final float64 `json:"final"`
	Gate  float64 `json:"gate"`
	Parts []Part  `json:"parts"`
}

// Part is one part of a score: what goes into which other is said by its meaning.
type Part struct {
	Name    string  `json:"name"`
	Label   string  `json:"label"`
	Meaning string  `json:"meaning"`
	Value   float64 `json:"value"`
	// Share says that the value lies between 0 and 1; the others are weights
	// without an upper end.
	Share bool `json:"share"`
}

// order is that of the parts for people: what is matched, what comes of it, the
// gate, then what moves the order.
var order = []string{
	"final", "similarity", "vector", "above", "words", "own", "near", "session", "coverage",
	"gate", "share", "held", "recency", "importance", "worth", "window",
}

// Tell makes the story of an exchange. The chosen memories come first, the
// others by their score.
func Tell(w *store.Why, l Lang) Story {
	s := Story{Exchange: w.Exchange, Header: Header(w.Status, w.Reason, w.Degraded), Headline: l.Status(w.Status, w.Reason, w.Degraded), Lines: []Line{}}
	for _, c := range w.Considered {
		because := c.Verdict
		if c.Parts["standing"] > 0 { // it wasn't searched for
			because = "standing"
		}
		s.Lines = append(s.Lines, Line{
			ID: c.ID, Text: c.Text, Chosen: c.Verdict == "chosen", Verdict: c.Verdict, Because: l.Verdict(because),
			Final: c.Parts["final"], Gate: c.Parts["gate"], Parts: l.Parts(c.Parts),
		})
	}
	slices.SortStableFunc(s.Lines, func(x, y Line) int {
		if x.Chosen != y.Chosen {
			if x.Chosen {
				return -1
			}
			return 1
		}
		return cmp.Compare(y.Final, x.Final)
	})
	return s
}

// Header is the value of the answer's Hindsight-Status.
func Header(status, reason, degraded string) string {
	if reason != "" {
		status += ";reason=" + reason
	}
	if degraded != "" {
		status += ";degraded=" + degraded
	}
	return status
}

// Status says what an answer's status means, with its reason.
func (l Lang) Status(status, reason, degraded string) string {
	parts := []string{l.word("status", status)}
	if reason != "" {
		parts = append(parts, l.word("reason", reason))
	}
	if degraded != "" {
		parts = append(parts, l.word("degraded", degraded))
	}
	return strings.Join(parts, l.Space())
}

// Verdict says why a memory was chosen or wasn't.
func (l Lang) Verdict(word string) string { return l.word("verdict", word) }

// Dropped says why reflection threw a statement away.
func (l Lang) Dropped(reason string) string { return l.word("dropped", reason) }

// Cause says what made a revision of a memory.
func (l Lang) Cause(c store.Cause) string { return l.word("cause", string(c)) }

// Parts puts the parts of a score in their order, with what they mean. Parts
// that nobody has described come last, by name.
func (l Lang) Parts(parts map[string]float64) []Part {
	names := make([]string, 0, len(parts))
	for n := range parts {
		names = append(names, n)
	}
	place := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortFunc(names, func(x, y string) int { return cmp.Or(cmp.Compare(place(x), place(y)), cmp.Compare(x, y)) })
	out := make([]Part, len(names))
	for i, n := range names {
		out[i] = Part{Name: n, Label: l.word("part", n), Meaning: l.optional("meaning", n), Value: parts[n], Share: share(n)}
	}
	return out
}

// share says whether a part of a score lies between 0 and 1.
func share(part string) bool {
	switch part {
	case "final", "similarity", "vector", "words", "coverage", "share", "recency", "importance", "worth":
		return true
	}
	return false
}
