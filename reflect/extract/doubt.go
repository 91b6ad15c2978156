package extract

import (
	"encoding/json"
	"slices"
	"strings"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// Doubt is a statement that failed a check which the model may put right when
// it is asked once more: a number that isn't in the evidence, a quote that
// isn't in its turn, a text that lost something of its quote.
type Doubt struct {
	Reason string
	item   item
}

// Lost is the reason of a [Doubt] about a text that lost a number or a name of
// its quote. It is kept with the quote beside it if nothing better comes.
const Lost = "lost"

// again are the reasons worth a second question, with what the model is told.
// Whoever leaked a secret, obeyed an order or copied an example isn't asked to
// do it better.
var again = map[string]string{
	NoEvidence:    "its event ids are not ids of <events>",
	NoQuote:       "the quote does not stand word for word in an event of \"events\"",
	NewNumber:     "the text holds a number that its events do not hold",
	NewName:       "the text holds a name that its events do not hold",
	NewDate:       "the text names a day or time that its events do not name",
	Turned:        "the text says the opposite of its events, or turns round what they compare",
	NewNegation:   "the text denies what its events affirm, or affirms what they deny",
	Ungrounded:    "the text uses words that nobody said",
	OtherLanguage: "the text is not in the language in which it was said",
	Lost:          "the text lost a number or a name of its quote",
}

// verdict is what became of one item.
type verdict struct {
	candidate *Candidate
	held      bool   // the candidate waits for a person's word
	dropped   string // a reason, if the item as it was written isn't kept
	doubt     string // a reason to ask again
	item      item
}

// into adds what became of an item that cites these turns.
func (v verdict) into(res *Result, turns []int) {
	if v.dropped != "" {
		res.Dropped = append(res.Dropped, drop(v.item.Text, v.dropped, turns...))
	}
	switch {
	case v.held:
		v.candidate.Why = v.dropped
		res.Held = append(res.Held, *v.candidate)
	case v.candidate != nil:
		res.Candidates = append(res.Candidates, *v.candidate)
	}
	little := v.candidate == nil && v.item.Importance != nil && *v.item.Importance < MinImportance
	if reason := or(v.doubt, v.dropped); again[reason] != "" && !little { // what wouldn't be kept isn't worth a call
		res.Doubts = append(res.Doubts, Doubt{reason, v.item})
	}
}

// Once builds the one question about all that is in doubt: the same fixed
// part, the turns that the doubtful statements name, and what is wrong with
// each. ok is false if there is nothing to ask.
func Once(m Material, doubts []Doubt) (fixed, data string, ok bool) {
	if len(doubts) == 0 {
		return "", "", false
	}
	var b strings.Builder
	b.WriteString(question(focused(m, doubts)))
	b.WriteString("You have looked at this before. These statements of yours failed a check. Write \"items\" with each of them put right, in the same order and with the same members; leave out what the events do not say. Nothing else: no new statements, and \"injected\" is [].\n<failed>\n")
	for _, d := range doubts {
		raw, err := json.Marshal(d.item)
		if err != nil { // numbers out of an answer are finite
			continue
		}
		writeLine(&b, map[string]any{"why": again[d.Reason], "item": json.RawMessage(Redact(string(raw)))})
	}
	b.WriteString("</failed>\n")
	return m.Strategy.Fixed(), b.String(), true
}

// focused is the material with the turns alone that the doubts are about; all
// of it where one of them names no event.
func focused(m Material, doubts []Doubt) Material {
	turns := map[int]bool{}
	for _, d := range doubts {
		found := false
		for _, e := range m.Events {
			if slices.Contains(d.item.Events, e.ID) || wording.Weight(d.item.Quote) >= minQuote && wording.Contains(visible(e.Text), d.item.Quote) {
				turns[e.Turn], found = true, true
			}
		}
		if !found {
			return m
		}
	}
	m.Events = slices.DeleteFunc(slices.Clone(m.Events), func(e Event) bool { return !turns[e.Turn] })
	m.Injected = nil
	return m
}

// Mended joins what the second answer put right with the first. second was
// read from the whole material by [Read]. What it couldn't put right stays as
// the first answer left it: dropped, or with the quote beside it.
func Mended(first, second Result) Result {
	news := slices.DeleteFunc(slices.Clone(second.Candidates), func(c Candidate) bool {
		return !slices.ContainsFunc(first.Doubts, func(d Doubt) bool { return answers(c, d) })
	})
	first.Candidates, first.Dropped = slices.Clone(first.Candidates), slices.Clone(first.Dropped)
	first.Held = append(slices.Clone(first.Held), second.Held...)
	for _, c := range news[:min(len(news), len(first.Doubts))] {
		same := slices.IndexFunc(first.Candidates, func(f Candidate) bool {
			return overlap(f.Quote, c.Quote) && f.Turn == c.Turn && (f.Thin || wording.Keeps(f.Text, c.Text))
		})
		switch {
		case same < 0:
			first.Candidates = append(first.Candidates, c)
		case first.Candidates[same].Thin && !c.Thin:
			c.Explicit = c.Explicit || first.Candidates[same].Explicit
			first.Candidates[same] = c
		}
	}
	for _, d := range second.Dropped {
		if !slices.Contains(first.Dropped, d) {
			first.Dropped = append(first.Dropped, d)
		}
	}
	first.Doubts = nil
	return first
}

// answers says whether a candidate is about what was in doubt.
func answers(c Candidate, d Doubt) bool {
	return c.Type == store.Type(d.item.Type) && (overlap(c.Quote, d.item.Quote) || wording.Near(c.Text, d.item.Text) >= 0.4)
}
