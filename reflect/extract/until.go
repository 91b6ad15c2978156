package extract

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

var (
	isoDay    = regexp.MustCompile(`\b(\d{4})-(\d{1,2})-(\d{1,2})\b`)
	monthDay  = regexp.MustCompile(`(?i)\b(?:(january|february|march|april|may|june|july|august|september|october|november|december) (\d{1,2})|(\d{1,2})(?:st|nd|rd|th)? (?:of )?(january|february|march|april|may|june|july|august|september|october|november|december))\b`)
	dayHan    = regexp.MustCompile(`(\d{1,2})月(\d{1,2})[日号]`)
	weekdayEn = regexp.MustCompile(`(?i)\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b`)
	weekdayZh = regexp.MustCompile(`(?:周|星期|礼拜)([一二三四五六日天])`)
)

// until is the moment at which a statement stops to hold: the end of the last
// day that the expression names ("until Friday", 到月底), seen from now. The
// zero time means that the expression names no day that can be computed.
func until(expression string, now time.Time) time.Time {
	if now.IsZero() {
		return time.Time{}
	}
	s := norm.NFKC.String(expression)
	if found := relatives(s, now); len(found) > 0 {
		return dayAfter(found[len(found)-1].span.last, now)
	}
	today := midday(now.Year(), now.Month(), now.Day(), now.Location())
	if m := isoDay.FindStringSubmatch(s); m != nil {
		return dayAfter(dayOf(midday(number(m[1]), time.Month(number(m[2])), number(m[3]), now.Location())), now)
	}
	month, day := time.Month(0), 0
	if m := monthDay.FindStringSubmatch(s); m != nil {
		if t, err := time.Parse("January", titled(m[1]+m[4])); err == nil {
			month, day = t.Month(), number(m[2]+m[3])
		}
	} else if m := dayHan.FindStringSubmatch(s); m != nil {
		month, day = time.Month(number(m[1])), number(m[2])
	}
	if month != 0 { // the coming one
		at := midday(now.Year(), month, day, now.Location())
		if at.Before(today) {
			at = midday(now.Year()+1, month, day, now.Location())
		}
		return dayAfter(dayOf(at), now)
	}
	name := ""
	if m := weekdayEn.FindStringSubmatch(s); m != nil {
		name = strings.ToLower(m[1])
	} else if m := weekdayZh.FindStringSubmatch(s); m != nil {
		name = m[1]
	}
	if day, ok := weekdays[name]; ok {
		return dayAfter(dayOf(today.AddDate(0, 0, (int(day)-int(today.Weekday())+7)%7)), now)
	}
	return time.Time{}
}

// dayAfter is the first moment after a day; the zero time if that has passed.
func dayAfter(day string, now time.Time) time.Time {
	t, err := time.ParseInLocation(time.DateOnly, day, now.Location())
	if err != nil {
		return time.Time{}
	}
	if t = t.AddDate(0, 0, 1); !t.After(now) {
		return time.Time{}
	}
	return t
}

func titled(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
}

func number(s string) int {
	n, _ := strconv.Atoi(s) // digits alone, few
	return n
}
