package extract

import (
	"slices"
	"strings"
)

// finder knows the words without which an expression finds nothing, its cues, and
// looks for those of many expressions in one pass, since nearly all texts hold none.
// A cue is written in lower case as the expression would write it: `\b` before a word
// means that it begins there, `\W` behind it that it ends. It has two bytes at least.
type finder struct {
	known    []cueWord
	starting [256][]int // of the known, by their first byte in both cases
}

type cueWord struct {
	name, word     string
	begins, closed bool
}

// cues are some of what a finder knows, 384 at most.
type cues [6]uint64

// meets says whether two sets have a cue in common.
func (c *cues) meets(d cues) bool {
	for i, w := range d {
		if c[i]&w != 0 {
			return true
		}
	}
	return false
}

// meetsAll says whether something of each set is there.
func (c *cues) meetsAll(sets []cues) bool {
	return !slices.ContainsFunc(sets, func(s cues) bool { return !c.meets(s) })
}

// knows adds cues.
func (f *finder) knows(names ...string) (out cues) {
	for _, name := range names {
		i := slices.IndexFunc(f.known, func(w cueWord) bool { return w.name == name })
		if i < 0 {
			i = len(f.known)
			w := cueWord{name: name}
			w.word, w.begins = strings.CutPrefix(name, `\b`)
			w.word, w.closed = strings.CutSuffix(w.word, `\W`)
			f.known = append(f.known, w)
			f.starting[w.word[0]] = append(f.starting[w.word[0]], i)
			if upper := w.word[0] - 'a' + 'A'; lower(upper) == w.word[0] && upper != w.word[0] {
				f.starting[upper] = append(f.starting[upper], i)
			}
		}
		out[i/64] |= 1 << (i % 64)
	}
	return out
}

// spelled are the spellings of names of two words, each of the first with each of the
// second.
func spelled(first, second string, between ...string) (out []string) {
	for _, a := range strings.Fields(first) {
		for _, b := range strings.Fields(second) {
			for _, by := range between {
				out = append(out, a+by+b)
			}
		}
	}
	return out
}

// The letters beyond ASCII that an expression which ignores case takes for one of it.
// For `\b` they are no letters, so that words have no bounds in a text with one.
const longS, kelvin = "\u017f", "\u212a"

var plainLetters = strings.NewReplacer(longS, "s", kelvin, "k")

// in finds the cues of a text.
func (f *finder) in(text string) (out cues) {
	bounds := true
	if strings.Contains(text, longS) || strings.Contains(text, kelvin) {
		text, bounds = plainLetters.Replace(text), false
	}
	for at := range len(text) - 1 {
		if len(f.starting[text[at]]) == 0 {
			continue
		}
		second := lower(text[at+1])
		for _, i := range f.starting[text[at]] {
			w := &f.known[i]
			end := at + len(w.word)
			if w.word[1] != second || end > len(text) || !matches(text[at:end], w.word) {
				continue
			}
			if bounds && (w.begins && at > 0 && wordly(text[at-1]) || w.closed && end < len(text) && wordly(text[end])) {
				continue
			}
			out[i/64] |= 1 << (i % 64)
		}
	}
	return out
}

// matches says whether a text is a word in lower case, of the same length.
func matches(text, word string) bool {
	for i := range len(word) {
		if lower(text[i]) != word[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// wordly says whether a byte is of a word, as `\b` sees it.
func wordly(c byte) bool {
	return 'a' <= lower(c) && lower(c) <= 'z' || '0' <= c && c <= '9' || c == '_'
}
