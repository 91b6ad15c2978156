package wording

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Claims are what two statements must agree in to be the same one: what is
// counted and measured, when it is, who and what is named, whether it is
// denied or over, and whether it says itself that something is another now.
// They are for comparing two texts, and stricter than what extract asks of a
// text and its evidence.
type Claims struct {
	text    string // folded, for looking for the other's names
	numbers []quantity
	dates   []string // months, days, weekdays, times of day, seasons, rhythms
	names   []string
	denies  bool
	ended   bool
	changes bool
}

// ClaimsOf reads the claims of a text.
func ClaimsOf(s string) Claims {
	c := Claims{text: Plain(s), denies: deniesOrForbids(s), ended: over(s), changes: changed.MatchString(Plain(s))}
	rest := digitised(s)
	c.dates, rest = dates(rest)
	c.numbers = quantities(rest)
	names := mentioned(s)
	for _, g := range called.FindAllStringSubmatch(c.text, -1) {
		names = append(names, strings.TrimRight(g[1], ".-/"))
	}
	for _, n := range names {
		if !dateWord.MatchString(n) && !unitWord(n) && !numeral.MatchString(n) && !strings.HasPrefix(n, "我") {
			c.names = append(c.names, n)
		}
	}
	return c
}

var (
	called   = regexp.MustCompile(`\b(?:is|are|was|now) (?:called|named) ([a-z0-9][a-z0-9_./-]+)`)
	latinRun = regexp.MustCompile(`[a-z][a-z0-9_.@/-]*[a-z0-9]`)
	numeral  = regexp.MustCompile(`^[0-9]+(?:k|st|nd|rd|th)$`)
)

// Same says whether two statements claim the same.
func (c Claims) Same(o Claims) bool {
	return c.denies == o.denies && c.ended == o.ended && c.changes == o.changes &&
		slices.Equal(c.dates, o.dates) && sameQuantities(c.numbers, o.numbers) && c.named(o) && o.named(c)
}

// named says whether every name of c stands in o, as a word of its own where
// it is in Latin script.
func (c Claims) named(o Claims) bool {
	return !slices.ContainsFunc(c.names, func(n string) bool { return !names(o.text, n) })
}

// apart says whether s[from:to] isn't part of a longer Latin word.
func apart(s string, from, to int) bool {
	return !(from > 0 && latin(s[from-1]) && latin(s[from])) && !(to < len(s) && latin(s[to]) && latin(s[to-1]))
}

func latin(b byte) bool { return b >= 'a' && b <= 'z' || b >= '0' && b <= '9' }

var (
	forbids = regexp.MustCompile(`(?i)\b(?:forbid|forbids|forbidden|prohibit|prohibits|prohibited|banned|bans|hardly|barely|scarcely|un(?:able|safe|supported|available|willing|necessary|stable|reliable|happy|wanted)|impossible|invalid|incompatible|inactive|disabled|disallowed)\b|禁止|严禁|信不过|拒绝|谢绝`)
	isUsed  = regexp.MustCompile(`(?i)\b(?:is|are|am|was|were|be|been|get|gets|got|getting|'m|'re|'s) used to\b`)
	overEn  = regexp.MustCompile(`(?i)\b(?:used to|no longer|any ?more|any longer|formerly|previously|stopped|quit|gave up|given up|has left|have left|resigned|cancelled|canceled|discontinued|abandoned|retired from|got rid of)\b`)
	overZh  = regexp.MustCompile(`不再|以前|曾经?|原来|过去|原先|辞掉|辞去|辞了|戒|停用|弃用|取消了|退出了|卖掉|卖了|搬离|搬走|离职`)
	noMore  = regexp.MustCompile(`[不没][^,，。;；]*了[.!。！\s]*$`)
	changed = regexp.MustCompile(`\b(?:renamed|moved|changed|switched|migrated|relocated|replaced|now called|is now|are now|became)\b|改名|改成|改为|改叫|换成|换到|换了|变成|变为|迁到|迁移到|搬到|搬去`)
)

// deniesOrForbids is [Negated] with words that deny inside themselves.
func deniesOrForbids(s string) bool { return Negated(s) || forbids.MatchString(s) || over(s) }

// over says whether a text says of something that it holds no more.
func over(s string) bool {
	s = isUsed.ReplaceAllString(Plain(s), " ")
	return overEn.MatchString(s) || overZh.MatchString(s) || noMore.MatchString(seemsNot.ReplaceAllString(s, ""))
}

// quantity is a number with its unit. Optional ones ("one", 一) may be left
// out by the other text.
type quantity struct {
	value    string
	base     float64 // in the smallest unit of its dimension, 0 without a unit
	kind     string  // the dimension
	optional bool
}

func sameQuantities(a, b []quantity) bool { return held(a, b) && held(b, a) }

// held says whether b has every quantity of a that must be there.
func held(a, b []quantity) bool {
	for _, x := range a {
		if !x.optional && !slices.ContainsFunc(b, x.same) {
			return false
		}
	}
	return true
}

func (x quantity) same(y quantity) bool {
	if x.kind != "" && y.kind != "" {
		return x.kind == y.kind && x.base == y.base
	}
	return x.value == y.value
}

func sortedUnique(s []string) []string {
	slices.SortFunc(s, cmp.Compare[string])
	return slices.Compact(s)
}
