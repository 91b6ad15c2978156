package wording

import (
	"regexp"
	"strings"

	"hindsight/store/index"
)

var (
	contrastTail = regexp.MustCompile(`(?i)\s*(?:[,;(（，；]|\s[-–—])\s*(?:and )?not (?:an? |the )?([^,;()（），。]{1,60}?)[)）]?\s*([.!。！]*)$|\s*[,(（，；]\s*(?:而)?(?:不是|并非|而非)([^,;()（），。]{1,30}?)[)）]?\s*([.!。！]*)$`)
	contrastHead = regexp.MustCompile(`(?i)\b(is|are) not ([^,.;]{1,40}?),? but (?:rather )?|(?:并)?不是([^,，。]{1,20}?)[,，\s]*(?:而是|是)`)
)

// Uncontrasted takes out of a sentence what it names only to say what isn't
// meant: "4412, not 4411", "not 4411 but 4412", 是4412，不是4411.
func Uncontrasted(s string) string {
	plain, _ := uncontrasted(s)
	return plain
}

// Contrast is what a sentence names only to say that it isn't meant, or "".
func Contrast(s string) string {
	_, not := uncontrasted(s)
	return not
}

func uncontrasted(s string) (plain, not string) {
	if m := contrastTail.FindStringSubmatchIndex(s); m != nil {
		not = string(contrastTail.Expand(nil, []byte("$1$3"), []byte(s), m))
		s = s[:m[0]] + string(contrastTail.Expand(nil, []byte("$2$4"), []byte(s), m))
	}
	if m := contrastHead.FindStringSubmatch(s); m != nil {
		not = m[2] + m[3]
		verb := m[1] + " "
		if m[1] == "" {
			verb = "是"
		}
		s = strings.Replace(s, m[0], verb, 1)
	}
	return s, not
}

var (
	endedEn = regexp.MustCompile(`(?i)\b(?:no longer|any ?more|any longer|stop|stopped|quit|gave up|given up|moved (?:away from|out of))\b`)
	usedTo  = regexp.MustCompile(`(?i)^(i|we) used to\b`)
	endedZh = regexp.MustCompile(`不再|了[.!。！\s]*$|搬走|搬离|戒`)
)

// Ended says whether a text says of something that it held and holds no more.
func Ended(s string) bool {
	return endedEn.MatchString(s) || usedTo.MatchString(s) || Negated(s) && endedZh.MatchString(s) || movedZh.MatchString(s)
}

// Denies says whether a sentence denies what it is about. What it only names
// in contrast counts for nothing.
func Denies(s string) bool {
	s = Uncontrasted(s)
	return Negated(s) || usedTo.MatchString(s) || endedEn.MatchString(s) || movedZh.MatchString(s)
}

var movedZh = regexp.MustCompile(`搬离|从[^,，。]{1,12}搬(?:走|出)`)

// rewrites take the denial out of a sentence and leave what is denied.
var rewrites = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`(?i)\bcan(?:'t|not| not) (?:stand|bear) |\b(?:hates?|dislikes?|loves?|enjoys?|adores?) `), "like "},
	{regexp.MustCompile(`(?i)\bmoved (?:away from|out of) `), "live in "},
	{regexp.MustCompile(`(?i)\b(?:do|does|did)(?:n't| not) `), ""},
	{regexp.MustCompile(`(?i)\b(is|are|am|was|were|has|have)(?:n't| not)\b`), "$1"},
	{regexp.MustCompile(`(?i)\bcan(?:'t|not| not)\b`), "can"},
	{regexp.MustCompile(`(?i)('m|'re|'ve) not\b`), "$1"},
	{regexp.MustCompile(`(?i)\b(?:no longer|never|not|(?:'ve |have )?(?:stopped|quit|gave up|given up)|used to) `), ""},
	{regexp.MustCompile(`(?i),? any ?(?:more|longer)\b`), ""},
	{regexp.MustCompile(`从([^,，。]{1,12}?)搬(?:走|出)(?:来|去)?`), "住在$1"},
	{regexp.MustCompile(`搬离`), "住在"},
	{regexp.MustCompile(`使用`), "用"},
	{regexp.MustCompile(`讨厌|反感|受不了|不爱|热爱|喜爱`), "喜欢"},
	{regexp.MustCompile(`不过敏`), "过敏"},
	{regexp.MustCompile(`(?i)^(?:please )?(?:stop|do not|don't) `), ""},
	{regexp.MustCompile(`不要再?|别再?|不再|不会|没有|[不没]`), ""},
	{regexp.MustCompile(`了([.!。！\s]*)$`), "$1"},
}

// Affirmed is a sentence without its denial: what it denies, as one would say
// it if it held. The grammar may limp.
func Affirmed(s string) string {
	for _, r := range rewrites {
		s = r.re.ReplaceAllString(s, r.to)
	}
	return s
}

