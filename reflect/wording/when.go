package wording

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const monthWords = `january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec`

var (
	isoDate    = regexp.MustCompile(`\b([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})\b`)
	zhYear     = regexp.MustCompile(`([0-9]{4})年(?:([0-9]{1,2}|１)月份?)?(?:([0-9]{1,2}|１)[日号])?`)
	zhMonth    = regexp.MustCompile(`([0-9]{1,2}|１)月份?(?:初?([0-9]{1,2}|１)[日号]?)?`)
	zhDay      = regexp.MustCompile(`([0-9]{1,2}|１)[日号]`)
	dayMonth   = regexp.MustCompile(`\b([0-9]{1,2})(?:st|nd|rd|th)? (?:of )?(` + monthWords + `)\b(?:,? ([0-9]{4})\b)?`)
	monthDay   = regexp.MustCompile(`\b(` + monthWords + `) ([0-9]{1,2})(?:st|nd|rd|th)?\b(?:,? ([0-9]{4})\b)?`)
	monthYear  = regexp.MustCompile(`\b(` + monthWords + `)(?: ([0-9]{4}))\b`)
	inMonth    = regexp.MustCompile(`\b(?:in|on|since|by|until|till|before|after|of|this|next|last|every|each|from|for) (` + monthWords + `)\b`)
	aMonth     = regexp.MustCompile(`\b(january|february|april|june|july|august|september|october|november|december)\b`)
	ordinal    = regexp.MustCompile(`\b([0-9]{1,2})(?:st|nd|rd|th)\b`)
	ordinals   = regexp.MustCompile(`\b(third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b`)
	clock      = regexp.MustCompile(`\b([0-9]{1,2}):([0-9]{2})(?::[0-9]{2})?\b ?(am\b|pm\b|a\.m\.|p\.m\.)?`)
	hourOnly   = regexp.MustCompile(`\b([0-9]{1,2}) ?(am\b|pm\b|a\.m\.|p\.m\.|o'clock\b)`)
	pastHour   = regexp.MustCompile(`\b(?:a )?(half|quarter) (past|to) ([0-9]{1,2})\b`)
	noon       = regexp.MustCompile(`\b(noon|midday|midnight)\b`)
	zhClock    = regexp.MustCompile(`(上午|下午|早上|早晨|晚上|傍晚|夜里|半夜|凌晨|中午|清晨)?([0-9]{1,2}|１)点(半|(?:[0-9]|１)刻|[0-9]{1,2}分?)?(?:钟|整)?`)
	weekdayEn  = regexp.MustCompile(`\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b`)
	weekdayZh  = regexp.MustCompile(`(?:周|星期|礼拜)([1-6１日天])`)
	partEn     = regexp.MustCompile(`\b(morning|afternoon|evening|night)s?\b|\b(nightly|tonight)\b`)
	partZh     = regexp.MustCompile(`早上|早晨|清晨|上午|下午|傍晚|晚上|夜里|夜间|夜晚|半夜|凌晨|中午`)
	seasonEn   = regexp.MustCompile(`\b(summer|winter|autumn)s?\b|\b(?:in|every|each|this|next|last) (?:the )?(spring|fall)\b`)
	seasonZh   = regexp.MustCompile(`([春夏秋冬])(?:天|季)`)
	rhythmEn   = regexp.MustCompile(`\b(?:a|an|per|each|every|by the) (second|minute|hour|day|week|month|quarter|year)\b|\b(hourly|daily|weekly|monthly|quarterly|yearly|annually|annual)\b`)
	rhythmZh   = regexp.MustCompile(`每个?(小时|天|日|周|星期|礼拜|月|季度|年)(?:１次)?|(?:元|块钱|块)(?:１|一)个?(小时|天|周|月|年)|天天|月付|周付|年付`)
	relativeEn = regexp.MustCompile(`\b(yesterday|today|tomorrow|(?:last|next|this) (?:week|weekend|month|year|quarter|summer|winter|;))`)
	relativeZh = regexp.MustCompile(`昨天|今天|明天|前天|后天|上个?(?:周|星期|月)|下个?(?:周|星期|月)|这个?(?:周|星期|月)|本[周月年]|去年|今年|明年|前年|后年`)
	dateWord   = regexp.MustCompile(`^(?:` + monthWords + `|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|am|pm)$`)
)

