package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"hindsight/reflect/wording"
)

// longMessage is the length in runes above which a message is taken for a
// pasted text: nothing in it is the user's own statement.
const longMessage = 1500

// maxSentence is the length in runes of the longest sentence that is kept.
const maxSentence = 300

var (
	fenced   = regexp.MustCompile("(?s)```.*?(?:```|$)|~~~.*?(?:~~~|$)")
	cited    = regexp.MustCompile(`(?m)^\s*>.*$`)
	markup   = regexp.MustCompile(`(?s)<\p{L}[^<>\n]*>.*?</\p{L}[^<>\n]*>`)
	spoken   = regexp.MustCompile(`"[^"\n]{2,}"|“[^”\n]{2,}”|「[^」\n]{2,}」|『[^』\n]{2,}』|《[^》\n]+》`)
	material = regexp.MustCompile(`(?i)^[^\p{L}\p{N}]*(?:please\s+|can you\s+|could you\s+|help me\s+)*(?:translate|rewrite|rephrase|paraphrase|proofread|summari[sz]e|correct|fix the (?:grammar|spelling)|check the (?:grammar|spelling)|polish|edit|analy[sz]e|classify|extract|continue|complete|write|draft|compose|imagine|pretend|role-?play|let'?s (?:pretend|role-?play|play)|act as|you are|tell me a story)\b|(?:^|[，,])[^\p{L}\p{N}]*(?:(?:请|帮我|帮忙|麻烦|能不能|可以|你|给我|来|现在)+(?:把|将)?.{0,8}?|(?:把|将|这|那|以下|下面|上面).{0,8}?)?(?:翻译|润色|改写|扩写|续写|缩写|总结|校对|纠错|写一|写个|写篇|编一|编个|扮演|假装|模拟|分析一下|提取|造句)`)
	// drafts asks for a text of which nothing is handed over.
	drafts = regexp.MustCompile(`(?i)^[^\p{L}\p{N}]*(?:please\s+|can you\s+|could you\s+|help me\s+)*(?:write|draft|compose)\b[^:]*$|(?:写一|写个|写篇)[^:：]*$`)
)

// own returns the sentences of a message that can be the user's own
// statements: code, citations, quoted speech and markup taken out, nothing of
// a pasted text, nothing behind the words that hand a text over to be worked on.
func own(text string) []string {
	if utf8.RuneCountInString(text) > longMessage {
		return nil
	}
	var out []string
	for i, s := range sentences(text) {
		at := material.FindStringIndex(plain(s))
		if at == nil {
			out = append(out, s)
			continue
		}
		if head := strings.TrimSpace(s[:at[0]]); head != "" {
			out = append(out, head)
		} else if i == 0 {
			return nil
		}
		if !drafts.MatchString(plain(s[at[0]:])) {
			break
		}
	}
	return out
}

// plain is a sentence as the rules read it: in simplified characters, and with
// the common words for who speaks in place of the others. No byte moves.
func plain(s string) string { return speakers.Replace(wording.Simplified(s)) }

var speakers = strings.NewReplacer("咱", "我", "俺", "我", "您", "你")

// sentences cuts a text, without what is code or somebody else's words.
func sentences(text string) []string {
	var out []string
	for _, s := range split(mine(text)) {
		s = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(s), "-*•· \t"))
		s = headless(strings.ReplaceAll(s, "’", "'"))
		if n := utf8.RuneCountInString(s); n >= 2 && n <= maxSentence {
			out = append(out, s)
		}
	}
	return out
}

// split cuts at the ends of sentences, which stay with them: a full stop ends
// one only before white space (1.25.0, node.js), an ASCII exclamation or
// question mark not before a letter, the others always.
func split(text string) []string {
	var out []string
	start := 0
	inside := false // quoted speech is never cut: its sentences aren't the speaker's
	r := []rune(text)
	for i := 0; i < len(r); i++ {
		end := false
		switch r[i] {
		case '"':
			inside = !inside
		case '“', '「', '『':
			inside = true
		case '”', '」', '』':
			inside = false
		case '\n':
			inside, end = false, true
		case '。', '！', '？', '；':
			end = true
		case '!', '?': // not in a password, nor in an address
			end = i+1 == len(r) || r[i+1] > 0x7f && r[i+1] != '，' || strings.ContainsRune(" \n\"')!?.", r[i+1])
		case '.', ';':
			end = i+1 == len(r) || r[i+1] == ' ' || r[i+1] == '\n'
			if end && r[i] == '.' && abbreviated(string(r[start:i+1])) {
				end = false
			}
		}
		if end && !inside {
			for i+1 < len(r) && strings.ContainsRune("。！？!?.", r[i+1]) {
				i++
			}
			out = append(out, string(r[start:i+1]))
			start = i + 1
		}
	}
	return append(out, string(r[start:]))
}

var abbreviation = regexp.MustCompile(`(?i)(?:\b(?:e\.g|i\.e|etc|mr|mrs|ms|dr|st|vs|no|approx)|\b[A-Z])\.$`)

func abbreviated(s string) bool { return abbreviation.MatchString(s) }

// doubtful is a sentence that states nothing about its speaker: a question, an
// assumption, an example, a wish of the moment, reported speech.
var doubtful = regexp.MustCompile(`(?i)[?？]|^(?:what|why|how|when|where|which|who|whose|is|are|am|was|were|do|does|did|can|could|should|would|will|shall|have i|has|may|might)\b` +
	`|\b(?:if|unless|suppose|supposing|imagine|assume|assuming|hypothetically|let'?s say|say that|pretend|as if|maybe|perhaps|might|wish|for example|e\.g\.|for instance|in the (?:story|novel|book|movie|film|game|play)|the (?:character|hero|heroine|protagonist|narrator)|once upon a time|not sure|i guess|i wonder|i think i|joking|kidding)\b` +
	`|\b(?:he|she|they|it|customer|client|boss|colleague|friend|user|mother|father|docs?|documentation|article|book|error|message|log|readme)s?\s+(?:said|says|told|tells|wrote|writes|asked|claims|reads)\b` +
	`|吗[。！\s]*$|呢[。！\s]*$|什么|怎么|怎样|为什么|为何|如何|哪里|哪个|哪些|哪儿|谁(?:是|在|的|说)|多少|几点|是不是|有没有|能不能|可不可以|要不要|会不会|是否` +
	`|如果|假如|假设|假使|要是|倘若|万一|比如|例如|譬如|打个比方|好像|似乎|可能|也许|或许|大概|说不定|希望能|想象|梦见|小说|故事里|剧本|台词|角色|主角|游戏里|电影里|开玩笑|据说|听说` +
	`|(?:他|她|他们|她们|客户|老板|同事|朋友|用户|文档|文章|书上|网上|报错信息|日志)(?:里)?(?:们)?(?:都)?(?:说|写|问|告诉|提到|表示)`)

// statesSomething says whether a sentence can be a statement of the user's own.
func statesSomething(s string) bool {
	return !doubtful.MatchString(noQuestion.ReplaceAllString(spoken.ReplaceAllString(plain(s), " "), ""))
}

// noQuestion begins like a question and is none.
var noQuestion = regexp.MustCompile(`(?i)^what (?:worked|helped|fixed it|did the trick)\b|^when(?:ever)? you (?:answer|write|explain|reply|respond|review|summari[sz]e|translate|format|name|generate)\b`)
