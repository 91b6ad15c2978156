package wording

import (
	"regexp"
	"slices"
	"strings"
)

// maxReplaced is the most words, or Chinese characters, that stand in the
// place of others where [Replaced] says that they do.
const maxReplaced = 4

// Replaced says whether two texts are the same but for one place, where other
// words stand: "the bicycle is green", "the bicycle is blue"; 我的领导是张敏,
// 我的领导是李敏. What stands there is the value that a later statement changes,
// or a name that no form gives away, unless both are known to mean the same.
// Numbers, times and denials are the business of [Claims] and count for
// nothing here.
func Replaced(a, b string) bool {
	a, b = unclaimed(a), unclaimed(b)
	x, y := words(a), words(b)
	same := 0
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
		same++
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
		same++
	}
	longer := max(len(x), len(y))
	if same == 0 || longer > maxReplaced || longer > same || len(x) == 0 || len(y) == 0 {
		return false
	}
	between := " "
	if HasHan(a) && HasHan(b) {
		if between = ""; longer-min(len(x), len(y)) > 1 {
			return false // worded in another way
		}
	}
	s, t := strings.Join(x, between), strings.Join(y, between)
	if opposite.MatchString(s) && opposite.MatchString(t) {
		return true
	}
	p, q := Terms(s), Terms(t)
	return len(p) > 0 && len(q) > 0 && !within(p, q) && !within(q, p) && !synonyms(s, t) && !slices.Equal(Core(a), Core(b))
}

// SameWords says whether two texts hold the same words that carry meaning,
// whatever stands between them. Without it texts that are near differ in
// something that only a reader can judge.
func SameWords(a, b string) bool {
	a, b = unclaimed(a), unclaimed(b)
	x, y := Terms(a), Terms(b)
	return len(x) > 0 && slices.Equal(x, y) && slices.Equal(opposite.FindAllString(a, -1), opposite.FindAllString(b, -1))
}

// NearForm is [Near] over texts whose numbers and times are written in one way.
func NearForm(a, b string) float64 { return Near(digitised(a), digitised(b)) }

// unclaimed is a text in plain form without its numbers, units and times, and
// with whoever speaks in one form.
func unclaimed(s string) string {
	_, s = dates(digitised(s))
	s = moneyFirst.ReplaceAllString(s, "$2 $1")
	var b strings.Builder
	for {
		at := digitRun.FindStringIndex(s)
		if at == nil {
			break
		}
		b.WriteString(s[:at[0]] + " ")
		s = s[at[1]:]
		if word, ok := unitText(s); ok {
			s = strings.TrimPrefix(strings.TrimLeft(s, " -"), word)
		}
	}
	b.WriteString(s)
	return speaker.ReplaceAllString(b.String(), " ")
}

var (
	// opposite words decide what is said, though they are function words.
	opposite = regexp.MustCompile(`\b(?:up|down|on|off|in|out|left|right|before|after|above|below|over|under|from|to|with|more|less|most|least|first|last)\b|[上下左右前后内外多少大小长短高低]`)
	speaker  = regexp.MustCompile(`^\s*(?:the user's|the user|my|our|i'm|i am|i've|i have|i|we|用户的?|我们?的?)(?:\s|\b|$)|^\s*(?:用户|我们?)的?`)
)

func within(some, all []string) bool {
	return !slices.ContainsFunc(some, func(w string) bool { return !slices.Contains(all, w) })
}

// classes are words that people exchange for one another and mean the same by.
// It is short on purpose: what is missing costs a memory that stands there
// twice, what is wrong in it costs a fact.
var classes = []*regexp.Regexp{
	regexp.MustCompile(`\b(?:lives?|living|resides?|residing)\b`),
	regexp.MustCompile(`\b(?:works?|working|employed)\b`),
	regexp.MustCompile(`\b(?:likes?|loves?|enjoys?|fond of)\b|喜欢|喜爱|热爱|偏好|爱`),
	regexp.MustCompile(`\b(?:buys?|bought|purchased?)\b|买|购`),
	regexp.MustCompile(`\b(?:afraid|scared|frightened)\b`),
	regexp.MustCompile(`\b(?:fix(?:ed|es)?|repair(?:ed|s)?|mend(?:ed|s)?)\b`),
	regexp.MustCompile(`\b(?:begins?|starts?|begun|began|started)\b`),
	regexp.MustCompile(`\b(?:flat|apartment)\b`),
	regexp.MustCompile(`\b(?:kids?|child|children)\b|孩|娃`),
	regexp.MustCompile(`\b(?:brief|short|concise)\b|简短|简洁|简明`),
	regexp.MustCompile(`\b(?:boss|manager)\b|领导|上司|老板`),
	regexp.MustCompile(`\b(?:big|large)\b`),
	regexp.MustCompile(`\b(?:small|little)\b`),
	regexp.MustCompile(`\b(?:owns?|has|have)\b`),
	regexp.MustCompile(`\b(?:usually|normally|generally)\b|平时|通常|一般`),
	regexp.MustCompile(`\b(?:deletes?|removes?)\b|删|清理`),
	regexp.MustCompile(`\b(?:movie|film)\b|电影|影片`),
	regexp.MustCompile(`外婆|姥姥`), regexp.MustCompile(`妻子|老婆|太太`), regexp.MustCompile(`丈夫|老公|先生`),
	regexp.MustCompile(`一共|总共|共`), regexp.MustCompile(`最多|上限|不超过`),
	regexp.MustCompile(`禁止|不让|不许|不准|不允许`), regexp.MustCompile(`读|念`), regexp.MustCompile(`登山|爬山`),
	regexp.MustCompile(`自行车|单车`), regexp.MustCompile(`上班|工作|就职|任职`), regexp.MustCompile(`戒|不抽|不喝`),
}

func synonyms(a, b string) bool {
	return slices.ContainsFunc(classes, func(c *regexp.Regexp) bool { return c.MatchString(a) && c.MatchString(b) })
}
