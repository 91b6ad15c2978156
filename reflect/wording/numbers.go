package wording

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

var (
	digits   = regexp.MustCompile(`\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.:]\d+)*`)
	hanRun   = regexp.MustCompile(`[零〇一二两三四五六七八九十百千万亿]+`)
	wordRun  = regexp.MustCompile(`(?i)\b(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million)\b(?:[\s-]+(?:and[\s-]+)?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million)\b)*`)
	notWords = []string{"万一", "千万", "一一", "十分"}
)

// measures follow a numeral that counts something; without one, a single
// Chinese numeral is mostly part of another word (一直, 三明治).
const measures = "个只天周月年岁点号次位名口人块元层楼台条辆本套间家页行张件份种倍杯碗斤米秒时小句字遍"

var small = map[string]int64{
	"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
	"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000, "million": 1_000_000,
}

var han = map[rune]int64{
	'零': 0, '〇': 0, '一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9,
	'十': 10, '百': 100, '千': 1000, '万': 10_000, '亿': 100_000_000,
}

// Numbers lists the numbers that a text claims, each once, sorted, in one
// form: digits, English number words and Chinese numerals fall together.
// "One" and 一 alone are left out: they mostly count nothing.
func Numbers(s string) []string { return numbers(s, false) }

// MissingNumbers lists the numbers of a text that none of the evidence holds,
// in whatever form: 2.5k and 2,500, 六点半 and 6:30 and, where nobody says which
// half of the day is meant, 18:30.
func MissingNumbers(text, evidence string) []string {
	have := numbers(evidence, true)
	if len(missing(Numbers(text), have)) == 0 {
		return nil
	}
	plain := digitised(evidence)
	for _, t := range []string{plain, clocked(plain)} {
		have = append(have, digitsOf(t)...)
	}
	return slices.DeleteFunc(digitsOf(hours(digitised(text))), func(n string) bool {
		hour, full := strings.CutSuffix(n, ":00")
		return slices.Contains(have, n) || full && slices.Contains(have, strings.TrimPrefix(hour, "0"))
	})
}

func digitsOf(s string) []string {
	var out []string
	for _, d := range digits.FindAllString(s, -1) {
		out = append(out, strings.ReplaceAll(d, ",", ""))
	}
	return sortedUnique(out)
}

// numbers reads strictly, or loosely: every word that could be a number.
func numbers(s string, loose bool) []string {
	s = Simplified(norm.NFKC.String(s))
	var out []string
	for _, d := range digits.FindAllString(s, -1) {
		out = append(out, strings.ReplaceAll(d, ",", ""))
	}
	for _, w := range wordRun.FindAllString(s, -1) {
		if n := english(w); n != 1 || loose {
			out = append(out, strconv.FormatInt(n, 10))
		}
	}
	for _, at := range hanRun.FindAllStringIndex(s, -1) {
		run := s[at[0]:at[1]]
		if loose || counts(s, at[0], at[1]) {
			out = append(out, chinese(run))
		}
		if loose { // the evidence may hold a part: 十五六, 三五
			for _, r := range run {
				out = append(out, strconv.FormatInt(han[r], 10))
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// counts says whether the Chinese numerals at s[from:to] stand for a number.
func counts(s string, from, to int) bool {
	run, after := s[from:to], []rune(s[to:min(len(s), to+4)])
	for _, day := range []string{"周", "星期", "礼拜", "第"} {
		if strings.HasSuffix(s[:from], day) {
			return true
		}
	}
	if slices.Contains(notWords, run) || run == "一" || run == "十" && len(after) > 0 && after[0] == '分' {
		return false
	}
	return len([]rune(run)) > 1 || len(after) > 0 && strings.ContainsRune(measures, after[0])
}

func english(run string) int64 {
	var total, part int64
	for _, w := range strings.FieldsFunc(strings.ToLower(run), func(r rune) bool { return r < 'a' || r > 'z' }) {
		switch n := small[w]; {
		case w == "and":
		case n == 100:
			part = max(part, 1) * 100
		case n >= 1000:
			total += max(part, 1) * n
			part = 0
		default:
			part += n
		}
	}
	return total + part
}

func chinese(run string) string {
	if !strings.ContainsAny(run, "十百千万亿") { // said digit by digit: 二〇二六
		var b strings.Builder
		for _, r := range run {
			b.WriteByte(byte('0' + han[r]))
		}
		return b.String()
	}
	var total, section, digit, last int64
	for _, r := range run {
		switch n := han[r]; {
		case n < 10:
			digit = n
		case n >= 10_000:
			total = (total + section + digit) * n
			section, digit = 0, 0
		default:
			section += max(digit, 1) * n
			digit = 0
		}
		if n := han[r]; n >= 10 || n == 0 {
			last = n
		}
	}
	if last >= 100 { // 一万二: twelve thousand
		digit *= last / 10
	}
	return strconv.FormatInt(total+section+digit, 10)
}
