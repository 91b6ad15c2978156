package extract

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// proven says whether a statement may be used as it is. The user's word may. What
// a tool, a document or the assistant says waits until it was seen to work or
// somebody took it up: a lesson or a solution needs a failure that was solved, or
// the user's word that it helped; what a tool reports to have happened needs the
// assistant to have told the user so.
func (g *ground) proven(c Candidate, at int, cited []int) bool {
	switch {
	case c.By == store.ByUser:
		return true
	case c.Type == store.EventType:
		return c.By == store.ByAssistant || g.m.Events[at].Role == Tool && g.takenUp(c.Text, at)
	}
	return g.solved(cited) || g.confirmed(at)
}

// takenUp says whether the assistant told the user after an event what a text
// says, numbers and names included.
func (g *ground) takenUp(text string, at int) bool {
	return slices.ContainsFunc(g.m.Events[at+1:], func(e Event) bool {
		return e.Role == Assistant && !e.Untrusted && wording.Shared(text, e.Text) >= 0.5 &&
			len(wording.MissingNumbers(text, e.Text)) == 0 && len(wording.MissingNames(text, e.Text)) == 0
	})
}

// unmasked is a text with its letters as a reader takes them: look-alikes of
// other alphabets are Latin, and words that are s p a c e d out are joined.
func unmasked(s string) string {
	s = lookalikes.Replace(norm.NFKC.String(s))
	return spelt.ReplaceAllStringFunc(s, func(word string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" .·-_", r) {
				return -1
			}
			return r
		}, word)
	})
}

var (
	spelt      = regexp.MustCompile(`(?:(?:^|\b)\p{L}[ .·_-]){2,}\p{L}\b|(?:\p{Han}[ .·_-]){2,}\p{Han}`)
	lookalikes = strings.NewReplacer(
		"а", "a", "е", "e", "о", "o", "р", "p", "с", "c", "у", "y", "х", "x", "і", "i", "ј", "j", "ѕ", "s", "ԁ", "d", "һ", "h", "ӏ", "l", "к", "k", "м", "m", "т", "t", "в", "b", "н", "h",
		"А", "A", "В", "B", "Е", "E", "К", "K", "М", "M", "Н", "H", "О", "O", "Р", "P", "С", "C", "Т", "T", "У", "Y", "Х", "X", "І", "I", "Ј", "J", "Ѕ", "S",
		"α", "a", "ε", "e", "ι", "i", "κ", "k", "ν", "v", "ο", "o", "ρ", "p", "τ", "t", "υ", "u", "χ", "x", "Α", "A", "Β", "B", "Ε", "E", "Ζ", "Z", "Η", "H", "Ι", "I", "Κ", "K", "Μ", "M", "Ν", "N", "Ο", "O", "Ρ", "P", "Τ", "T", "Υ", "Y", "Χ", "X",
	)
)
