package store

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Fold is the form in which two texts are the same text: compatibility
// characters folded (NFKC), lower case, white space and punctuation as one
// space, none at the ends. Marks that carry meaning stay where they stand in a
// word or number: the point of 1.5 and of node.js, the minus of -5, the signs
// of C# and 20%.
func Fold(text string) string {
	rs := []rune(strings.ToLower(norm.NFKC.String(text)))
	var b strings.Builder
	b.Grow(len(text))
	gap := false
	for i, r := range rs {
		if separates(rs, i) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte(' ')
			gap = false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// separates says whether the rune at i only divides words.
func separates(rs []rune, i int) bool {
	r := rs[i]
	if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
		return true
	}
	if !unicode.IsPunct(r) {
		return false
	}
	before, after := word(rs, i-1), word(rs, i+1)
	switch r {
	case '.', ',', ':', '\'', '_', '/', '\\', '@', '&':
		return !before || !after
	case '-':
		return before || !after || !unicode.IsDigit(rs[i+1])
	case '#', '%', '*':
		return !before && !after
	}
	return true
}

func word(rs []rune, i int) bool {
	return i >= 0 && i < len(rs) && (unicode.IsLetter(rs[i]) || unicode.IsNumber(rs[i]))
}