// dates takes what says when out of a digitised text, and returns it sorted, in
// one form: 2026-03-05, 5 March 2026 and 2026年3月5日 fall together, as do half
// past six and 6:30, two in the afternoon and 14:00.
func dates(s string) (found []string, rest string) {
	take := func(re *regexp.Regexp, read func(g []string) []string) {
		s = re.ReplaceAllStringFunc(s, func(m string) string {
			found = append(found, read(re.FindStringSubmatch(m))...)
			return " ; "
		})
	}
	s = ordinals.ReplaceAllStringFunc(s, func(m string) string {
		return strconv.Itoa(3+slices.Index(strings.Fields("third fourth fifth sixth seventh eighth ninth tenth"), m)) + "th"
	})
	take(isoDate, func(g []string) []string { return day(g[1], g[2], g[3]) })
	take(zhYear, func(g []string) []string { return day(g[1], g[2], g[3]) })
	s = weekdays(s, &found) // before 每周 is a rhythm: 每周一 is Monday
	s = rhythmZh.ReplaceAllStringFunc(s, func(m string) string {
		g := rhythmZh.FindStringSubmatch(m)
		every := g[1] + g[2]
		if every == "" { // 天天, 月付
			every = string([]rune(m)[:1])
		}
		found = append(found, "every "+rhythm(every))
		if strings.HasPrefix(m, "元") || strings.HasPrefix(m, "块") {
			return "元"
		}
		return " ; "
	})
	take(zhMonth, func(g []string) []string { return day("", g[1], g[2]) })
	take(zhDay, func(g []string) []string { return day("", "", g[1]) })
	take(dayMonth, func(g []string) []string { return day(g[3], g[2], g[1]) })
	take(monthDay, func(g []string) []string { return day(g[3], g[1], g[2]) })
	take(monthYear, func(g []string) []string { return day(g[2], g[1], "") })
	take(inMonth, func(g []string) []string { return day("", g[1], "") })
	take(aMonth, func(g []string) []string { return day("", g[1], "") })
	take(ordinal, func(g []string) []string { return day("", "", g[1]) })
	take(clock, func(g []string) []string { return at(g[1], g[2], g[3]) })
	take(hourOnly, func(g []string) []string { return at(g[1], "0", g[2]) })
	take(pastHour, func(g []string) []string {
		minutes := map[string]string{"halfpast": "30", "quarterpast": "15", "halfto": "-30", "quarterto": "-15"}[g[1]+g[2]]
		return at(g[3], minutes, "")
	})
	take(noon, func(g []string) []string {
		if g[1] == "midnight" {
			return at("0", "0", "")
		}
		return at("12", "0", "")
	})
	take(zhClock, zhTime)
	take(weekdayEn, func(g []string) []string { return []string{"on " + g[1]} })
	take(partEn, func(g []string) []string {
		if g[2] != "" {
			return []string{"night"}
		}
		return []string{g[1]}
	})
	take(partZh, func(g []string) []string { return []string{part(g[0])} })
	take(seasonEn, func(g []string) []string { return []string{g[1] + g[2]} })
	take(seasonZh, func(g []string) []string { return []string{g[1]} })
	take(rhythmEn, func(g []string) []string { return []string{"every " + rhythm(g[1]+g[2])} })
	take(relativeEn, func(g []string) []string { return []string{g[1]} })
	take(relativeZh, func(g []string) []string { return []string{strings.ReplaceAll(g[0], "个", "")} })
	return sortedUnique(found), s
}

// day writes the parts of a date that are there.
func day(y, m, d string) []string {
	var out []string
	for i, v := range []string{y, month(m), d} {
		if v = strings.TrimLeft(strings.ReplaceAll(v, one, "1"), "0"); v != "" {
			out = append(out, "ymd"[i:i+1]+v)
		}
	}
	return out
}

