package wording

import (
	"slices"
	"strings"
	"unicode"

	"hindsight/store"
)

// Permuted says whether two texts hold the same words, each as often, in
// another order: "Anna manages Bob" and "Bob manages Anna".
func Permuted(a, b string) bool {
	x, y := words(a), words(b)
	if len(x) != len(y) || slices.Equal(x, y) {
		return false
	}
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// Inverted says whether two words that stand once in both texts follow each
// other in another order. Near texts that differ so say different things
// ("from disk to tape", "from tape to disk"), or too much to be sure.
func Inverted(a, b string) bool { return inverted(words(a), words(b)) }

// NamesInverted is [Inverted] over names and numbers alone: of two texts that
// are worded differently, these tell who did what to whom.
func NamesInverted(a, b string) bool {
	keep := append(Names(a), Numbers(a)...)
	only := func(s string) []string {
		return slices.DeleteFunc(words(s), func(w string) bool { return !slices.Contains(keep, w) })
	}
	return inverted(only(a), only(b))
}

func inverted(x, y []string) bool {
	at := once(y)
	last := -1
	mine := once(x)
	for i, w := range x {
		j, ok := at[w]
		if !ok || mine[w] != i {
			continue
		}
		if j < last {
			return true
		}
		last = j
	}
	return false
}

// once is where each word stands that stands once.
func once(words []string) map[string]int {
	at := map[string]int{}
	twice := map[string]bool{}
	for i, w := range words {
		if _, had := at[w]; had {
			twice[w] = true
		}
		at[w] = i
	}
	for w := range twice {
		delete(at, w)
	}
	return at
}

// words are the words of a folded text, function words included, and single
// Chinese characters.
func words(s string) []string {
	var out []string
	for _, w := range strings.Fields(store.Fold(s)) {
		start := 0
		for i, r := range w {
			if !unicode.Is(unicode.Han, r) {
				continue
			}
			if i > start {
				out = append(out, w[start:i])
			}
			out = append(out, string(r))
			start = i + len(string(r))
		}
		if start < len(w) {
			out = append(out, w[start:])
		}
	}
	return out
}
