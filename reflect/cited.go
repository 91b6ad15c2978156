package hreflect

import (
	"slices"
	"strings"
	"unicode"

	"hindsight/reflect/extract"
	"hindsight/store"
)

// cited adds to verdicts that an injected memory was used where an answer names
// its id, as inject.cite asks the model to. What reflection says of it otherwise
// stays, unless it overlooked the use.
func (v *review) cited(verdicts []store.Verdict) []store.Verdict {
	var ids []string // as they stand in answers
	for _, e := range v.events {
		if e.Role != extract.Assistant {
			continue
		}
		for _, w := range strings.FieldsFunc(e.Text, func(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(w) >= store.ShortID && w[0] == 'm' {
				ids = append(ids, w)
			}
		}
	}
	for _, m := range v.injected {
		if !slices.ContainsFunc(ids, func(id string) bool { return strings.HasPrefix(m.ID, id) }) {
			continue
		}
		i := slices.IndexFunc(verdicts, func(o store.Verdict) bool { return o.ID == m.ID })
		switch {
		case i < 0:
			verdicts = append(verdicts, store.Verdict{ID: m.ID, Verdict: "used"})
		case verdicts[i].Verdict == "ignored":
			verdicts[i].Verdict = "used"
		}
	}
	return verdicts
}
