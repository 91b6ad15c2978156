package wording

import (
	"regexp"
	"slices"
	"strings"
)

// exchanged says whether two names or numbers have changed places: each stands
// in the text beside what the evidence has beside the other one, and not beside
// its own ("Tamil at home and English at work").
func exchanged(text, evidence string) bool {
	t := hours(digitised(text))
	all := append(mentioned(text), Numbers(text)...)
	for _, p := range opposites {
		all = append(all, p[0].FindString(t), p[1].FindString(t))
	}
	all = slices.DeleteFunc(sortedUnique(all), func(n string) bool {
		return n == "" || dateWord.MatchString(n) || !names(t, n)
	})
	if len(all) < 2 {
		return false
	}
	e := hours(digitised(evidence))
	all = slices.DeleteFunc(all, func(n string) bool { return !names(e, n) })
	return len(all) > 1 && changedPlaces(all, tokens(t, all), tokens(e, all))
}

// tokens are the words of a text: the given ones, other runs of Latin script, and
// single Chinese characters.
func tokens(s string, whole []string) []string {
	var out []string
	for len(s) > 0 {
		longest := ""
		for _, w := range whole {
			if len(w) > len(longest) && strings.HasPrefix(s, w) && apart(s, 0, len(w)) {
				longest = w
			}
		}
		if longest == "" {
			longest = oneToken.FindString(s)
		}
		if strings.TrimSpace(longest) != "" {
			out = append(out, longest)
		}
		s = s[len(longest):]
	}
	return out
}

var oneToken = regexp.MustCompile(`^(?s:[a-z0-9]+(?:[._/:'-][a-z0-9]+)*|.)`)

func changedPlaces(all, t, e []string) bool {
	inText, inEvidence := once(t), once(e)
	beside := func(a, b string) bool {
		i, ok := inText[a]
		j, also := inEvidence[b]
		if !ok || !also {
			return false
		}
		for _, step := range []int{-1, 1} {
			if s := neighbour(t, i, step); s != "" && s == neighbour(e, j, step) && !slices.Contains(all, s) {
				return true
			}
		}
		return false
	}
	for i, a := range all {
		for _, b := range all[i+1:] {
			if beside(a, b) && beside(b, a) && !beside(a, a) && !beside(b, b) {
				return true
			}
		}
	}
	return false
}

// neighbour is the nearest word that says something, and "" at a list's "and".
func neighbour(words []string, at, step int) string {
	for i := at + step; i >= 0 && i < len(words); i += step {
		if slices.Contains(joins, words[i]) {
			return ""
		}
		if !slices.Contains(placed, words[i]) {
			return words[i]
		}
	}
	return ""
}

// joins stand between the items of a list.
var joins = strings.Fields("and or 和 与 或 及 , . ; ( )")
