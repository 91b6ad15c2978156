package extract

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"hindsight/reflect/wording"
)

// Dates are computed here and never by a model: from the time at which an
// event happened, in the user's zone. A week begins on Monday.

// relativeEn and relativeZh find relative times by their form; the names of
// their groups say what spanEn and spanZh read.
var (
	relativeEn = regexp.MustCompile(`(?i)\b(?:(?:the )?day (?P<before>before yesterday)|(?:the )?day (?P<after>after tomorrow)` +
		`|(?P<day>yesterday|today|tomorrow)(?: (?:morning|afternoon|evening|night))?|(?P<night>tonight|last night)|this (?:morning|afternoon|evening)` +
		`|(?P<step>last|this|next) (?P<of>weekend|week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)` +
		`|the (?P<twice>week|month|year) before last|(?:the )?end of (?:the|this) (?P<end>month|year)` +
		`|half a (?P<half>month|year) ago|` + countEn("ago") + ` ago|` + countEn("from") + ` from (?P<base>now|today|tomorrow)|in ` + countEn("in") + `(?:'s? time)?)(?:\b|$)`)
	relativeZh = regexp.MustCompile(`(?P<far>大前天|大后天)|(?P<year>大前年|前年|去年|今年|明年|后年)(?P<yend>年?[底末])?|(?P<day>前天|前晚|昨[天晚日夜早]|今[天晚早日夜]|明[天早晚日]|后天)` +
		`|(?P<step>上上|上|这|本|下下|下)个?(?:(?P<of>周|星期|礼拜)(?P<wd>[一二三四五六日天末])?|(?P<month>月)(?:(?P<dom>[\d０-９]{1,2}|[一二三四五六七八九十]{1,3})[号日]|(?P<end>[底末]))?)` +
		`|(?P<bare>[月年])[底末]|半(?:(?P<hm>个月)|(?P<hy>年))(?:之|以)?(?P<hdir>前|后)` +
		`|(?P<n>[\d０-９]{1,3}|[一二两三四五六七八九十]{1,3})个?(?P<unit>天|周|星期|礼拜|月|年)(?:之|以)?(?P<dir>前|后)`)
	// done is a past tense before "in three days": then that is how long it took.
	done = regexp.MustCompile(`(?i)\b(?:\p{L}+ed|did|was|were|had|made|built|wrote|ran|got|took|went|came|read|learnt|grew|lost|won|sold|bought)\b`)
)

const digitEn = `two|three|four|five|six|seven|eight|nine`

func countEn(name string) string {
	return `(?P<n` + name + `>\d{1,3}|an?|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -](?:one|` + digitEn + `))?|` + digitEn + `|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen) (?P<u` + name + `>day|week|month|year)s?`
}

// dated writes the date behind every relative time in a text, or at its end if
// the expression that a model named isn't in the text. A text without one
// stays as it is.
func dated(text, expression string, now time.Time) string {
	found := relatives(text, now)
	if len(found) == 0 {
		said := relatives(expression, now)
		if len(said) == 0 {
			return text
		}
		end := len(strings.TrimRight(text, ".。!！ "))
		return text[:end] + bracket(text, said[0].span.String()) + text[end:]
	}
	var b strings.Builder
	at := 0
	for i, f := range found {
		b.WriteString(text[at:f.end])
		at = f.end
		if !slices.ContainsFunc(found[:i], func(o relative) bool { return o.span == f.span }) {
			b.WriteString(bracket(text, f.span.String()))
		}
	}
	return b.String() + text[at:]
}

func bracket(text, when string) string {
	if wording.HasHan(text) {
		return "（" + when + "）"
	}
	return " (" + when + ")"
}

// relative is a relative time in a text: where it ends, and what it means.
type relative struct {
	end  int
	span span
}

// relatives finds the relative times in s, in their order.
func relatives(s string, now time.Time) []relative {
	if now.IsZero() || s == "" {
		return nil
	}
	s = wording.Simplified(s)
	var out []relative
	for _, m := range relativeEn.FindAllStringSubmatchIndex(s, -1) {
		if in := strings.EqualFold(s[m[0]:m[0]+1], "i"); !in || !done.MatchString(s[:m[0]]) {
			out = append(out, relative{m[1], spanEn(named(relativeEn, s, m), now)})
		}
	}
	for _, m := range relativeZh.FindAllStringSubmatchIndex(s, -1) {
		if partZh(s, m) {
			continue
		}
		if sp, ok := spanZh(named(relativeZh, s, m), s[m[0]:m[1]], now); ok {
			out = append(out, relative{m[1], sp})
		}
	}
	slices.SortFunc(out, func(a, b relative) int { return a.end - b.end })
	return out
}

// otherDay says whether a text names a relative time that its evidence doesn't.
// The present one ("this year") goes without saying, where the evidence names no
// other.
func otherDay(text, evidence string, now time.Time) bool {
	said := relatives(text, now)
	if len(said) == 0 {
		return false
	}
	have := relatives(evidence, now)
	lacks := func(list []relative, r relative) bool {
		return !slices.ContainsFunc(list, func(o relative) bool { return o.span == r.span })
	}
	instead := slices.ContainsFunc(have, func(r relative) bool { return lacks(said, r) })
	return slices.ContainsFunc(said, func(r relative) bool {
		return lacks(have, r) && (instead || !r.span.holds(now))
	})
}

// partZh says whether a match is only part of other words: 以前天天, 今日头条, or
// comes round again: 每月底.
func partZh(s string, m []int) bool {
	hit, before := s[m[0]:m[1]], s[:m[0]]
	for _, w := range []string{"以", "之", "从", "先"} {
		if strings.HasSuffix(before, w) && (strings.HasPrefix(hit, "前") || strings.HasPrefix(hit, "后")) {
			return true
		}
	}
	for _, w := range []string{"每", "每个", "各"} {
		if strings.HasSuffix(before, w) {
			return true
		}
	}
	return hit == "今日" && strings.HasPrefix(s[m[1]:], "头条")
}

// named are the groups of a match that hold something, by name.
func named(re *regexp.Regexp, s string, m []int) map[string]string {
	out := map[string]string{}
	for i, name := range re.SubexpNames() {
		if name != "" && m[2*i] >= 0 {
			out[name] = strings.ToLower(s[m[2*i]:m[2*i+1]])
		}
	}
	return out
}
