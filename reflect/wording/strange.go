package wording

import (
	"regexp"
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
	return append(out, swappedHan(text, evidence)...)
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
const reported = "用户的他她它其自己该是在有了着过和与及并或也都还就又再很更最想要希望会能可应需得请让叫使把被给对向从到为以于而但所这那此每各个些时后前里上下中内外不没无未别非不喜欢爱偏好习惯倾向讨厌住居搬位去来做当任职工作使采用设改成换变调更新通过因由于父母亲爸妈儿女丈夫妻老婆公称呼回答复说讲写买花费拥具备养进行开始结束"

// swappedHan finds words of one to three Chinese characters that stand in the
// text where the evidence has as many other ones: the same neighbour before
// them, and after them the same neighbour or an end in both.
func swappedHan(text, evidence string) []string {
	t, e := []rune(squeeze(Plain(text))), []rune(squeeze(Plain(evidence)))
	var out []string
	for i := 1; i < len(t); i++ {
		for n := 1; n <= 3 && i+n <= len(t); n++ {
			word := t[i : i+n]
			if !unicode.Is(unicode.Han, t[i-1]) || !strange(word, evidence) {
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
// the evidence and isn't one with which things are retold.
func strange(word []rune, evidence string) bool {
	for _, r := range word {
		if !unicode.Is(unicode.Han, r) || strings.ContainsRune(evidence, r) || strings.ContainsRune(reported, r) || strings.ContainsRune("零〇一二两三四五六七八九十百千万亿", r) {
			return false
		}
	}
	return true
}

func swappedIn(t, e []rune, i, n int, text string) bool {
	for j := 1; j+n <= len(e); j++ {
		if e[j-1] != t[i-1] || !strange(e[j:j+n], text) {
			continue
		}
		if ended(t, i+n) && ended(e, j+n) || i+n < len(t) && j+n < len(e) && t[i+n] == e[j+n] && unicode.Is(unicode.Han, t[i+n]) {
			return true
		}
	}
	return false
}

// ended says whether no Chinese character stands at s[i].
func ended(s []rune, i int) bool { return i >= len(s) || !unicode.Is(unicode.Han, s[i]) }
