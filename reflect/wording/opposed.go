package wording

import (
	"regexp"
	"strings"
)

// opposites are words of which a paraphrase must not put one for the other.
var opposites = compilePairs([][2]string{
	{`左`, `右`},
	{`上午|早上|早晨|清晨|凌晨`, `下午|傍晚|晚上|夜里`},
	{`儿子`, `女儿`}, {`哥哥|弟弟`, `姐姐|妹妹`}, {`父亲|爸`, `母亲|妈`},
	{`最多|至多|上限|不超过|不能超过|以内|以下`, `最少|至少|下限|不少于|不低于|以上`},
	{`增加|提高|调高|调大|加大|升高`, `减少|降低|调低|调小|减小|缩小`},
	{`打开|开启|启用`, `关闭|关掉|禁用|停用`},
	{`升级`, `降级|回退|回滚`}, {`买`, `卖`}, {`先于|早于`, `晚于`}, {`大于|高于|多于`, `小于|低于|少于`},
	{`\bleft\b`, `\bright\b`}, {`\d ?(?:am\b|a\.m\.)`, `\d ?(?:pm\b|p\.m\.)`},
	{`\bsons?\b`, `\bdaughters?\b`}, {`\bbrothers?\b`, `\bsisters?\b`}, {`\b(?:father|dad)\b`, `\b(?:mother|mom|mum)\b`},
	{`\bbefore\b`, `\bafter\b`}, {`\b(?:above|more than|higher|larger|bigger)\b`, `\b(?:below|under|less than|fewer than|lower|smaller)\b`},
	{`\b(?:at most|max|maximum|up to|no more than|within)\b`, `\b(?:at least|min|minimum|no less than)\b`},
	{`\b(?:increas|rais)\w+`, `\b(?:decreas|reduc|lower)\w+`}, {`\benabl\w+`, `\bdisabl\w+`}, {`\bupgrad\w+`, `\bdowngrad\w+`},
	{`\b(?:bought|buy|buys|buying)\b`, `\b(?:sold|sell|sells|selling)\b`}, {`\bnorth\w*`, `\bsouth\w*`}, {`\beast\w*`, `\bwest\w*`},
	{`\b(?:pass|passes|passed)\b`, `\bfail\w*`}, {`\b(?:open|opens|opened)\b`, `\bclos(?:e|es|ed)\b`}, {`\b(?:short|shorter|brief)\b`, `\b(?:long|longer)\b`},
	{`丈夫|老公`, `妻子|老婆|太太`}, {`\bhusband\b`, `\bwife\b`}, {`\bboys?\b`, `\bgirls?\b`}, {`\bupper-?case\b`, `\blower-?case\b`}, {`偏高`, `偏低`}, {`男`, `女`},
	{`\bolder\b`, `\byounger\b`}, {`\bfirst\b`, `\blast\b`}, {`\bmornings?\b`, `\b(?:evenings?|afternoons?)\b`},
})

func compilePairs(pairs [][2]string) (out [][2]*regexp.Regexp) {
	for _, p := range pairs {
		out = append(out, [2]*regexp.Regexp{regexp.MustCompile(p[0]), regexp.MustCompile(p[1])})
	}
	return out
}

// Opposed says whether a text puts a word in the place of its opposite: the
// evidence holds one and not the other, the text the other and not the one.
// Where one of the two denies and the other doesn't, both may mean the same
// ("not before nine", "only after nine").
func Opposed(text, evidence string) bool {
	t, e := Plain(text), Plain(evidence)
	for _, p := range opposites {
		for i := range p {
			if p[i].MatchString(t) && !p[1-i].MatchString(t) && p[1-i].MatchString(e) && !p[i].MatchString(e) && Negated(t) == Negated(e) {
				return true
			}
		}
	}
	return false
}

var (
	// unmeant finds what a sentence names only to say that it isn't meant.
	unmeant = regexp.MustCompile(`[,;(]\s*(?:and |but )?(?:not|never) (?:on |in |at |to |an? |the )?([^,.;()!]{2,24})|\b(?:instead of|rather than) (?:using |use )?(?:an? |the )?([^,.;()!]{2,24}?)(?:[,.;()!]| in | on | at | for |$)` +
		`|(?:而不是|[,;]\s*不是|而非|不再用|不再使用|不用|别[^,.;]{0,4}成|不要[^,.;]{0,4}成)([^,.;()!了]{1,12})`)
	// beside is what a part rules out behind what it affirms.
	beside = regexp.MustCompile(`\b(?:instead of|rather than|unlike|not)\b.*$|(?:而不是|而非).*$`)
	former = regexp.MustCompile(`\b(?:formerly|previously|former|ex|until|used to|left|was|were|had|\p{L}+ed)\b|以前|之前|原来|曾|过|到`)
	parts  = regexp.MustCompile(`[,;!]\s*|[.]\s+|\b(?:and|but)\b|而且|但是?`)
	// moves find what was left and what came in its place.
	moves = []struct {
		re   *regexp.Regexp
		left int // its group; the other one came
	}{
		{regexp.MustCompile(`\bfrom ([^,.;]{2,30}?) to ([^,.;]{2,40})`), 1},
		{regexp.MustCompile(`\bto ([^,.;]{2,30}?) from ([^,.;]{2,40})`), 2},
		{regexp.MustCompile(`[从由]([^,.;]{1,12}?)(?:搬|换|改|迁移?|切换?|转|升级?|降级?|调整?|移)(?:到|成|为|至|去|来|用)+了?([^,.;]{1,16})`), 1},
	}
)

