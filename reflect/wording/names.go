package wording

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

var (
	token = regexp.MustCompile(`[A-Za-z0-9_./\\:@#+~-]*[A-Za-z_][A-Za-z0-9_./\\:@#+~-]*`)
	// An identifier mixes what words don't: digits or inner signs with letters,
	// capitals in the middle, or capitals only.
	mixed   = regexp.MustCompile(`[A-Za-z].*\d|\d.*[A-Za-z]|[A-Za-z0-9][_./\\:@#+][A-Za-z0-9]|[a-z][A-Z]|^[A-Z]{2,}$|^[~/.]*/[A-Za-z]|--`)
	capital = regexp.MustCompile(`\b[A-Z][a-z]+\b`)
	opens   = regexp.MustCompile(`^(?:[A-Z][a-z]+)(?:'s|\s+(?:is|has|was|lives|works|likes|loves|prefers|wants|uses|and|hates|owns|moved)\b)`)
	hanName = regexp.MustCompile(`(?:名叫|名字叫|名字是|姓名是|叫做|叫|姓|住在|来自|位于|搬到|搬去|去了)(\p{Han}{1,8})`)
	listHan = regexp.MustCompile(`[和与跟及]`)
	stops   = regexp.MustCompile(`[.!?。！？\n"“「(（:：]\s*$`)
	title   = regexp.MustCompile(`\b(?:Dr|Mr|Mrs|Ms|Prof|St)\. $`) // its stop ends no sentence
	named   = regexp.MustCompile(`\b(?:named|called|nicknamed) ([a-z][\w-]{2,})`)
	// written is a number with letters behind it: its value counts, not its form.
	written = regexp.MustCompile(`^[0-9][0-9.,:]*(?:k|m|st|nd|rd|th|am|pm|a\.m|p\.m)$`)
)

// common are capitalised words that name nobody.
var common = strings.Fields(`i user users the this that these those it he she they we you there what when where
who how why which if while after before for from in on at to by with without and or but so not no yes a an my our
your his her their its always never please use uses using prefers prefer likes like dislikes wants works lives has
have is was are do does did don t everything nothing project team service server database app application company
note answer answers avoid keep since once new all each any some one two three every during error errors fix fixed currently previously formerly recently usually generally mostly now`)

// Names lists the identifiers and names in a text, each once, sorted, in plain
// form: paths, versions, option names, addresses, capitalised words inside a
// sentence, and what follows a naming verb in Chinese. A word that begins a
// sentence counts only where the next one shows that it names somebody.
func Names(s string) []string {
	s = Simplified(norm.NFKC.String(shapes.Replace(s)))
	var out []string
	for _, t := range token.FindAllString(s, -1) {
		t = strings.TrimRight(strings.TrimLeft(t, ":@#+-"), ".,:;-/\\")
		if mixed.MatchString(t) && !slices.Contains([]string{"e.g", "i.e", "and/or", "I'm"}, t) {
			out = append(out, strings.ToLower(t))
		}
	}
	for _, at := range capital.FindAllStringIndex(s, -1) {
		low := strings.ToLower(s[at[0]:at[1]])
		if slices.Contains(common, low) {
			continue
		}
		first := strings.TrimSpace(s[:at[0]]) == "" || stops.MatchString(s[:at[0]]) && !title.MatchString(s[:at[0]])
		if !first || opens.MatchString(s[at[0]:]) {
			out = append(out, low)
		}
	}
	for _, m := range named.FindAllStringSubmatch(s, -1) {
		if !slices.Contains(common, m[1]) {
			out = append(out, m[1])
		}
	}
	for _, m := range hanName.FindAllStringSubmatch(s, -1) {
		for i, n := range listHan.Split(m[1], -1) {
			n = strings.Trim(n, "了的吧呢啊哦嘛") // 搬到宁波了: the end of the sentence, not of the name
			r := []rune(n)
			switch {
			case len(r) == 0, i > 0 && (len(r) == 1 || len(r) > 3 || strings.ContainsAny(n, "我你他她它")):
				// 和我同岁: no list of names
			case len(r) > 3: // the run goes on with other words: its head is enough
				out = append(out, string(r[:2]))
			default:
				out = append(out, n)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// MissingNames lists the names of a text that the evidence doesn't hold. A
// month or a weekday may stand there in another form, a number with letters
// behind it counts by its value alone.
func MissingNames(text, evidence string) []string {
	return slices.DeleteFunc(Names(text), func(n string) bool {
		if _, word, ok := strings.Cut(n, "-"); ok && numeric(n) && Contains(evidence, word) {
			return true // 15-minute
		}
		return Contains(evidence, n) || written.MatchString(n) || unitWord(n) || dateWord.MatchString(n) && len(missing(whens("on "+n), whens(evidence))) == 0
	})
}

// missing are those of a list that another doesn't hold.
func missing(list, have []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(have, s) })
}

var (
	notEnglish = regexp.MustCompile(`(?i)\b(?:not|never|no|none|cannot|without|nobody|nothing|neither|nor|stopped|quit|avoid|avoids|dislikes?|hates?)\b|n't\b`)
	notChinese = regexp.MustCompile(`不|没|别|勿|无|未|非|讨厌|戒`)
	seemsNot   = regexp.MustCompile(`分别|不能超过|不要超过|不得超过|不过|不仅|不但|不同|不错|差不多|不管|不论|是不是|要不要|能不能|会不会|对不起|特别|个别|区别|别人|别的|级别|类别|性别|告别|无论|非常|未来|除非|不超过|不低于|不高于|不少于|不多于|不大于|不小于|不止|并非常`)
)

// seemsNotEn are words of denial that deny nothing of what is said.
var seemsNotEn = regexp.MustCompile(`\bnot only\b|\bno (?:matter|doubt)\b|\bcan(?:'t|not) wait\b|\b(?:stop|stopped|stops|stopping) (?:\S+ ){1,4}from\b|\b(?:no|not) (?:more|later|less|fewer) than\b`)

// Negated says whether a text denies something.
func Negated(s string) bool {
	s = strings.ReplaceAll(Plain(s), "不过敏", "没过敏") // 不过 alone is "but"
	return notEnglish.MatchString(seemsNotEn.ReplaceAllString(s, "")) || notChinese.MatchString(seemsNot.ReplaceAllString(s, ""))
}
