package extract

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"hindsight/store/index"
)

// Forget is a request to forget: what is named, or everything.
type Forget struct {
	What string // in the user's words, without the request
	All  bool
}

// maxForget is the length in runes of the longest message that may ask to
// forget: a longer one is a pasted text.
const maxForget = 400

// fitting is the share of a request's words that a text must hold to be meant.
const fitting = 0.66

var (
	politeEn = `(?i)^(?:(?:please|pls|just|now|can you|could you|i want you to|i need you to|i'd like you to|you (?:can|may|should|must))\s+)*`
	politeZh = `^(?:请你?|麻烦你?|帮我|给我|你|可以|现在|要|就)*`

	// request is one in the form of a question.
	request = regexp.MustCompile(`(?i)^(?:could|would) you (?:please )?forget (?:that i|about my|about our|my|our)\b[^?]*\?$`)

	// forgets are requests at the head of a sentence; the group is what to forget.
	// A sure one can mean nothing but memories, whatever it names.
	forgets = []struct {
		re   *regexp.Regexp
		sure bool
	}{
		{regexp.MustCompile(politeEn + `(?:stop remembering|forget)\s+(.+)$`), false},
		{regexp.MustCompile(politeEn + `(?:delete|remove|erase|wipe|drop|clear)\s+(.+?)\s+from\s+(?:your\s+)?memory\b.*$`), true},
		{regexp.MustCompile(politeEn + `(?:delete|remove|erase|wipe|drop|clear)\s+((?:everything|anything|all|what)(?:\s+that)?\s+you\s+(?:know|remember|have(?:\s+stored)?)\s+(?:about|on)\s+.+)$`), true},
		{regexp.MustCompile(politeEn + `(?:delete|remove|erase|wipe|drop|clear)\s+from\s+(?:your\s+)?memory\s+(.+)$`), true},
		{regexp.MustCompile(politeEn + `(?:do not|don't|no longer)\s+(?:remember|keep)\s+(.+?)\s+(?:any ?more|any longer)\b.*$`), true},
		{regexp.MustCompile(politeZh + `(?:把|将)(.+?)(?:给我)?(?:忘掉|忘了|忘记)(?:吧|了|掉)?[.!。！]*$`), true},
		{regexp.MustCompile(politeZh + `(?:忘掉|忘记|忘了|忘却)(.+)$`), false},
		{regexp.MustCompile(politeZh + `(?:删除|删掉|清除|抹掉)(?:你)?(?:关于|有关|对)(.+?)的?(?:所有|全部)?(?:的)?(?:记忆|记录)[.!。！]*$`), true},
		{regexp.MustCompile(politeZh + `(?:删除|删掉|清除|抹掉|忘掉|忘了|忘记)(?:你)?(?:记得|知道|记录|保存)的?(?:关于|有关)?(.+?)(?:的)?(?:内容|信息|事情|事|记忆|记录)[.!。！]*$`), true},
		{regexp.MustCompile(politeZh + `(?:关于|有关)(.+?)(?:的)?(?:内容|信息|事情|事|记忆|一切)?(?:都|全)?(?:给我)?(?:忘掉|忘了|忘记)(?:吧|了|掉)?[.!。！]*$`), true},
		{regexp.MustCompile(politeZh + `(?:不要|别|不用)(?:再记(?:着|得|住)?|记(?:着|得|住))(.+?)了?[.!。！]*$`), true},
	}
	// about is what stands between the request and what is meant.
	about = regexp.MustCompile(`(?i)^(?:(?:about|that|the fact that|what (?:i|you) (?:said|told you|know|told me)(?: (?:earlier|before))?(?: about| on)?|(?:all|anything|everything)(?: (?:you know|that you know|i (?:said|told you)))?(?: about)|all about)\s+)+|^(?:关于|有关|你知道的|我说的|我告诉你的|我之前说的|之前说的|那个|这个)+`)
	// rest is what stands behind it.
	rest = regexp.MustCompile(`(?i)(?:[,;，；]\s*.*|\s+(?:please|ok|okay|now|thanks|thank you|from now on))?[\s.!。！]*$`)
	// restZh names the thing again.
	restZh = regexp.MustCompile(`(?:的)?(?:这件事|那件事|这事|这些事|事情|事|内容|信息)?(?:吧|了|掉)?$`)

	everything = regexp.MustCompile(`(?i)^(?:everything|all(?: of it)?|all (?:your|the|my) (?:memories|notes)|all (?:you know|about me))\b(?: (?:you know|that you know|about me|i (?:said|told you)|you have|on me))*$|^(?:everything|anything|all)?\s*(?:about )?me$|^(?:一切|所有(?:的)?(?:事情|记忆|内容|东西|一切)?|全部|我|我的(?:一切|所有(?:事情|信息)?|全部)|(?:所有|全部)?(?:关于|有关)我的?(?:一切|所有(?:事情|信息)?|全部|事情?|信息|记忆)?)$`)
	// idle are objects that name nothing that could be a memory: "forget it".
	idle = regexp.MustCompile(`(?i)^(?:it|that|this|those|these|them|him|her|to\b.*|(?:the|your) (?:last|previous|above|first|next|earlier|old)\b.{0,30}|(?:my|our) (?:last|previous|first|next|earlier)\b.{0,30}|my (?:question|request|message)s?|吧|它|那|这|这个|那个|刚才(?:的)?(?:话|问题)?|带.*)$`)
	// personal is an object of which the user may want nothing remembered; any
	// other ("forget Docker") more likely sets the course of the conversation.
	personal = regexp.MustCompile(`(?i)\b(?:my|our|me|us|i|i'm|i've|we|we're|we've)\b|我|咱`)
)

