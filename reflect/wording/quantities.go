package wording

import (
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// one is the digit that stands for "one" and 一 spelled out: they count
// sometimes and are an article at others.
const one = "１"

var (
	scaled    = regexp.MustCompile(`(?i)([0-9][0-9,]*(?:\.[0-9]+)?) ?(million|thousand|billion|k\b|万|亿|千)`)
	halfAnd   = regexp.MustCompile(`([0-9１]+)((?:个)?(?:小时|钟头|年|个?月|天|公里|斤|公斤|米|升))半`)
	halfOf    = regexp.MustCompile(`半(个?小时|个?钟头|年|个月|天|公里|斤|公斤|米|升)`)
	percent   = regexp.MustCompile(`百分之 ?([0-9.]+)`)
	dozen     = regexp.MustCompile(`(?i)\b(half a dozen|a dozen|one dozen|dozen)\b`)
	often     = regexp.MustCompile(`(?i)\b(once|twice|thrice)\b`)
	halfAUnit = regexp.MustCompile(`(?i)\bhalf an? (hour|year|month|day|mile|kilo|litre|liter|kilometre|kilometer)\b`)
	both      = regexp.MustCompile(`俩|仨|一打|半打`)
)

// counted are characters that follow a numeral which counts, beside [measures].
const counted = measures + "刻钟毛里亩尺寸升度季分厘克吨磅美欧兆千毫公英瓶袋包盒箱双对把头匹棵朵座所封篇首部集段步遍趟回打番成折级届期轮排列行组队班户站车卷册"

// digitised writes every number of a text in Arabic digits: number words,
// Chinese numerals, dozens, halves and scales ("52k", 150万).
func digitised(s string) string {
	s = strings.ToLower(Simplified(shapes.Replace(norm.NFKC.String(s))))
	s = strings.ReplaceAll(s, "\u200b", "")
	s = dozen.ReplaceAllStringFunc(s, func(m string) string {
		if strings.HasPrefix(strings.ToLower(m), "half") {
			return "6"
		}
		return "12"
	})
	s = often.ReplaceAllStringFunc(s, func(m string) string {
		return map[string]string{"once": one, "twice": "2", "thrice": "3"}[strings.ToLower(m)] + " times"
	})
	s = both.ReplaceAllStringFunc(s, func(m string) string {
		return map[string]string{"俩": "2个", "仨": "3个", "一打": "12个", "半打": "6个"}[m]
	})
	s = hanDigits(s)
	s = scaled.ReplaceAllStringFunc(s, scale)
	s = wordRun.ReplaceAllStringFunc(s, func(m string) string {
		if n := english(m); n != 1 {
			return strconv.FormatInt(n, 10)
		}
		return one
	})
	s = halfAUnit.ReplaceAllString(s, "0.5 $1")
	s = halfAnd.ReplaceAllStringFunc(s, func(m string) string {
		g := halfAnd.FindStringSubmatch(m)
		return strings.ReplaceAll(g[1], one, "1") + ".5" + g[2]
	})
	s = halfOf.ReplaceAllString(s, "0.5$1")
	return percent.ReplaceAllString(s, "$1%")
}

// scale multiplies a number by the word behind it, unless that begins a unit
// (5千米).
func scale(m string) string {
	g := scaled.FindStringSubmatch(m)
	by, ok := map[string]float64{"million": 1e6, "thousand": 1e3, "billion": 1e9, "k": 1e3, "万": 1e4, "亿": 1e8}[strings.ToLower(g[2])]
	n, err := strconv.ParseFloat(strings.ReplaceAll(g[1], ",", ""), 64)
	if !ok || err != nil {
		return m
	}
	return strconv.FormatFloat(n*by, 'f', -1, 64)
}

// hanDigits replaces Chinese numerals that count something.
func hanDigits(s string) string {
	var b strings.Builder
	last := 0
	for _, at := range hanRun.FindAllStringIndex(s, -1) {
		run := s[at[0]:at[1]]
		if run == "万" || run == "亿" || run == "千" || run == "百" || run == "十" && strings.HasPrefix(s[at[1]:], "分") {
			continue // behind digits, or part of a word
		}
		after, _ := cutRune(s[at[1]:])
		before := strings.HasSuffix(s[:at[0]], "周") || strings.HasSuffix(s[:at[0]], "星期") || strings.HasSuffix(s[:at[0]], "礼拜") || strings.HasSuffix(s[:at[0]], "第") || strings.HasSuffix(s[:at[0]], "初") || strings.HasSuffix(s[:at[0]], "百分之")
		switch {
		case !before && containsWord(notWords, run):
			continue
		case !before && len([]rune(run)) == 1 && !strings.Contains(counted, after):
			continue
		case !before && len([]rune(run)) == 1 && after == "":
			continue
		case run == "一" && after == "点" && !partBefore(s[:at[0]]) && !startsAny(s[at[1]+len(after):], "半", "一刻", "三刻", "钟", "整"):
			continue // a little
		}
		b.WriteString(s[last:at[0]])
		if run == "一" && !before {
			b.WriteString(one)
		} else {
			b.WriteString(chinese(run))
		}
		last = at[1]
	}
	b.WriteString(s[last:])
	return b.String()
}

func partBefore(s string) bool {
	for _, p := range []string{"上午", "下午", "早上", "晚上", "中午", "凌晨", "夜里", "清晨", "傍晚"} {
		if strings.HasSuffix(s, p) {
			return true
		}
	}
	return false
}

func startsAny(s string, any ...string) bool {
	for _, a := range any {
		if strings.HasPrefix(s, a) {
			return true
		}
	}
	return false
}

func containsWord(list []string, w string) bool {
	for _, l := range list {
		if l == w {
			return true
		}
	}
	return false
}

func cutRune(s string) (first, rest string) {
	for i, r := range s {
		return string(r), s[i+len(string(r)):]
	}
	return "", ""
}

// units are the words of a unit, its dimension and its size in that
// dimension's smallest unit. Traditional Chinese measures are the market ones
// (一斤 is half a kilogram, 一里 half a kilometre).
var units = []struct {
	kind  string
	size  float64
	words string
}{
	{"length", 1, "mm millimetre millimetres millimeter millimeters 毫米"},
	{"length", 10, "cm centimetre centimetres centimeter centimeters 厘米 公分"},
	{"length", 1000, "m metre metres meter meters 米"},
	{"length", 1e6, "km kilometre kilometres kilometer kilometers 公里 千米"},
	{"length", 5e5, "里"},
	{"length", 1609344, "mile miles mi 英里"},
	{"mass", 1, "mg milligram milligrams 毫克"},
	{"mass", 1000, "g gram grams 克"},
	{"mass", 1e6, "kg kilo kilos kilogram kilograms 公斤 千克"},
	{"mass", 5e5, "斤"},
	{"mass", 453592, "lb lbs pound pounds 磅"},
	{"mass", 1e9, "ton tons tonne tonnes 吨"},
	{"volume", 1, "ml millilitre millilitres milliliter milliliters 毫升"},
	{"volume", 1000, "l litre litres liter liters 升"},
	{"bytes", 1 << 10, "kb kilobyte kilobytes"},
	{"bytes", 1 << 20, "mb megabyte megabytes 兆"},
	{"bytes", 1 << 30, "gb gigabyte gigabytes"},
	{"bytes", 1 << 40, "tb terabyte terabytes"},
	{"time", 1, "ms millisecond milliseconds 毫秒"},
	{"time", 1000, "s sec secs second seconds 秒 秒钟"},
	{"time", 6e4, "min mins minute minutes 分钟"},
	{"time", 36e5, "h hour hours hr hrs 小时 个小时 钟头 个钟头"},
	{"time", 864e5, "day days 天"},
	{"time", 7 * 864e5, "week weeks 周 星期 个星期"},
	{"months", 1, "month months 个月"},
	{"months", 12, "year years 年"},
	{"euro", 1, "euro euros eur € 欧元"},
	{"dollar", 1, "dollar dollars usd $ 美元 美金"},
	{"yuan", 1, "yuan rmb cny ¥ 元 块 块钱 人民币"},
	{"times", 1, "times time 次"},
	{"percent", 1, "% percent"},
	{"celsius", 1, "celsius °c 摄氏度"},
	{"fahrenheit", 1, "fahrenheit °f 华氏度"},
}

var (
	digitRun   = regexp.MustCompile(`１|[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|[0-9]+(?:[.:][0-9]+)*`)
	unitBehind = regexp.MustCompile(`^[ -]?(?:degrees? )?([a-z°€$¥%]+)`)
	moneyFirst = regexp.MustCompile(`([€$¥]) ?([0-9][0-9,.]*[0-9]|[0-9])`)
)

// quantities lists the numbers of a digitised text with what they count.
func quantities(s string) []quantity {
	s = moneyFirst.ReplaceAllString(s, "$2 $1")
	var out []quantity
	for _, at := range digitRun.FindAllStringIndex(s, -1) {
		q := quantity{value: strings.ReplaceAll(s[at[0]:at[1]], ",", "")}
		if q.optional = q.value == one; q.optional {
			q.value = "1"
		}
		if kind, size, ok := unitAt(s[at[1]:]); ok {
			if n, err := strconv.ParseFloat(q.value, 64); err == nil {
				q.kind, q.base, q.optional = kind, n*size, false
			}
		}
		out = append(out, q)
	}
	return out
}

// unitAt reads the unit that a text begins with.
func unitAt(s string) (kind string, size float64, ok bool) {
	word, ok := unitText(s)
	for _, u := range units {
		if ok && containsWord(strings.Fields(u.words), word) {
			return u.kind, u.size, true
		}
	}
	return "", 0, false
}

// unitText is the word of the unit that a text begins with.
func unitText(s string) (word string, ok bool) {
	latin := ""
	if m := unitBehind.FindStringSubmatch(s); m != nil {
		latin = m[1]
	}
	s = strings.TrimLeft(s, " ")
	for _, u := range units {
		for _, w := range strings.Fields(u.words) {
			if (w == latin || HasHan(w) && strings.HasPrefix(s, w)) && len(w) > len(word) {
				word = w
			}
		}
	}
	return word, word != ""
}

// unitWord says whether a name is a unit, which counts with its number.
func unitWord(n string) bool {
	n = strings.TrimLeft(n, "0123456789.-/")
	for _, u := range units {
		if containsWord(strings.Fields(u.words), n) {
			return true
		}
	}
	return n == ""
}
