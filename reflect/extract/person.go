package extract

import (
	"regexp"
	"strings"

	"hindsight/store"
)

var (
	reportedEn = regexp.MustCompile(`(?i)^(?:the )?user(?:('s)| ((?:now |currently |still |actually |always |mostly |usually |also )?)(\p{L}+))`)
	reportedZh = regexp.MustCompile(`^(?:该|这位|本)?用户`)
)

// Reports says whether a sentence seems to report on the user. It is cheap.
func Reports(s string) bool {
	head := s[:min(len(s), 12)]
	return strings.Contains(head, "user") || strings.Contains(head, "User") || strings.Contains(head, "用户")
}

// First puts a sentence that reports on the user ("The user's port is 9090",
// 用户住在成都), as models and programs write memories, in the person in which
// users speak. Another stays as it is.
func First(s string) string {
	if !Reports(s) {
		return s
	}
	if loc := reportedZh.FindStringIndex(s); loc != nil {
		return "我" + s[loc[1]:]
	}
	m := reportedEn.FindStringSubmatch(s)
	if m == nil {
		return s
	}
	rest := s[len(m[0]):]
	if m[1] != "" {
		return "My" + rest
	}
	verb := m[3]
	switch strings.ToLower(verb) {
	case "is":
		verb = "am"
	case "has":
		verb = "have"
	case "goes":
		verb = "go"
	case "was":
	default:
		if !strings.HasSuffix(verb, "ss") {
			verb = strings.TrimSuffix(verb, "s")
		}
	}
	return "I " + m[2] + verb + rest
}

// already stands between the speaker and what has happened.
const already = `(?:现在|目前|已经|刚刚?|最近|终于|又|早就|上个?[月周]|去年|今年|昨天|前天|今天)*`

// One changes from one tool to another: what it was then is named, too. Whose
// it is is said at the head.
var (
	leavesEn = regexp.MustCompile(`(?i)^(?:i|we)(?:'ve| have)? (?:just |recently |now |finally |since )*(?:replac\w+|(?:switch|chang|mov|migrat|upgrad|us|driv|went|go)\w*\b.*?\b(?:from|instead of|rather than|my old|our old)) (?:(?:my|our|the|an?) )?(.+)`)
	leavesZh = regexp.MustCompile(`^我们?` + already + `(?:从|把|由)(?:我的?)?([^，。,]{2,20}?(?:改成|改用|换成|换到|换为|切到|切换到|迁移到|迁到).+)|^我们?` + already + `(?:改用|换成|换用|换了|改成|换到).*?(?:原来|以前|之前|旧)(?:用)?的?(?:那[台个部辆款只套把]|的)?(.+)`)
	usesEn   = regexp.MustCompile(`(?i)^(?:i|we)(?:'m| am|'re| are)? (?:now |currently |still |mostly |always |usually |also )?(?:us(?:e|ing)|run(?:ning)?(?: on)?|driv(?:e|ing)|on|work(?:ing)? with|cod(?:e|ing) in) (?:(?:my|our|the|an?) )?(.+)`)
	usesZh   = regexp.MustCompile(`^我们?(?:家|团队)?(?:现在|目前|一直|平时|还|都)*在?(?:使用|用|开|骑)(?:的是|着|的)?(.+)`)
	word     = regexp.MustCompile(`^[A-Za-z0-9][\w+#-]*`)
)

// leaves is what a sentence says, from its name on, that the speaker used until
// now, or "".
func leaves(s string) string { return tailOf(s, leavesEn, leavesZh) }

// uses is what a sentence says, from its name on, that the speaker uses, or "".
func uses(s string) string { return tailOf(s, usesEn, usesZh) }

func tailOf(s string, of ...*regexp.Regexp) string {
	for _, re := range of {
		if m := re.FindStringSubmatch(s); m != nil {
			return strings.TrimSpace(strings.Join(m[1:], ""))
		}
	}
	return ""
}

// nameAt is the beginning of a name by which two texts from it on may be told to
// be of one thing: a word, or two Chinese characters.
func nameAt(s string) string {
	s = store.Fold(s)
	if w := word.FindString(s); w != "" {
		return w
	}
	if r := []rune(s); len(r) >= 2 {
		return string(r[:2])
	}
	return ""
}