// month is the number of a month that is given as one or by its name.
func month(m string) string {
	if m == "" || m[0] < 'a' || m[0] > 'z' {
		return m
	}
	return strconv.Itoa(strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", m[:3])/3 + 1)
}

// at writes a time of day.
func at(hour, minute, half string) []string {
	h, _ := strconv.Atoi(hour) // digits only
	m, _ := strconv.Atoi(minute)
	switch {
	case strings.HasPrefix(half, "p") && h < 12:
		h += 12
	case strings.HasPrefix(half, "a") && h == 12:
		h = 0
	}
	t := h*60 + m
	return []string{fmt.Sprintf("at %d:%02d", t/60, t%60)}
}

func zhTime(g []string) []string {
	h, _ := strconv.Atoi(strings.ReplaceAll(g[2], one, "1"))
	var m int
	switch {
	case g[3] == "半":
		m = 30
	case strings.HasSuffix(g[3], "刻"):
		m, _ = strconv.Atoi(strings.ReplaceAll(strings.TrimSuffix(g[3], "刻"), one, "1"))
		m *= 15
	default:
		m, _ = strconv.Atoi(strings.TrimSuffix(g[3], "分"))
	}
	switch g[1] {
	case "下午", "晚上", "傍晚", "夜里", "半夜":
		if h < 12 {
			h += 12
		}
	case "中午":
		if h < 3 {
			h += 12
		}
	}
	return []string{fmt.Sprintf("at %d:%02d", h, m)}
}

// weekdays takes weekdays out of a Chinese text; 一周 and 每周一次 aren't any.
func weekdays(s string, found *[]string) string {
	var b strings.Builder
	last := 0
	for _, g := range weekdayZh.FindAllStringSubmatchIndex(s, -1) {
		before, after := s[:g[0]], s[g[1]:]
		if n := len(before); n > 0 && before[n-1] >= '0' && before[n-1] <= '9' || strings.HasSuffix(before, one) || startsAny(after, "次", "个", "遍", "回", "趟", "本") {
			continue
		}
		d := strings.Index("?1?2?3?4?5?6", strings.ReplaceAll(s[g[2]:g[3]], one, "1")) / 2
		if n := s[g[2]:g[3]]; n == "日" || n == "天" {
			d = 6
		}
		*found = append(*found, "on "+strings.Fields("mon tues wednes thurs fri satur sun")[d])
		b.WriteString(s[last:g[0]] + " ; ")
		last = g[1]
	}
	return b.String() + s[last:]
}

func part(p string) string {
	switch p {
	case "早上", "早晨", "清晨", "上午":
		return "morning"
	case "下午":
		return "afternoon"
	case "傍晚", "晚上", "夜晚":
		return "evening"
	case "中午":
		return "noon"
	}
	return "night"
}

func rhythm(w string) string {
	switch w {
	case "hourly", "小时":
		return "hour"
	case "daily", "天", "日", "天天":
		return "day"
	case "weekly", "周", "星期", "礼拜":
		return "week"
	case "monthly", "月":
		return "month"
	case "quarterly", "季度":
		return "quarter"
	case "yearly", "annually", "annual", "年":
		return "year"
	}
	return w
}

// whens is when a text says that something is.
func whens(s string) []string {
	found, _ := dates(digitised(s))
	return found
}

// hours writes the Chinese times of day of a digitised text in digits.
func hours(s string) string {
	return zhClock.ReplaceAllStringFunc(s, func(m string) string {
		return strings.TrimPrefix(zhTime(zhClock.FindStringSubmatch(m))[0], "at ")
	})
}

var forenoon = regexp.MustCompile(`\b[0-9]+ ?(?:am|a\.m)\b|上午|早上|早晨|清晨|凌晨`)

// clocked are the times of day of a digitised text as digits, from 0 to 24 h;
// each twice where nobody says which half of the day is meant.
func clocked(s string) string {
	found, _ := dates(s)
	var out []string
	for _, f := range found {
		var h, m int
		if n, _ := fmt.Sscanf(f, "at %d:%d", &h, &m); n < 2 {
			continue
		}
		hours := []int{h}
		if h < 12 && !forenoon.MatchString(s) || h >= 12 {
			hours = append(hours, (h+12)%24)
		}
		for _, h := range hours {
			out = append(out, fmt.Sprintf("%d:%02d %02d:%02d", h, m, h, m))
			if m == 0 {
				out = append(out, strconv.Itoa(h))
			}
		}
	}
	return strings.Join(out, " ")
}

var (
	always  = regexp.MustCompile(`^(?:on |m[0-9])`)
	cadence = regexp.MustCompile(`^(?:every |(?:summer|winter|autumn|spring|fall|[春夏秋冬])$)`)
)

// MissingDates lists what a text says of when that the evidence doesn't: a month
// or a weekday; how often, or in which season, where the evidence says
// otherwise. Days, years and times of day are numbers.
func MissingDates(text, evidence string) []string {
	said := whens(text)
	if !slices.ContainsFunc(said, func(d string) bool { return always.MatchString(d) || cadence.MatchString(d) }) {
		return nil
	}
	have := whens(evidence)
	otherwise := slices.ContainsFunc(missing(have, said), cadence.MatchString)
	return slices.DeleteFunc(missing(said, have), func(d string) bool {
		return !always.MatchString(d) && !(otherwise && cadence.MatchString(d))
	})
}
