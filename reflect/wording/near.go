package wording

import (
	"slices"
	"strings"

	"hindsight/store"
	"hindsight/store/index"
)

// Near is how much of two texts is the same, from 0 to 1: the Jaccard index of
// their folded characters, in threes for Latin script and in twos for Chinese,
// whose words are shorter.
func Near(a, b string) float64 {
	n := 3
	if HasHan(a) && HasHan(b) {
		n = 2
	}
	return jaccard(grams(a, n), grams(b, n))
}

func grams(s string, n int) map[string]bool {
	s = store.Fold(s)
	if n == 2 { // spaces between Chinese characters mean nothing
		s = squeeze(s)
	}
	r := []rune(s)
	out := make(map[string]bool, len(r))
	if len(r) <= n {
		out[string(r)] = true
		return out
	}
	for i := 0; i+n <= len(r); i++ {
		out[string(r[i:i+n])] = true
	}
	return out
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for g := range a {
		if b[g] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}

// SameClaims says whether two texts make the same [Claims]. Without it they are
// never the same statement, however near they are.
func SameClaims(a, b string) bool { return ClaimsOf(a).Same(ClaimsOf(b)) }

// Keeps says whether text holds every number and name of old and agrees with
// it about the negation: nothing that old claims is lost in it.
func Keeps(text, old string) bool {
	return len(MissingNumbers(old, text)) == 0 && len(MissingNames(old, text)) == 0 && Negated(text) == Negated(old)
}

// Masked is a folded text with its numbers taken out: two texts with equal
// masks differ in nothing else.
func Masked(s string) string {
	return strings.Join(strings.Fields(store.Fold(hanRun.ReplaceAllString(wordRun.ReplaceAllString(digits.ReplaceAllString(s, " "), " "), " "))), " ")
}

// Terms lists the words of a text that carry meaning, each once and sorted:
// the index's own terms without bigrams, and without those that reporting
// adds to every statement ("the user", 用户).
func Terms(s string) []string {
	var out []string
	for _, t := range index.Tokens(Simplified(s)) {
		if t.Kind != index.Bigram && !slices.Contains(reporting, t.Text) {
			out = append(out, t.Text)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var reporting = []string{"user", "prefer", "want", "like", "用", "户"}

// Shared is the share of text's terms that the evidence holds too, from 0 to
// 1, however numbers are written and, in Chinese, whatever it is retold with; a text without terms shares all of them.
func Shared(text, evidence string) float64 {
	terms, have := Terms(text), Terms(evidence)
	telling := slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return strings.Contains(reported, t) })
	if share := max(Share(terms, have), Share(telling, have)); share >= 0.5 && len(telling) > 0 {
		return share
	}
	return Share(Terms(digitised(text)), Terms(digitised(evidence)))
}

// Share is [Shared] over lists that [Terms] made.
func Share(terms, have []string) float64 {
	if len(terms) == 0 {
		return 1
	}
	both := 0
	for _, t := range terms {
		if _, ok := slices.BinarySearch(have, t); ok {
			both++
		}
	}
	return float64(both) / float64(len(terms))
}
