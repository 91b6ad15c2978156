package wording

import (
	"regexp"
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

// Rearranged says whether the second of two texts with the same words only
// moves one part of the first from one end to the other ("in the mornings I
// walk", "I walk in the mornings"), or names the items of a list in another
// order. Both may mean the same; who does what to whom can't be turned so.
func Rearranged(a, b string) bool {
	x, y := listed(a), listed(b)
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for {
		if p, ok := items(x); ok { // before their last items are cut: 德语、英语
			if q, ok := items(y); ok && slices.Equal(p, q) {
				return true
			}
		}
		if len(x) == 0 || len(y) == 0 || x[len(x)-1] != y[len(y)-1] {
			break
		}
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	comma := func(w string) bool { return w == "," }
	x, y = slices.DeleteFunc(x, comma), slices.DeleteFunc(y, comma)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if slices.Equal(slices.Concat(x[i:], x[:i]), y) {
			return true
		}
	}
	return false
}

var listWord = regexp.MustCompile(`\p{Han}|,|[^\s,\p{Han}]+`)

// listed are the words of a text with its commas.
func listed(s string) []string {
	return listWord.FindAllString(strings.TrimRight(Plain(s), ".!? "), -1)
}

// items reads a list of short items; they come sorted.
func items(words []string) (list []string, ok bool) {
	item, n := "", 0
	for _, w := range append(slices.Clone(words), ",") {
		switch w {
		case ",", "and", "or", "和", "与", "及", "或":
			if item == "" && w != "and" && w != "or" || n > 4 {
				return nil, false
			}
			if item != "" {
				list = append(list, item)
			}
			item, n = "", 0
		case "a", "an", "the", "一", "个", "只":
		default:
			if n++; w[0] < 0x80 {
				n++ // two words, or four Chinese characters
			}
			item += w
		}
	}
	slices.Sort(list)
	return list, len(list) > 1
}
