// Package wording says what a text claims that a paraphrase must not change:
// its numbers, its identifiers and names, and whether it denies something;
// and how near two texts are to each other. Reflection asks it in two places:
// extract checks that a model invented none of these, lifecycle that two
// texts which differ in one of them are never taken for the same memory.
//
// Everything is a pure function over words in English and Chinese. It reads no
// meaning: it only has to be right about what must not be confused.
package wording

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Plain folds width, case, the shapes of quotes and dashes, traditional Chinese
// characters and runs of white space. Two texts that a reader would call letter for letter the same have
// the same plain form; punctuation stays.
func Plain(s string) string {
	return strings.Join(strings.Fields(strings.ToLower(Simplified(shapes.Replace(norm.NFKC.String(s))))), " ")
}

// shapes are characters that models exchange for one another when they quote.
var shapes = strings.NewReplacer(
	"\u2018", "'", "\u2019", "'", "\u201c", `"`, "\u201d", `"`, "\u300c", `"`, "\u300d", `"`,
	"\u2013", "-", "\u2014", "-", "\u2026", "...", "\u3002", ".", "\u3001", ",", "\u200b", "", "\u2060", "", "\ufeff", "",
)

// SpelledOut is a text with its common contractions written out: I'm, I am.
func SpelledOut(s string) string {
	if !strings.ContainsAny(s, "'’") {
		return s
	}
	return contractions.Replace(s)
}

var contractions = strings.NewReplacer(
	"I'm", "I am", "I’m", "I am", "i'm", "i am", "i’m", "i am", "'re", " are", "’re", " are", "'ve", " have", "’ve", " have",
	"can't", "cannot", "can’t", "cannot", "won't", "will not", "won’t", "will not", "n't", " not", "n’t", " not",
)

// Contains says whether needle stands in text, both in plain form and without
// white space: models add and drop spaces between scripts.
func Contains(text, needle string) bool {
	n := squeeze(Plain(needle))
	return n != "" && strings.Contains(squeeze(Plain(text)), n)
}

func squeeze(s string) string { return strings.ReplaceAll(s, " ", "") }

// Han says whether a text is written mainly in Chinese characters: a third of
// its letters are enough, because technical Chinese is full of Latin words.
func Han(s string) bool {
	han, all := 0, 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Han, r):
			// One character says about as much as three Latin letters.
			han += 3
			all += 3
		case unicode.IsLetter(r):
			all++
		}
	}
	return all > 0 && han*3 >= all
}

// HasHan says whether any Chinese character stands in a text.
func HasHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// Weight is how much a text says, in Latin letters: a Chinese character counts
// three, white space and punctuation nothing.
func Weight(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.Is(unicode.Han, r):
			n += 3
		case unicode.IsLetter(r), unicode.IsDigit(r):
			n++
		}
	}
	return n
}