// Forgets finds what a message asks to forget, by the user's own words alone:
// a sentence of its own, outside quotes, code and long texts.
func Forgets(text string) []Forget {
	if utf8.RuneCountInString(text) > maxForget {
		return nil
	}
	var out []Forget
	for _, s := range own(text) {
		s = plain(s)
		if request.MatchString(s) {
			s = strings.TrimRight(s, "? ")
		}
		if strings.ContainsAny(s, "?？") || strings.HasSuffix(strings.TrimRight(s, "。！ "), "吗") || spoken.MatchString(s) {
			continue
		}
		if f, ok := forget(s); ok {
			out = append(out, f)
		}
	}
	return out
}

func forget(s string) (Forget, bool) {
	for _, kind := range forgets {
		m := kind.re.FindStringSubmatch(s)
		if m == nil {
			continue
		}
		named := about.MatchString(m[1])
		what := rest.ReplaceAllString(m[1], "")
		if all := restZh.ReplaceAllString(what, ""); everything.MatchString(what) || everything.MatchString(about.ReplaceAllString(all, "")) {
			return Forget{All: true}, true
		}
		what = strings.TrimSpace(about.ReplaceAllString(what, ""))
		if unspacedEnd(what) {
			what = restZh.ReplaceAllString(what, "")
		}
		sure := kind.sure || named && (strings.HasPrefix(strings.ToLower(m[1]), "that ") || personal.MatchString(about.FindString(m[1])))
		if what == "" || idle.MatchString(what) || !sure && !personal.MatchString(what) {
			return Forget{}, false
		}
		return Forget{What: what}, true
	}
	return Forget{}, false
}

// unspacedEnd says whether a text ends with a Chinese character.
func unspacedEnd(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return r >= 0x4e00 && r <= 0x9fff
}

// pronouns say nothing of what is meant.
var pronouns = regexp.MustCompile(`我们|我|咱|的|那|这|个|了|在`)

// Fits says whether a text says what is to be forgotten: it holds most of the
// words, of Chinese most of the pairs of characters.
func (f Forget) Fits(text string) bool { return f.Likeness(text) > 0 }

// Likeness is how much of a text is what is to be forgotten, from 0 (it
// doesn't fit) to 1 (nothing else).
func (f Forget) Likeness(text string) float64 {
	want, have := content(f.What), content(plain(text))
	if len(want) == 0 {
		return 0
	}
	both := 0
	for t := range want {
		if have[t] {
			both++
		}
	}
	if float64(both)/float64(len(want)) < fitting {
		return 0
	}
	return float64(both) / float64(len(want)+len(have)-both)
}

// content is a text's words and, where they aren't spaced, pairs of characters.
func content(s string) map[string]bool {
	out := map[string]bool{}
	for _, t := range index.Tokens(pronouns.ReplaceAllString(s, " ")) {
		if t.Kind == index.Word || t.Kind == index.Bigram {
			out[t.Text] = true
		}
	}
	delete(out, "user")
	delete(out, "用户")
	return out
}
