package extract

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"hindsight/reflect/wording"
)

// Dates are computed here and never by a model: from the time at which an
// event happened, in the user's zone. A week begins on Monday.

var (
	relativeEn = regexp.MustCompile(`(?i)\b(?:the day before yesterday|the day after tomorrow|yesterday|today|tonight|tomorrow|last night|this (?:morning|afternoon|evening)|(last|this|next) (week|month|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday)|(\d{1,3}|an?|two|three|four|five|six|seven|eight|nine|ten) (day|week|month|year)s? ago)\b`)
	relativeZh = regexp.MustCompile(`大前天|大后天|前天|昨天|昨晚|昨日|今天|今晚|今早|今日|明天|明早|明晚|后天|去年|今年|明年|(上上|上|这|本|下下|下)(?:个)?(?:(周|星期|礼拜)([一二三四五六日天])?|(月))|(\d{1,3}|[一二两三四五六七八九十]{1,3})(?:个)?(天|周|星期|月|年)(?:之)?(前|后)`)
)

var weekdays = map[string]time.Weekday{
	"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
	"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 0, "天": 0,
}

// dated writes the date behind the first relative time in a text, or at its
// end if the expression that a model named isn't in the text. A text without
// one stays as it is.
func dated(text, expression string, now time.Time) string {
	if at, when := relative(text, now); at != nil {
		return text[:at[1]] + bracket(text, when) + text[at[1]:]
	}
	if _, when := relative(expression, now); when != "" {
		end := len(strings.TrimRight(text, ".。!！ "))
		return text[:end] + bracket(text, when) + text[end:]
	}
	return text
}

func bracket(text, when string) string {
	if wording.HasHan(text) {
		return "（" + when + "）"
	}
	return " (" + when + ")"
}

// relative finds the first relative time in s: where it stands and which day,
// week (its Monday and Sunday), month or year it is.
func relative(s string, now time.Time) (at []int, when string) {
	if now.IsZero() {
		return nil, ""
	}
	if m := relativeEn.FindStringSubmatchIndex(s); m != nil {
		return m[:2], english(strings.ToLower(s[m[0]:m[1]]), groups(strings.ToLower(s), m), now)
	}
	if m := relativeZh.FindStringSubmatchIndex(s); m != nil {
		return m[:2], chinese(s[m[0]:m[1]], groups(s, m), now)
	}
	return nil, ""
}

func groups(s string, m []int) []string {
	out := make([]string, len(m)/2)
	for i := range out {
		if m[2*i] >= 0 {
			out[i] = s[m[2*i]:m[2*i+1]]
		}
	}
	return out
}

func english(s string, g []string, now time.Time) string {
	switch {
	case g[3] != "":
		return away(g[4], -count(g[3]), now)
	case g[1] != "":
		step := map[string]int{"last": -1, "this": 0, "next": 1}[g[1]]
		day, named := weekdays[g[2]]
		switch {
		case !named:
			return away(g[2], step, now)
		case step < 0: // the latest one before today
			return dayOf(now.AddDate(0, 0, -1-(int(now.Weekday())-int(day)+6)%7))
		default:
			return dayOf(monday(now).AddDate(0, 0, 7*step+(int(day)+6)%7))
		}
	case strings.Contains(s, "before yesterday"):
		return dayOf(now.AddDate(0, 0, -2))
	case strings.Contains(s, "after tomorrow"):
		return dayOf(now.AddDate(0, 0, 2))
	case s == "yesterday", s == "last night":
		return dayOf(now.AddDate(0, 0, -1))
	case s == "tomorrow":
		return dayOf(now.AddDate(0, 0, 1))
	default:
		return dayOf(now)
	}
}

func chinese(s string, g []string, now time.Time) string {
	if g[5] != "" {
		n := count(g[5])
		if g[7] == "前" {
			n = -n
		}
		return away(g[6], n, now)
	}
	if g[1] != "" {
		step := map[string]int{"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}[g[1]]
		if day, named := weekdays[g[3]]; named {
			return dayOf(monday(now).AddDate(0, 0, 7*step+(int(day)+6)%7))
		}
		return away(g[2]+g[4], step, now) // one of the two is set
	}
	for word, days := range map[string]int{"大前天": -3, "大后天": 3} {
		if s == word {
			return dayOf(now.AddDate(0, 0, days))
		}
	}
	r := []rune(s)
	if year, ok := map[string]int{"去年": -1, "今年": 0, "明年": 1}[s]; ok {
		return away("年", year, now)
	}
	return dayOf(now.AddDate(0, 0, map[rune]int{'前': -2, '昨': -1, '今': 0, '明': 1, '后': 2}[r[0]]))
}

// away is the day, week, month or year that lies n of them away.
func away(unit string, n int, now time.Time) string {
	switch unit {
	case "day", "天":
		return dayOf(now.AddDate(0, 0, n))
	case "week", "周", "星期", "礼拜":
		first := monday(now).AddDate(0, 0, 7*n)
		return fmt.Sprintf("%s/%s", dayOf(first), dayOf(first.AddDate(0, 0, 6)))
	case "month", "月": // from the first: the 31st has no neighbour in April
		return time.Date(now.Year(), now.Month()+time.Month(n), 1, 0, 0, 0, 0, now.Location()).Format("2006-01")
	default:
		return strconv.Itoa(now.Year() + n)
	}
}

func dayOf(t time.Time) string { return t.Format(time.DateOnly) }

func monday(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }

func count(s string) int {
	if s == "a" || s == "an" || s == "一" {
		return 1
	}
	for _, n := range wording.Numbers(s + "个") {
		if i, err := strconv.Atoi(n); err == nil {
			return i
		}
	}
	return 1
}
