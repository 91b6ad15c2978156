package extract

import (
	"regexp"
	"slices"
	"strings"

	"hindsight/store"
)

// kinds are the things of which a standing wish sets one for all
// conversations to come: a newer wish of a kind takes the older one's place. A
// switch is set by a refusal too ("never use emojis"); of the others a refusal
// leaves the rest open ("never answer in French") and sets nothing.
var kinds = []struct {
	name   string
	re     *regexp.Regexp
	toggle bool
}{
	{"language", regexp.MustCompile(`(?i)\b(?:answer|reply|respond|write|speak|talk|communicate|use|explain|switch|be)\w*\b.{0,30}?\b(?:in |to )?(?:american |british |plain |simple )?(?:english|chinese|mandarin|cantonese|german|french|spanish|japanese|korean|italian|portuguese|russian|dutch|polish|turkish|arabic|hindi|swedish|norwegian|danish|finnish|greek|czech|ukrainian)\b|(?:中文|英文|汉语|普通话|粤语|[英法德日韩俄西]语|[德法日韩俄]文|西班牙语|葡萄牙语|意大利语|荷兰语|阿拉伯语)`), false},
	{"units", regexp.MustCompile(`(?i)\b(?:metric|imperial|si units|us customary)\b|公制|英制|市制`), false},
	{"temperature", regexp.MustCompile(`(?i)\b(?:celsius|centigrade|fahrenheit|kelvin)\b|摄氏|华氏`), false},
	{"distance", regexp.MustCompile(`(?i)\b(?:kilomet(?:er|re)s?|miles)\b|公里|英里`), false},
	{"clock", regexp.MustCompile(`(?i)\b(?:12|24)[ -]?hours?\b|(?:12|24|十二|二十四)小时制`), false},
	{"length", regexp.MustCompile(`(?i)\b(?:answers?|repl(?:y|ies)|responses?|respond|explanations?|explain|be|keep (?:it|things|them))\b.{0,25}\b(?:short|brief|briefly|concise|concisely|terse|succinct|long|longer|shorter|detailed|verbose|thorough|in (?:depth|detail)|one sentence|(?:at most|under|within|no more than) \S+ (?:words|sentences|lines|paragraphs))\b|\b(?:short|brief|concise|terse|succinct|long|longer|shorter|detailed|verbose|thorough) (?:and \p{L}+ )?(?:answers?|repl(?:y|ies)|responses?|explanations?)\b|(?:回答|回复|答案|解释|说).{0,8}(?:简短|简洁|精简|简明|简单|简略|详细|详尽|短|长|一句话|\S{1,4}字以内|不超过)|(?:简短|简洁|精简|简明|简单|简略|详细|详尽|一句话).{0,4}(?:回答|回复|答复|解释|说明)`), false},
	{"tone", regexp.MustCompile(`(?i)\b(?:formal(?:ly)?|informal(?:ly)?|casual(?:ly)?)\b|正式|随意|口语|书面`), false},
	{"emoji", regexp.MustCompile(`(?i)\bemojis?\b|表情(?:符号)?|emoji`), true},
	{"lists", regexp.MustCompile(`(?i)\b(?:bullet(?:ed)?(?: points?| lists?)?|numbered lists?|lists|running text|prose)\b|列表|分点|要点|条列`), true},
	{"tables", regexp.MustCompile(`(?i)\btables?\b|表格`), true},
	{"markdown", regexp.MustCompile(`(?i)\b(?:markdown|plain text)\b|纯文本|markdown`), true},
}

// bound is what narrows a wish: a condition, or a thing other than answers.
var (
	bound  = regexp.MustCompile(`(?i)\b(?:if|when|whenever|while|unless|except|as long as|for (?:code|work|my|this|these|questions|anything)|in (?:code|commits?|e-?mails?|chats?|docs)|on (?:weekends|mondays|fridays|weekdays))\b.*$|(?:如果|若|当|遇到|除了).*$|^.*?(?:的时候|时候?[，,]|时[我用请要给])`)
	object = regexp.MustCompile(`(?i)\b(?:code|comments?|commits?|e-?mails?|docs?|documentation|tests?|titles?|names?|variables?|letters?|poems?|summar\p{L}+|reports?|subtitles?|headings?)\b|代码|注释|提交|邮件|文档|测试|标题|变量|摘要|总结|报告|信件|周报`)
)

// Wishes are the kinds of a standing wish, each with what narrows it, sorted;
// none if no kind is known.
func Wishes(s string) []string {
	s = strings.TrimRight(headless(s), " .!。！")
	refused := negativeWish.MatchString(s)
	narrow := bound.FindString(s)
	for _, o := range object.FindAllString(s, -1) {
		narrow += " " + o
	}
	narrow = store.Fold(narrow)
	var out []string
	for _, k := range kinds {
		if k.re.MatchString(s) && (k.toggle || !refused) {
			out = append(out, k.name+"|"+narrow)
		}
	}
	slices.Sort(out)
	return out
}

var negativeWish = regexp.MustCompile(`(?i)\b(?:never|no|not|don't|stop|avoid|without)\b|不要|别|不用|不许|禁止`)

// Displaces says whether a later standing wish settles everything that an
// earlier one settles.
func Displaces(later, earlier []string) bool {
	return len(earlier) > 0 && !slices.ContainsFunc(earlier, func(k string) bool { return !slices.Contains(later, k) })
}