// Reversed says whether a text turns round what its evidence puts against each
// other: it affirms what the evidence names only to rule it out or to say that
// it is over, it affirms one name and denies another where the evidence does
// the opposite, or it goes from where the evidence goes to.
func Reversed(text, evidence string) bool {
	t, e := Plain(text), Plain(evidence)
	for _, m := range unmeant.FindAllStringSubmatch(e, -1) {
		if not := strings.TrimSpace(m[1] + m[2] + m[3]); Weight(not) >= 2 && polarity(t, not) == affirmed && polarity(e, not) == denied && !leaves(t, not) {
			return true
		}
	}
	var raised, lowered bool
	for _, n := range mentioned(text) {
		switch was, is := polarity(e, n), polarity(t, n); {
		case was == denied && is == affirmed:
			raised = true
			if p := partOf(t, n); over(partOf(e, n)) && !former.MatchString(p) && !mends.MatchString(p) {
				return true
			}
		case was == affirmed && is == denied:
			lowered = true
		}
	}
	return raised && lowered || movedBack(t, e) || exchanged(text, evidence)
}

// gone is said of what was the case, rightly or wrongly, and is no longer.
var gone = regexp.MustCompile(`\b(?:formerly|previously|former|originally|earlier|used to|was|were|had been|incorrect\w*|mistaken\w*|wrong\w*|erroneous\w*)\b|以前|之前|原来|原先|曾|误|错`)

// leaves says whether a text names something only as what was before: "from 9090 to
// 9191", "was wrongly given as 9090".
func leaves(t, name string) bool {
	for _, f := range moves {
		for _, m := range f.re.FindAllStringSubmatch(t, -1) {
			left, came := alike(m[f.left], name), alike(m[3-f.left], name)
			if left != came {
				return left
			}
		}
	}
	p := partOf(t, name)
	before, _, _ := strings.Cut(p, name)
	return gone.MatchString(p) && !strings.Contains(" "+before, " to ") && !standing.MatchString(before)
}

// standing says that something is the case now.
var standing = regexp.MustCompile(`\b(?:is|are|now|became|becomes)\b|现在|改[为成]|变[为成]`)

// mentioned are the names of a text; in a Chinese one every word in Latin script
// is one.
func mentioned(text string) []string {
	if !HasHan(text) {
		return Names(text)
	}
	return append(Names(text), latinRun.FindAllString(Plain(text), -1)...)
}

// movedBack says whether one text goes from where the other goes to.
func movedBack(t, e string) bool {
	for _, f := range moves {
		for _, m := range f.re.FindAllStringSubmatch(e, -1) {
			left, came := m[f.left], m[3-f.left]
			for _, g := range moves {
				for _, n := range g.re.FindAllStringSubmatch(t, -1) {
					if alike(n[g.left], came) && alike(n[3-g.left], left) && !alike(left, came) {
						return true
					}
				}
			}
		}
	}
	return false
}

// alike says whether one of two operands begins with the other: what follows
// them is cut at different places.
func alike(a, b string) bool {
	a, b = squeeze(a), squeeze(b)
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// stand is how a text stands to a name.
type stand int

const (
	silent stand = iota
	affirmed
	denied
)

// polarity says whether a plain text affirms a name in one of its parts, or
// only denies it or rules it out.
func polarity(s, name string) stand {
	out := silent
	for _, p := range parts.Split(s, -1) {
		switch {
		case !names(p, name):
		case Denies(beside.ReplaceAllString(p, "")) || !names(beside.ReplaceAllString(p, ""), name):
			out = max(out, denied)
		default:
			return affirmed
		}
	}
	return out
}

// partOf is the part of a plain text that holds a name.
func partOf(s, name string) string {
	for _, p := range parts.Split(s, -1) {
		if names(p, name) {
			return p
		}
	}
	return ""
}

// names says whether a name stands in a plain text, not inside a longer word.
func names(s, name string) bool {
	for at := 0; ; at += len(name) {
		i := strings.Index(s[at:], name)
		if i < 0 {
			return false
		}
		if at += i; apart(s, at, at+len(name)) {
			return true
		}
	}
}
