package extract

import (
	"slices"
	"strings"
)

// cues are words of which one stands wherever an expression finds something, in
// lower case, as the expression would write them: `\b` before a word means that it
// begins there, `\W` behind it that it ends. Every expression's cues are looked for
// in one pass, since nearly all texts hold none.
type cues []string

// spelled are the spellings of names of two words, each of the first with each of the
// second.
func spelled(first, second string, between ...string) (out cues) {
	for _, a := range strings.Fields(first) {
		for _, b := range strings.Fields(second) {
			for _, by := range between {
				out = append(out, a+by+b)
			}
		}
	}
	return out
}

// cued says which cues of a set stand in a text.
type cued map[string]bool

func (m cued) any(of cues) bool {
	return len(m) > 0 && slices.ContainsFunc(of, func(w string) bool { return m[w] })
}

func (m cued) all(sets []cues) bool {
	return !slices.ContainsFunc(sets, func(s cues) bool { return !m.any(s) })
}

// finder looks for cues by their first byte.
type finder [256][]wanted

type wanted struct {
	name, word     string
	begins, closed bool
}

func newFinder(sets ...cues) *finder {
	var f finder
	for _, name := range slices.Concat(sets...) {
		m := wanted{name: name}
		m.word, m.begins = strings.CutPrefix(name, `\b`)
		m.word, m.closed = strings.CutSuffix(m.word, `\W`)
		if of := &f[m.word[0]]; !slices.Contains(*of, m) {
			*of = append(*of, m)
		}
	}
	return &f
}

// in finds the cues of a text. The result is nil where there is none.
func (f *finder) in(text string) cued {
	low := strings.Map(fold, text)
	loose := strings.Contains(text, longS) || strings.Contains(text, kelvin)
	var out cued
	for i := range len(low) {
		for _, m := range f[low[i]] {
			end := i + len(m.word)
			if !strings.HasPrefix(low[i:], m.word) || !loose && (m.begins && i > 0 && wordly(low[i-1]) || m.closed && end < len(low) && wordly(low[end])) {
				continue
			}
			if out == nil {
				out = make(cued)
			}
			out[m.name] = true
		}
	}
	return out
}

// wordly says whether a byte is of a word, as `\b` sees it.
func wordly(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// The letters beyond ASCII that an expression which ignores case takes for one of it.
// For `\b` they are no letters, so that words have no bounds where one stands.
const longS, kelvin = "\u017f", "\u212a"

// fold is what an expression that ignores case takes a letter for.
func fold(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z':
		return r + 'a' - 'A'
	case r == '\u017f':
		return 's'
	case r == '\u212a':
		return 'k'
	}
	return r
}
