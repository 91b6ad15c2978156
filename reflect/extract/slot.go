package extract

import (
	"regexp"
	"strings"

	"hindsight/reflect/wording"
)

// slots are things of which a person has one at a time, so that a newer
// statement replaces an older one even if no model said so.
var slots = []struct {
	re   *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?i)\b(?:my name is|my name's|i am called|i'm called)\s`), "name"},
	{regexp.MustCompile(`(?:^|[，。！\s])我(?:现在)?(?:叫|的名字(?:叫|是))`), "name"},
	{regexp.MustCompile(`\b(?i:i (?:now |currently )?live in) [A-Z]`), "home"},
	{regexp.MustCompile(`我(?:现在|目前|已经)?(?:住在|搬到|搬去)`), "home"},
	{regexp.MustCompile(`\b(?i:i (?:now |currently )?work (?:for|at)) [A-Z]`), "employer"},
	{regexp.MustCompile(`(?i)\bmy (favou?rite \p{L}+|birthday|time ?zone|e-?mail|badge|shoe size|phone)(?: number| address)? (?:is|is now) \S+(?: \S+){0,2}$`), "$1"},
	{regexp.MustCompile(`我的?(生日|时区|邮箱|工号|手机号|电话|最喜欢的\p{Han}{1,4})(?:号码|地址)?(?:现在)?(?:是|改成|换成)`), "$1"},
}

var numbered = regexp.MustCompile(`(?i)\b(?:my|our|the) [\p{L} -]{2,40}? (?:is|are|runs on|listens on) |我们?的?\p{Han}{1,12}(?:是|为|在)`)

// SameSlot says whether two sentences of one person give two values to a thing
// of which there is one: the same slot, or the same sentence with another
// number.
func SameSlot(a, b string) bool {
	if s := slot(a); s != "" && s == slot(b) {
		return true
	}
	return numbered.MatchString(a) && numbered.MatchString(b) &&
		len(wording.Numbers(a)) == 1 && len(wording.Numbers(b)) == 1 && wording.Masked(a) == wording.Masked(b)
}

// HasSlot says whether a sentence can give a value to such a thing at all.
func HasSlot(s string) bool { return slot(s) != "" || numbered.MatchString(s) }

func slot(s string) string {
	s = strings.TrimRight(strings.TrimSpace(s), ".!。！")
	for _, sl := range slots {
		if at := sl.re.FindStringSubmatchIndex(s); at != nil {
			return strings.ToLower(string(sl.re.ExpandString(nil, sl.name, s, at)))
		}
	}
	return ""
}
