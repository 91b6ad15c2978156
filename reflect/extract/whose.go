package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"hindsight/reflect/wording"
)

// anothers says whether these words of a user's message are somebody else's:
// they stand in quoted speech, a citation, code, markup, a mail or another text
// that is passed on, and nowhere else, or in a text that was handed over to be
// worked on ("Translate: …").
func anothers(text, quote string) bool {
	holds := func(part string) bool { return wording.Contains(part, quote) }
	rest := without(text, holds)
	rest = spoken.ReplaceAllStringFunc(rest, func(part string) string {
		if holds(part) {
			return "\n"
		}
		return part
	})
	if !holds(rest) {
		return true
	}
	if !handsOver.MatchString(text) {
		return false
	}
	at := strings.IndexAny(text, ":：\n")
	return at >= 0 && !holds(text[:at])
}

// without is a message without those parts of it, each as a whole, that are
// somebody else's and that is is true of. Quoted speech is a part of the
// speaker's own sentence, and stays.
func without(text string, is func(part string) bool) string {
	cut := func(part string) string {
		if is(part) {
			return "\n"
		}
		return part
	}
	at := passedOn(text)
	text = text[:at] + cut(text[at:])
	for _, w := range []struct {
		*regexp.Regexp
		marks string // one of these characters stands in whatever it finds
	}{{fenced, "`~"}, {comment, "<"}, {cited, ">"}, {markup, "<"}, {transcript, ":："}} {
		if strings.ContainsAny(text, w.marks) {
			text = w.ReplaceAllStringFunc(text, cut)
		}
	}
	if !strings.ContainsAny(text, ":：") {
		return text
	}
	return saidBy.ReplaceAllStringFunc(text, func(part string) string {
		if who := strings.ToLower(saidBy.FindStringSubmatch(part)[1]); who == "i" || who == "我" {
			return part
		}
		return cut(part)
	})
}

// mine is a message without anybody else's words.
func mine(text string) string { return without(text, func(string) bool { return true }) }

var (
	comment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	// transcript is a paragraph in which somebody's lines begin with a role.
	transcript = regexp.MustCompile(`(?im)^[ \t]*(?:\[[^\]\n]*\][ \t]*)?(?:\*\*)?(?:user|human|assistant|chatbot|用户|助手|机器人|客服)(?:\*\*)?[ \t]*[:：].*(?:\n.+)*`)
	// saidBy is what somebody said, up to the line's end; the group says who.
	saidBy = regexp.MustCompile(`(?i)(\p{L}*)[ \t]*(?:\b(?:said|says|wrote|writes|reads|replied|answered|states)|写道|写着|说|回复|表示)[ \t]*[:：].*`)
	// mailHead is the line with which a mail begins, or another text that was sent on.
	mailHead = regexp.MustCompile(`(?i)^[^\p{L}\p{N}]*(?:begin )?(?:original|forwarded) message\b|^[^\p{L}\p{N}]*(?:原始邮件|转发的?邮件|转发消息)|^on .{4,80}\bwrote:\s*$|^在?.{2,40}(?:写道|来信)[:：]\s*$|^[^\p{L}\p{N}]*(?:from|发件人)\s*[:：]\s*\S`)
	// field is one of the lines that follow a mail's From.
	field = regexp.MustCompile(`(?im)^[^\p{L}\p{N}]*(?:subject|date|sent|to|cc|主题|日期|时间|收件人|抄送)\s*[:：]`)

	// sort is a kind of text.
	sort = `(?:e?-?mails?|letters?|messages?|notes?|texts?|paragraphs?|sentences?|documents?|articles?|pages?|snippets?|code|scripts?|transcripts?|logs?|riddles?|poems?|posts?|reviews?|contracts?|flyers?|formats?|files?|stor(?:y|ies)|chapters?|quotes?|comments?|listings?|configs?|configuration|functions?|class|quer(?:y|ies)|output|invoices?|chats?)`
	// gives is the line before a text that is passed on: it asks about it, or
	// names it and ends with a colon.
	gives = regexp.MustCompile(`(?i)\b(?:this|these|the following|here(?:'s| is| are)?|below)\b[^.!?\n]{0,30}\b` + sort + `\b.*[?:]\s*$|^[^\p{L}\p{N}]*(?:please\s+)?(?:check|review|proofread|read|explain|judge)\b.*\b` + sort + `\b.*$` +
		`|(?:这|以下|下面|如下)[^。！？\n]{0,14}(?:邮件|信|消息|短信|传单|资料|文档|文章|页面|网页|代码|日志|格式|句|段|合同|帖子|评论|通知|公告|文字|脚本|故事|诗|内容).*[？?：:]\s*$`)
	introduces = regexp.MustCompile(`(?i)\b(?:this|these|following|below|here(?:'s| is| are)?|says|reads|wrote|sent|goes|` + sort + `)\b.*:\s*$|(?:这|以下|下面|如下|内容|原文|写|说|发来|转来|复制).*[:：]\s*$`)
	// ofSelf introduces what the speaker says: of oneself, or to be remembered.
	ofSelf = regexp.MustCompile(`(?i)^[^\p{L}\p{N}]*my\b|\babout (?:me|myself)\b|\bwhat i (?:need|want)\b|\byou (?:need to |should |must |have to )?know\b|\b(?:remember|memori[sz]e|keep in mind|note down|don'?t forget)\b|记住|记下|记一下|记好|别忘|关于我|告诉你|了解我|我的(?:情况|环境|配置|信息|资料|要求|习惯|偏好)`)
	// delimited begins a text whose end can be seen.
	delimited = regexp.MustCompile("^\\s*(?:```|~~~|>|<|[\"“「『])")
)

// passedOn is where a text begins that a message passes on whole, up to its
// end: a mail, a document, a piece of code. It is the message's length where
// there is none.
func passedOn(text string) int {
	at := 0
	for line := range strings.Lines(text) {
		next := at + len(line)
		line = strings.TrimRight(line, "\r\n")
		rest := strings.TrimLeft(text[next:], " \t\r\n")
		if m := mailHead.FindString(line); m != "" {
			head := text[next:min(next+200, len(text))]
			if !strings.ContainsAny(m, ":：") || strings.HasSuffix(strings.TrimSpace(line), ":") || strings.HasSuffix(strings.TrimSpace(line), "：") || field.MatchString(head) {
				return at
			}
		}
		if rest != "" && (gives.MatchString(line) || introduces.MatchString(line)) && !ofSelf.MatchString(line) && !delimited.MatchString(rest) {
			return len(text) - len(rest)
		}
		at = next
	}
	return len(text)
}

// handsOver is a message that gives a text to be worked on.
var handsOver = regexp.MustCompile(`(?i)^[^\p{L}\p{N}]*(?:please\s+|can you\s+|could you\s+|help me\s+)*(?:translate|rewrite|rephrase|paraphrase|proofread|summari[sz]e|correct|fix the (?:grammar|spelling)|check the (?:grammar|spelling)|polish|edit|analy[sz]e|classify|extract|continue|complete)\b|^[^\p{L}\p{N}]*(?:请|帮我|麻烦|请帮我|能不能|可以|你)?(?:把|将)?.{0,10}(?:翻译|译成|译为|润色|改写|扩写|续写|缩写|总结|概括|校对|纠错|分析一下|提取|提炼|造句)`)

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
