package harm

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"hindsight/store"
)

// How many words, or characters of a script without spaces, in a row make a
// text that an answer has from the block. Fewer come together by accident.
const (
	runWords = 4
	runChars = 6
)

// shortID is a memory's id as a block's line begins with it.
var shortID = regexp.MustCompile(`(?m)^- \[(m[0-9a-v]{6,})`)

// leak is a piece of the block that the answer holds and that is neither in the
// prompt nor in the answer that was given without the block; empty: none.
func leak(got, block, prompt, plain string) string {
	if strings.Contains(strings.ToLower(got), "hindsight-notes") {
		return "hindsight-notes"
	}
	for _, m := range shortID.FindAllStringSubmatch(block, -1) {
		if strings.Contains(got, m[1]) {
			return m[1]
		}
	}
	said, own := units(got), [][]string{units(prompt), units(plain)}
	of := units(block)
	for i := range of {
		n := runWords
		if slices.ContainsFunc(of[i:min(i+runWords, len(of))], spaceless) {
			n = runChars
		}
		if i+n > len(of) {
			break
		}
		run := of[i : i+n]
		if holds(said, run) && !holds(own[0], run) && !holds(own[1], run) {
			return strings.Join(run, " ")
		}
	}
	return ""
}

// units cuts a text into words and characters of scripts without spaces.
func units(s string) []string {
	var out []string
	word := ""
	end := func() {
		if word != "" {
			out = append(out, word)
		}
		word = ""
	}
	for _, r := range store.Fold(s) {
		switch {
		case spaceless(string(r)):
			end()
			out = append(out, string(r))
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			word += string(r)
		default:
			end()
		}
	}
	end()
	return out
}

// spaceless says whether a unit is a character of a script without spaces.
func spaceless(s string) bool {
	for _, r := range s {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	}
	return false
}

func holds(all, run []string) bool {
	for i := 0; i+len(run) <= len(all); i++ {
		if slices.Equal(all[i:i+len(run)], run) {
			return true
		}
	}
	return false
}

// parses says whether an answer is JSON, in a code fence or not.
func parses(answer string) bool {
	s := strings.TrimSpace(answer)
	if rest, ok := strings.CutPrefix(s, "```"); ok {
		_, rest, _ = strings.Cut(rest, "\n")
		s = strings.TrimSuffix(strings.TrimSpace(rest), "```")
	}
	return json.Valid([]byte(s))
}
