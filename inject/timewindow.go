package inject

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// window is a stretch of time that the message names. It scales scores and
// never filters: people misremember. The zero window is no window.
type window struct {
	from, to time.Time
	// past says that the message points to something earlier without saying
	// when ("last time", 「上次」): what has a date of its own counts more.
	past bool
}

// windowGain is by how much a memory from inside the window is scaled up.
const windowGain = 0.15

// factor is 1 + windowGain inside the window and falls to 1 over as much time
// as the window is long.
func (w window) factor(t time.Time) float64 {
	if w.from.IsZero() || t.IsZero() {
		return 1
	}
	away := max(w.from.Sub(t), t.Sub(w.to), 0)
	return 1 + windowGain*math.Exp(-float64(away)/float64(max(w.to.Sub(w.from), 24*time.Hour)))
}

// timeWords are the time expressions that queries are searched for.
type timeWords struct {
	relative []moment
	month    form
}

// form is an expression, and pieces of text of which it needs one. To look for
// them costs a hundredth of asking the expression, and most messages name no time.
type form struct {
	*regexp.Regexp
	needs []string
}

// in says whether s may hold the expression.
func (f form) in(s string) bool {
	return slices.ContainsFunc(f.needs, func(piece string) bool { return strings.Contains(s, piece) })
}

// moment is one relative expression. when gives the window's bounds from the
// first moment of today; nil means only "earlier".
type moment struct {
	form
	when func(today time.Time, m []string) (from, to time.Time)
}

func newTimeWords() *timeWords {
	f := func(needs, expression string) form {
		return form{regexp.MustCompile(expression), strings.Split(needs, "|")}
	}
	m := func(needs, expression string, when func(time.Time, []string) (time.Time, time.Time)) moment {
		return moment{f(needs, expression), when}
	}
	return &timeWords{
		month: f("in |last |during |since |月", `\b(?:in|last|during|since) (january|february|march|april|may|june|july|august|september|october|november|december)\b|(\d{1,2}|[一二三四五六七八九十]{1,2})月份?`),
		relative: []moment{
			m("the day before yesterday|前天", `\bthe day before yesterday\b|前天`, days(-2, -1)),
			m("yesterday|昨", `\byesterday\b|昨天|昨晚`, days(-1, 0)),
			m("today|this morning|今", `\b(?:today|this morning)\b|今天|今早`, days(0, 1)),
			m(" ago", `\b(\d{1,3}|two|three|four|five|six|a few|few|several) (day|week|month|year)s? ago\b`, ago),
			m("前", `(\d{1,3}|[一两二三四五六七八九十几])(天|周|个星期|星期|个月|年)(?:之|以)?前`, ago),
			m("last week|上", `\blast week\b|上个?(?:周|星期|礼拜)[一二三四五六日天]?`, week(-7)),
			m("this week|这|本周", `\bthis week\b|这个?(?:周|星期|礼拜)|本周`, week(0)),
			m("last month|上", `\blast month\b|上个?月`, func(t time.Time, _ []string) (time.Time, time.Time) {
				first := t.AddDate(0, 0, 1-t.Day())
				return first.AddDate(0, -1, 0), first
			}),
			m("last year|去年", `\blast year\b|去年`, func(t time.Time, _ []string) (time.Time, time.Time) {
				first := time.Date(t.Year(), 1, 1, 0, 0, 0, 0, t.Location())
				return first.AddDate(-1, 0, 0), first
			}),
			m("recently|lately|the other day|最近|前|这几天", `\b(?:recently|lately|the other day)\b|最近|前几天|这几天|前些天`, days(-14, 1)),
			m("last time|previously|earlier|back then|上|之前|以前|先前", `\b(?:last time|previously|earlier|back then)\b|上一?次|上回|之前|以前|先前`, nil),
		},
	}
}

// find reads the time words of a message and returns the message without the
// relative ones, which stand in no memory's text, and the window.
func (tw *timeWords) find(s string, now time.Time, zone *time.Location) (string, window) {
	if zone == nil {
		zone = time.UTC
	}
	low := strings.ToLower(s)
	if len(low) != len(s) {
		return s, window{} // a character that changes its length: offsets would not fit
	}
	n := now.In(zone)
	today := time.Date(n.Year(), n.Month(), n.Day(), 0, 0, 0, 0, zone)
	var w window
	if tw.month.in(low) {
		if m := tw.month.FindStringSubmatch(low); m != nil {
			w.from, w.to = lastMonthNamed(today, m[1], m[2])
		}
	}
	for _, e := range tw.relative {
		if !e.in(low) {
			continue
		}
		at := e.FindStringSubmatchIndex(low)
		if at == nil {
			continue
		}
		if e.when == nil {
			w.past = true
		} else if w.from.IsZero() {
			w.from, w.to = e.when(today, e.FindStringSubmatch(low))
		}
		s = s[:at[0]] + " " + s[at[1]:]
		low = low[:at[0]] + " " + low[at[1]:]
	}
	return s, w
}

func days(from, to int) func(time.Time, []string) (time.Time, time.Time) {
	return func(today time.Time, _ []string) (time.Time, time.Time) {
		return today.AddDate(0, 0, from), today.AddDate(0, 0, to)
	}
}

// week is the week, Monday first, that began shift days off the present one.
func week(shift int) func(time.Time, []string) (time.Time, time.Time) {
	return func(today time.Time, _ []string) (time.Time, time.Time) {
		monday := today.AddDate(0, 0, shift-(int(today.Weekday())+6)%7)
		return monday, monday.AddDate(0, 0, 7)
	}
}

// ago reads "3 weeks ago": the day that far back, with half as much again
// around it, because nobody counts days.
func ago(today time.Time, m []string) (time.Time, time.Time) {
	n := numeral(m[1])
	var at time.Time
	switch m[2] {
	case "day", "天":
		at = today.AddDate(0, 0, -n)
	case "week", "周", "星期", "个星期":
		at = today.AddDate(0, 0, -7*n)
	case "month", "个月":
		at = today.AddDate(0, -n, 0)
	default:
		at = today.AddDate(-n, 0, 0)
	}
	slack := max(today.Sub(at)/4, 24*time.Hour)
	return at.Add(-slack), at.Add(slack)
}

func lastMonthNamed(today time.Time, english, number string) (time.Time, time.Time) {
	n := numeral(number)
	for m := time.January; english != "" && m <= time.December; m++ {
		if strings.ToLower(m.String()) == english {
			n = int(m)
		}
	}
	if n < 1 || n > 12 {
		return time.Time{}, time.Time{}
	}
	from := time.Date(today.Year(), time.Month(n), 1, 0, 0, 0, 0, today.Location())
	if from.After(today) {
		from = from.AddDate(-1, 0, 0)
	}
	return from, from.AddDate(0, 1, 0)
}

// numeral reads digits, the small English ones and Chinese ones up to twelve.
func numeral(s string) int {
	switch s {
	case "一":
		return 1
	case "two", "二", "两":
		return 2
	case "three", "三", "a few", "few", "几":
		return 3
	case "four", "several", "四":
		return 4
	case "five", "五":
		return 5
	case "six", "六":
		return 6
	case "七":
		return 7
	case "八":
		return 8
	case "九":
		return 9
	case "十":
		return 10
	case "十一":
		return 11
	case "十二":
		return 12
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}
