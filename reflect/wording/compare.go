package wording

import (
	"regexp"
	"strings"

	"hindsight/store"
)

// Comparison is what a sentence puts before what: Over before Under, in the
// situation Where. Under is empty where a preference names only what it is
// for. The operands are folded.
type Comparison struct {
	Over, Under, Where string
	loose              bool // told by a word that has other uses ("to")
}

// operand is the head of what is compared: verbs that only say what is done
// with it.
const operand = `(?:to )?(?:(?:use|using|have|having|drink|drinking|eat|eating|write|writing|work with|working with|get|take|read|reading|watch|watching) )?`

const (
	zhVerb = `(?:更|比较|最|还是|会|要)*(?:喜欢|偏好|偏爱|习惯|倾向于?|愿意|爱)`
	zhUse  = `(?:使用|用|喝|吃|看|写)?`
)

// comparisons are the frames of a comparison in plain form. Groups 1 and 2 are
// the operands, swapped where the frame names the lesser one first.
var comparisons = []struct {
	re             *regexp.Regexp
	swapped, loose bool
}{
	{regexp.MustCompile(`\bprefers? ` + operand + `(.+?),? (?:over|rather than|instead of|more than|and not|not) ` + operand + `(.+)$`), false, false},
	{regexp.MustCompile(`\bprefers? ` + operand + `(.+?) to (.+)$`), false, true},
	{regexp.MustCompile(`\blikes? ` + operand + `(.+?) (?:more|better) than ` + operand + `(.+)$`), false, false},
	{regexp.MustCompile(`(?:\bwould|'d) rather ` + operand + `(.+?) than ` + operand + `(.+)$`), false, false},
	{regexp.MustCompile(`\b(?:uses?|chooses?|picks?|takes?|drinks?|eats?) (.+?),? (?:over|rather than|instead of|and not) ` + operand + `(.+)$`), false, false},
	{regexp.MustCompile(`\bprefers? ` + operand + `(.+)$`), false, false},
	{regexp.MustCompile(`(?:和|与|跟|同)(.+?)(?:相比|比起来)[,\s]*(?:用户|我们?)?` + zhVerb + zhUse + `(.+)$`), true, false},
	{regexp.MustCompile(`(?:比起|相比于?|相较于?|相对于|对比)(.+?)(?:来说|而言|来讲)?[,\s]*(?:用户|我们?)?` + zhVerb + zhUse + `(.+)$`), true, false},
	{regexp.MustCompile(zhVerb + zhUse + `(.+?)[,\s]*(?:而不是|而不用|而非|胜过|多过|多于|超过|甚于)` + zhUse + `(.+)$`), false, false},
	{regexp.MustCompile(`宁[愿可]` + zhUse + `(.+?)[,\s]*也?不` + zhUse + `(.+)$`), false, false},
	{regexp.MustCompile(`(?:使用|用)(.+?)[,\s]*(?:而不是|而不用|而非|代替|替代|取代)` + zhUse + `(.+)$`), false, false},
	{regexp.MustCompile(`(?:更喜欢|更偏好|更偏爱|偏好|偏爱)` + zhUse + `(.+)$`), false, false},
}

var (
	// situation follows the second operand and bounds what is said.
	situation = regexp.MustCompile(`^(.+?)((?:,| in | for | when | if | at | on | with | by | as | because | since | during ).*)$`)
	// unsaid is what stands before a comparison and bounds nothing.
	unsaid = regexp.MustCompile(`\b(?:i|we|the|user|users?|now|really|actually|generally|usually|always|much|strongly|would|do|have|come|to|these days|sorry|no|wait)\b|'ve|'d|'s|用户|我们?|现在|其实|一般|通常|平时|还是|真的|一直|抱歉|不对|[的了也都]`)
	// after is what may trail an operand and says nothing.
	after = regexp.MustCompile(`(?:\s*(?:\bany ?more|\bnow|\bthese days|\binstead|\bactually|了|一些|一点|些))+$`)
)

// Compares reads a comparison out of a sentence.
func Compares(s string) (Comparison, bool) {
	s = strings.TrimRight(Plain(s), ".!,;~ ")
	if strings.Contains(s, "?") || !mayCompare(s) {
		return Comparison{}, false
	}
	for _, f := range comparisons {
		at := f.re.FindStringSubmatchIndex(s)
		if at == nil {
			continue
		}
		c := Comparison{Over: s[at[2]:at[3]], loose: f.loose}
		var where string
		if len(at) > 4 {
			c.Under = s[at[4]:at[5]]
			c.Under, where = bounded(c.Under)
			if f.swapped {
				c.Over, c.Under = c.Under, c.Over
			}
		} else {
			c.Over, where = bounded(c.Over)
		}
		c.Over, c.Under = tidy(c.Over), tidy(c.Under)
		c.Where = store.Fold(unsaid.ReplaceAllString(s[:at[0]], " ") + " " + where)
		return c, c.Over != ""
	}
	return Comparison{}, false
}

// mayCompare is a cheap look for one of the words that every frame holds.
func mayCompare(s string) bool {
	for _, w := range []string{"prefer", " than ", " over ", "instead of", "and not", "喜欢", "偏好", "偏爱", "习惯", "倾向", "愿意", "爱", "宁", "而", "替", "取"} {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

func bounded(s string) (operand, where string) {
	if m := situation.FindStringSubmatch(s); m != nil {
		return m[1], m[2]
	}
	return s, ""
}

func tidy(s string) string { return store.Fold(after.ReplaceAllString(s, "")) }

// Against says whether two comparisons of one situation can't both hold: the
// operands are swapped, or one names only what the other puts second.
func (c Comparison) Against(o Comparison) bool {
	if c.Where != o.Where || c.Over == o.Over {
		return false
	}
	if c.Under != "" && o.Under != "" {
		return c.Over == o.Under && c.Under == o.Over
	}
	if c.loose || o.loose {
		return false
	}
	return c.Over == o.Under || c.Under == o.Over
}

// Swapped says whether two texts compare the same things the other way round.
func Swapped(a, b string) bool {
	x, ok := Compares(a)
	if !ok {
		return false
	}
	y, ok := Compares(b)
	return ok && x.Under != "" && x.Over == y.Under && x.Under == y.Over
}
