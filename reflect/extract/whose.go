package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"hindsight/reflect/wording"
)

// anothers says whether these words of a user's message are somebody else's:
// they stand in quoted speech, a citation, code or markup and nowhere else, or
// in a text that was handed over to be worked on ("Translate: …").
func anothers(text, quote string) bool {
	rest := text
	for _, re := range []*regexp.Regexp{fenced, cited, markup, spoken} {
		rest = re.ReplaceAllStringFunc(rest, func(part string) string {
			if wording.Contains(part, quote) {
				return "\n"
			}
			return part
		})
	}
	if !wording.Contains(rest, quote) {
		return true
	}
	if !handsOver.MatchString(text) {
		return false
	}
	at := strings.IndexAny(text, ":：\n")
	return at >= 0 && !wording.Contains(text[:at], quote)
}

// handsOver is a message that gives a text to be worked on.
var handsOver = regexp.MustCompile(`(?i)^\W*(?:please\s+|can you\s+|could you\s+|help me\s+)*(?:translate|rewrite|rephrase|paraphrase|proofread|summari[sz]e|correct|fix the (?:grammar|spelling)|check the (?:grammar|spelling)|polish|edit|analy[sz]e|classify|extract|continue|complete)\b|^\W*(?:请|帮我|麻烦|请帮我|能不能|可以|你)?(?:把|将)?.{0,10}(?:翻译|译成|译为|润色|改写|扩写|续写|缩写|总结|概括|校对|纠错|分析一下|提取|提炼|造句)`)

// assumed is what makes a clause a thought rather than a statement.
var assumed = regexp.MustCompile(`(?i)\b(?:if|unless|suppose|supposing|imagine|assume|assuming|hypothetically|let'?s say|pretend|as if|in (?:the|a|my) (?:story|novel|book|movie|film|game|play|dream)|the (?:character|hero|heroine|protagonist|narrator)|once upon a time|joking|kidding)\b|如果|假如|假设|假使|要是|倘若|万一|比如|例如|譬如|打个比方|想象|梦见|小说|故事里|剧本|台词|角色|主角|游戏里|电影里|开玩笑`)

// thought says whether the clause in which a quote stands is an assumption, an
// example or fiction. A quote may be cut so that the "if" is left out.
func thought(text, quote string) bool {
	at := strings.Index(text, strings.TrimSpace(quote))
	if at < 0 {
		return assumed.MatchString(quote)
	}
	start := strings.LastIndexAny(text[:at], ".,;:!?\n，。；：！？")
	if start >= 0 {
		_, n := utf8.DecodeRuneInString(text[start:])
		start += n
	}
	return assumed.MatchString(text[max(start, 0) : at+len(strings.TrimSpace(quote))])
}
