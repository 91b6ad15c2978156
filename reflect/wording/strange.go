package wording

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Strangers lists the names of a text that its evidence doesn't hold. Beyond
// [MissingNames] it reads what only a comparison shows: a sentence of the text
// that opens with a word nobody said and goes on as with a person ("Elsa turns
// nine"), and a Chinese word that stands where the evidence has another one
// between the same neighbours (给何川 and 给何山).
func Strangers(text, evidence string) []string {
	out := MissingNames(text, evidence)
	out = append(out, openers(text, evidence)...)
	out = append(out, swappedWords(text, evidence)...)
	out = append(out, latinAmongHan(text, evidence)...)
	return append(out, swappedHan(text, evidence)...)
}

var (
	placed = strings.Fields("to in at on from with of for by near is are a an the my our his her their")
	wish   = regexp.MustCompile(`^(?:want|need|like|love|plan|tr[yi]|go|have|has|prefer|hope|decide|learn|start|begin|used?|us|able|hate|continue|intend|happen|be|agree|forget|remember|expect)(?:s|d|ed|es|ing)?$`)
)

// noun is a word that stands behind another one and prepositions or articles.
type noun struct{ after, between, word string }

func nouns(plain string) []noun {
	var out []noun
	w := strings.FieldsFunc(plain, func(r rune) bool { return r != '-' && r != '\'' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, at := 0, 0; i < len(w); i++ {
		if slices.Contains(placed, w[i]) {
			continue
		}
		if i > at+1 && !wish.MatchString(w[at]) && !numeric(w[i]) {
			out = append(out, noun{w[at], strings.Join(w[at+1:i], " "), w[i]})
		}
		at = i
	}
	return out
}

func numeric(word string) bool { return word[0] >= '0' && word[0] <= '9' }

// swappedWords finds words of an English text that stand behind the same word
// and preposition as another word of the evidence: allergic to amoxicillin, and
// to penicillin.
func swappedWords(text, evidence string) []string {
	if HasHan(text) || HasHan(evidence) {
		return nil
	}
	alone := func(word string, in []string) bool {
		terms := Terms(word)
		return len(terms) > 0 && Share(terms, in) == 0
	}
	have := Terms(evidence)
	candidates := slices.DeleteFunc(nouns(digitised(text)), func(n noun) bool { return len(Terms(n.after)) == 0 || !alone(n.word, have) })
	if len(candidates) == 0 {
		return nil
	}
	said, there := Terms(text), nouns(digitised(evidence))
	var out []string
	for _, n := range candidates {
		if slices.ContainsFunc(there, func(o noun) bool {
			return o.between == n.between && Share(Terms(n.after), Terms(o.after)) == 1 && alone(o.word, said)
		}) {
			out = append(out, n.word)
		}
	}
	return out
}

// latinAmongHan finds words of a Chinese text in Latin script that a Chinese
// evidence doesn't hold: there they name something.
func latinAmongHan(text, evidence string) []string {
	if !HasHan(text) || !Han(evidence) {
		return nil
	}
	e := Plain(evidence)
	return slices.DeleteFunc(latinRun.FindAllString(Plain(text), -1), func(w string) bool {
		return unitWord(w) || written.MatchString("1"+w) || Contains(e, w)
	})
}

var (
	opener    = regexp.MustCompile(`(?:^|[.!?]\s+)([A-Z]\p{L}+) (?:\p{Ll}+s|had|did|went|came|\p{Ll}+ed)\b`)
	unopening = regexp.MustCompile(`(?i)(?:s|ed|ing|ly)$`) // "Restores cellos", "Currently works"
)

func openers(text, evidence string) []string {
	var out []string
	for _, m := range opener.FindAllStringSubmatch(norm.NFKC.String(text), -1) {
		low := strings.ToLower(m[1])
		if !unopening.MatchString(low) && !isCommon(low) && !Contains(evidence, low) {
			out = append(out, low)
		}
	}
	return out
}

func isCommon(low string) bool {
	for _, w := range common {
		if w == low {
			return true
		}
	}
	return false
}

// reported are characters of the words with which a third person retells what
// a first one said. A paraphrase may put them anywhere.
const reported = "用户的他她它其自己该是在有了着过和与及并或也都还就又再很更最想要希望会能可应需得请让叫使把被给对向从到为以于而但所这那此每各个些时后前里上下中内外不没无未别非不喜欢爱偏好习惯倾向讨厌住居搬位去来做当任职工作使采用设改成换变调更新通过因由于父母亲爸妈儿女丈夫妻老婆公称呼回答复说讲写买花费拥具备养进行开始结束久失败功部乘坐搭骑驾服穿戴植"

// swappedHan finds words of one to three Chinese characters that stand in the
// text where the evidence has as many other ones.
func swappedHan(text, evidence string) []string {
	text, evidence = squeeze(Plain(text)), squeeze(Plain(evidence))
	t, e := []rune(text), []rune(evidence)
	var out []string
	for i := 1; i < len(t); i++ {
		for n := 1; n <= 3 && i+n <= len(t); n++ {
			word := t[i : i+n]
			if !unicode.Is(unicode.Han, t[i-1]) || !strange(word, evidence) {
				if n == 1 && han[t[i]] > 0 {
					continue // 百 counts, 百度 doesn't
				}
				break // what is longer isn't strange either
			}
			if swappedIn(t, e, i, n, text) {
				out = append(out, string(word))
			}
		}
	}
	return out
}

// strange says whether every character of a word is Chinese, stands nowhere in
// the evidence and isn't one with which things are retold; a number is none.
func strange(word []rune, evidence string) bool {
	number := true
	for _, r := range word {
		if !unicode.Is(unicode.Han, r) || strings.ContainsRune(evidence, r) || strings.ContainsRune(reported, r) {
			return false
		}
		number = number && han[r] > 0
	}
	return !number
}

// replaced says whether every character of a word is Chinese and stands nowhere
// in the text; one character alone must not be one with which things are retold.
func replaced(word []rune, text string) bool {
	for _, r := range word {
		if !unicode.Is(unicode.Han, r) || strings.ContainsRune(text, r) {
			return false
		}
	}
	return len(word) > 1 || strange(word, text)
}

// swappedIn says whether the word of n characters at t[i] stands where the
// evidence has another one: behind the same character, and before the same or,
// in both, before an end or a character with which things are retold.
func swappedIn(t, e []rune, i, n int, text string) bool {
	for j := 1; j+n <= len(e); j++ {
		if e[j-1] != t[i-1] || !replaced(e[j:j+n], text) {
			continue
		}
		if ended(t, i+n) && ended(e, j+n) || i+n < len(t) && j+n < len(e) && t[i+n] == e[j+n] {
			return true
		}
	}
	return false
}

// ended says whether a word may end before s[i].
func ended(s []rune, i int) bool {
	return i >= len(s) || !unicode.Is(unicode.Han, s[i]) || strings.ContainsRune(reported, s[i])
}
