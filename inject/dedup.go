package inject

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hindsight/store"
	"hindsight/store/index"
)

// sameText is the Jaccard similarity above which two memories say the same.
const sameText = 0.85

// What two memories of one subject must have in common to be one line, in all
// or beside the subject's own words: a subject alone may be as wide as the
// person or a project.
const (
	alike       = 0.5
	alikeBeside = 0.2
)

// fingerprint is what duplicates are told by: the words (bigrams where there
// are no spaces) and what must not differ.
type fingerprint struct {
	words  []string // sorted, each once
	guards []string // numbers, dates, negations and names, sorted
}

// comparer makes fingerprints.
type comparer struct{ number *regexp.Regexp }

func newComparer() comparer {
	return comparer{number: regexp.MustCompile(`[0-9]+(?:[.,:/-][0-9]+)*`)}
}

func (c comparer) fingerprint(text string) fingerprint {
	var f fingerprint
	for _, t := range index.Tokens(text) {
		if t.Kind == index.Word || t.Kind == index.Bigram {
			f.words = append(f.words, t.Text)
		}
	}
	f.words = unique(f.words)
	f.guards = append(f.guards, c.number.FindAllString(text, -1)...)
	first := true
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' && r != '’' }) {
		low := strings.ReplaceAll(strings.ToLower(w), "’", "'")
		r := firstRune(w)
		switch {
		case negates(low), dateWord(low), !first && unicode.IsUpper(r):
			f.guards = append(f.guards, strings.TrimSuffix(low, "'s"))
		}
		first = false
	}
	for _, r := range text {
		if strings.ContainsRune("不没别无未非勿莫", r) {
			f.guards = append(f.guards, string(r))
		}
	}
	slices.Sort(f.guards)
	return f
}

// same says whether two fingerprints are of duplicates. Where both have
// characters that the other lacks, something was exchanged, and nothing tells
// a name from a word in a script without capitals: they aren't the same.
func (f fingerprint) same(g fingerprint) bool {
	if !slices.Equal(f.guards, g.guards) || f.jaccard(g) <= sameText {
		return false
	}
	return !(f.extra(g) && g.extra(f))
}

func (f fingerprint) jaccard(g fingerprint) float64 {
	both := 0
	for _, w := range f.words {
		if _, ok := slices.BinarySearch(g.words, w); ok {
			both++
		}
	}
	all := len(f.words) + len(g.words) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}

// near says whether two memories of one subject are about the same side of it.
func (f fingerprint) near(g fingerprint, subject []string) bool {
	if f.jaccard(g) >= alike {
		return true
	}
	beside := func(words []string) []string {
		return slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(subject, w) })
	}
	return fingerprint{words: beside(f.words)}.jaccard(fingerprint{words: beside(g.words)}) >= alikeBeside
}

// extra says whether f has a bigram that g lacks.
func (f fingerprint) extra(g fingerprint) bool {
	return slices.ContainsFunc(f.words, func(w string) bool {
		r := firstRune(w)
		_, ok := slices.BinarySearch(g.words, w)
		return r >= 0x0e00 && !ok
	})
}

func negates(w string) bool {
	switch w {
	case "not", "no", "never", "none", "without", "neither", "nor", "cannot", "nothing", "stop", "avoid", "except", "unless":
		return true
	}
	return strings.HasSuffix(w, "n't")
}

func dateWord(w string) bool {
	switch w {
	case "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
		"january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
		"today", "tomorrow", "yesterday", "daily", "weekly", "monthly", "yearly", "morning", "evening", "night",
		"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "hundred", "thousand",
		"first", "second", "third", "once", "twice", "half", "double":
		return true
	}
	return false
}

// merge is one look at the candidates that may be shown, best first. A
// duplicate of a better one goes, the more important text stays; several
// memories of one subject become one line, the newest of them.
func (c comparer) merge(in []*candidate) []line {
	type entry struct {
		line
		print fingerprint
		from  *candidate
	}
	var out []entry
next:
	for _, cand := range in {
		m := cand.hit.Memory
		print := c.fingerprint(m.Text)
		for i := range out {
			o := &out[i]
			if o.print.same(print) {
				if m.Importance > o.memory.Importance {
					o.from.verdict, cand.verdict = "duplicate", chosen
					o.memory, o.print, o.from = m, print, cand
				} else {
					cand.verdict = "duplicate"
				}
				continue next
			}
			if oneSubject(o.memory, m) && o.print.near(print, index.Terms(m.Subject)) {
				o.earlier++
				if happened(m).After(happened(o.memory)) {
					o.from.verdict, cand.verdict = "subject_merged", chosen
					o.memory, o.print, o.from = m, print, cand
				} else {
					cand.verdict = "subject_merged"
				}
				continue next
			}
		}
		out = append(out, entry{line{memory: m}, print, cand})
	}
	lines := make([]line, len(out))
	for i := range out {
		lines[i] = out[i].line
	}
	return lines
}

func oneSubject(a, b *store.Memory) bool {
	return a.Subject != "" && a.Type == b.Type && store.Fold(a.Subject) == store.Fold(b.Subject)
}

func unique(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}
