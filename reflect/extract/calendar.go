package extract

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"hindsight/reflect/wording"
)

// span is a day, a run of days, a month or a year of the calendar.
type span struct {
	first, last string // days, as 2006-01-02
	form        byte   // d, m or y
}

func (s span) String() string {
	switch {
	case s.form == 'm':
		return s.first[:7]
	case s.form == 'y':
		return s.first[:4]
	case s.first == s.last:
		return s.first
	default:
		return s.first + "/" + s.last
	}
}

func dayOf(t time.Time) string { return t.Format(time.DateOnly) }

// holds says whether a moment lies in it.
func (s span) holds(t time.Time) bool {
	day := dayOf(t)
	return s.first <= day && day <= s.last
}

func onDay(t time.Time) span { return span{dayOf(t), dayOf(t), 'd'} }

func days(first, last time.Time) span { return span{dayOf(first), dayOf(last), 'd'} }

// midday of a day, so that no change of the clocks moves a sum to another day.
func midday(y int, m time.Month, d int, zone *time.Location) time.Time {
	return time.Date(y, m, d, 12, 0, 0, 0, zone)
}

func monthOf(y int, m time.Month, zone *time.Location) span {
	return span{dayOf(midday(y, m, 1, zone)), dayOf(midday(y, m+1, 0, zone)), 'm'}
}

func monday(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) }

var weekdays = map[string]time.Weekday{
	"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 0,
	"一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "日": 0, "天": 0,
}

// away is the day, week, month or year that lies n of them away.
func away(unit string, n int, now time.Time) span {
	switch unit {
	case "day", "天":
		return onDay(now.AddDate(0, 0, n))
	case "week", "周", "星期", "礼拜":
		first := monday(now).AddDate(0, 0, 7*n)
		return days(first, first.AddDate(0, 0, 6))
	case "weekend":
		first := monday(now).AddDate(0, 0, 7*n+5)
		return days(first, first.AddDate(0, 0, 1))
	case "month", "月": // from the first: the 31st has no neighbour in April
		return monthOf(now.Year(), now.Month()+time.Month(n), now.Location())
	default:
		y := now.Year() + n
		return span{dayOf(midday(y, 1, 1, now.Location())), dayOf(midday(y, 12, 31, now.Location())), 'y'}
	}
}

// spanEn is what the groups of [relativeEn] mean.
func spanEn(g map[string]string, now time.Time) span {
	now = midday(now.Year(), now.Month(), now.Day(), now.Location())
	switch {
	case g["before"] != "":
		return away("day", -2, now)
	case g["after"] != "":
		return away("day", 2, now)
	case g["day"] != "":
		return away("day", map[string]int{"yesterday": -1, "tomorrow": 1}[g["day"]], now)
	case g["night"] == "last night":
		return away("day", -1, now)
	case g["step"] != "":
		step := map[string]int{"last": -1, "next": 1}[g["step"]]
		day, named := weekdays[g["of"]]
		switch {
		case !named:
			return away(g["of"], step, now)
		case step < 0: // the latest one before today
			return onDay(now.AddDate(0, 0, -1-(int(now.Weekday())-int(day)+6)%7))
		default:
			return onDay(monday(now).AddDate(0, 0, 7*step+(int(day)+6)%7))
		}
	case g["twice"] != "":
		return away(g["twice"], -2, now)
	case g["end"] != "":
		return endOf(away(g["end"], 0, now))
	case g["half"] == "month":
		return away("day", -15, now)
	case g["half"] != "":
		return away("month", -6, now)
	}
	for name, sign := range map[string]int{"ago": -1, "from": 1, "in": 1} {
		if n := g["n"+name]; n != "" {
			n, unit := sign*count(n), g["u"+name]
			if name == "from" && g["base"] != "now" {
				if unit == "week" { // a week from today is a day
					n, unit = 7*n, "day"
				}
				if g["base"] == "tomorrow" {
					now = now.AddDate(0, 0, 1)
				}
			}
			return away(unit, n, now)
		}
	}
	return away("day", 0, now) // tonight, this morning
}

func endOf(s span) span { return span{s.last, s.last, 'd'} }

// spanZh is what the groups of [relativeZh] in the words of a hit mean.
func spanZh(g map[string]string, hit string, now time.Time) (span, bool) {
	now = midday(now.Year(), now.Month(), now.Day(), now.Location())
	step := map[string]int{"上上": -2, "上": -1, "下": 1, "下下": 2}[g["step"]]
	switch {
	case g["far"] != "":
		return away("天", map[string]int{"大前天": -3, "大后天": 3}[hit], now), true
	case g["year"] != "":
		year := away("年", map[string]int{"大前年": -3, "前年": -2, "去年": -1, "明年": 1, "后年": 2}[g["year"]], now)
		if g["yend"] != "" {
			year = endOf(year)
		}
		return year, true
	case g["day"] != "":
		return away("天", map[rune]int{'前': -2, '昨': -1, '明': 1, '后': 2}[[]rune(hit)[0]], now), true
	case g["wd"] == "末":
		return away("weekend", step, now), true
	case g["wd"] != "":
		return onDay(monday(now).AddDate(0, 0, 7*step+(int(weekdays[g["wd"]])+6)%7)), true
	case g["of"] != "":
		return away(g["of"], step, now), true
	case g["dom"] != "":
		day := midday(now.Year(), now.Month()+time.Month(step), count(g["dom"]), now.Location())
		month := away("月", step, now)
		return onDay(day), strings.HasPrefix(dayOf(day), month.first[:7]) // there is no 31st in April
	case g["month"] != "" && g["end"] != "":
		return endOf(away("月", step, now)), true
	case g["month"] != "":
		return away("月", step, now), true
	case g["bare"] != "":
		return endOf(away(g["bare"], 0, now)), true
	case g["hm"] != "":
		return away("天", 15*sign(g["hdir"]), now), true
	case g["hy"] != "":
		return away("月", 6*sign(g["hdir"]), now), true
	case several.MatchString(g["n"]):
		return span{}, false
	default:
		return away(g["unit"], count(g["n"])*sign(g["dir"]), now), true
	}
}

// several is a number that is none: 三五天.
var several = regexp.MustCompile(`^[一二两三四五六七八九]{2,}$`)

func sign(dir string) int {
	if dir == "前" {
		return -1
	}
	return 1
}

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