// fillers say nothing about what is denied.
var (
	fillersEn = regexp.MustCompile(`(?i)\b(?:from now on|going forward|these days|nowadays|now|currently|still|again|really|actually|always|usually|just|much|at all|please|for good)\b`)
	fillersZh = regexp.MustCompile(`从现在(?:开始|起)|已经|现在|目前|其实|真的|非常|特别|比较|一直|平时|通常|以后|今后|重新|[更最很再又也都还请会]`)
	likeZh    = regexp.MustCompile(`喜欢[喝吃用看玩去]?`)
)

// Core are the words of what a sentence is about, in their order, whether it
// affirms or denies it.
func Core(s string) []string {
	s = Affirmed(Uncontrasted(shapes.Replace(s)))
	s = fillersZh.ReplaceAllString(fillersEn.ReplaceAllString(s, " "), "")
	s = likeZh.ReplaceAllString(s, "喜欢")
	var out []string
	for _, t := range index.Tokens(s) {
		if t.Kind != index.Bigram {
			out = append(out, t.Text)
		}
	}
	return out
}

var clause = regexp.MustCompile(`(?i)(?:[,.;!](?:\s+|$)|[，；。！])(?:(?:but|and|so)\b)?|\b(?:but|because|since)\b|但是?|而且|所以|因为`)

// Clauses cuts a sentence into what it says one after the other.
func Clauses(s string) []string {
	var out []string
	for _, c := range clause.Split(s, -1) {
		if c = strings.TrimSpace(c); Weight(c) >= 3 {
			out = append(out, c)
		}
	}
	return out
}

// assertion is one of the things that a text says, one after the other.
type assertion struct {
	text   string
	terms  []string // of what it says or denies
	denied bool
}

// partsOf cuts a text into its parts, at its "and"s too: what denies one thing
// may affirm the other. What is only named to be ruled out is a part of its own.
func partsOf(text string) []assertion {
	var out []assertion
	add := func(s string, denied bool) {
		out = append(out, assertion{s, Terms(Affirmed(s)), denied})
	}
	text = unmeant.ReplaceAllStringFunc(text, func(m string) string {
		add(unmeant.ReplaceAllString(m, "$1$2$3"), true)
		return ", "
	})
	for _, c := range Clauses(Uncontrasted(text)) {
		for _, s := range also.Split(c, -1) {
			add(s, Denies(s))
		}
	}
	return out
}

var also = regexp.MustCompile(`(?i)\s+and\s+(?:also )?|\s+[-–—]+\s+|[—()（）]|[:：]\s`)

// mends are words that say of a fault that it is none any more, as a denial does.
var mends = regexp.MustCompile(`(?i)\b(?:fix|solv|resolv|cured|prevent|remov|got rid)\w*|解决|修复|恢复|避免|消除`)

// LostDenial says whether a text affirms what a quote denies: of all that was
// said, what is nearest to a part of the text is a denial in the quote.
func LostDenial(quote, text, evidence string) bool {
	if !Denies(quote) {
		return false
	}
	said := append(partsOf(quote), partsOf(evidence)...)
	of := partsOf(text)
	for _, p := range of {
		if p.denied || mends.MatchString(p.text) {
			continue
		}
		best, lost := 0.0, false
		for _, s := range said {
			switch share := Share(p.terms, s.terms); {
			case share > best:
				best, lost = share, s.denied
			case share == best:
				lost = lost && s.denied
			}
		}
		if lost && (best >= 0.5 || len(of) == 1) {
			return true
		}
	}
	return false
}

// adverse words say of a thing that it doesn't go: what is said with one can be
// retold with a denial (it failed: it doesn't work; allergic to nuts: can't eat
// nuts).
var adverse = regexp.MustCompile(`(?i)\b(?:fail|broke|break|crash|lack|refus|reject|hang|hung|allerg|intoleran|forbid|forbidden|ban|un(?:able|available|employed|funded|happy|married|paid|reliable|safe|stable|supported|used|wanted|well|willing)|got rid of|ditch|drop|abandon|replac|remov)|失败|报错|崩溃|缺|过敏|拒绝|禁止|难受`)

// AddedDenial says whether a clause of a text denies what the clauses of the
// evidence that are nearest to it affirm.
func AddedDenial(text, evidence string) bool {
	if !Negated(text) {
		return false
	}
	said := partsOf(evidence)
	for _, p := range partsOf(text) {
		if !p.denied || !Negated(p.text) {
			continue
		}
		best, denied := 0.0, 0.0
		for _, s := range said {
			share := Share(p.terms, s.terms)
			best = max(best, share)
			if s.denied || adverse.MatchString(s.text) && !adverse.MatchString(p.text) {
				denied = max(denied, share)
			}
		}
		if denied < best*0.85 || best == 0 && !Denies(evidence) {
			return true
		}
	}
	return false
}
