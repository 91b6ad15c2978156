package extract

import (
	"regexp"
	"slices"
	"strings"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// slots are things of which a person has one at a time, so that a newer
// statement replaces an older one even if no model said so.
var slots = []struct {
	re   *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`(?i)\b(?:my name is|my name's|i am called|i'm called|i go by)\s`), "name"},
	{regexp.MustCompile(`(?i)^(?:please )?call me \p{L}[\p{L}'-]*$`), "address"},
	{regexp.MustCompile(`(?:^|[，。！\s])我(?:现在)?(?:叫|改名叫|的名字(?:叫|是|改成))`), "name"},
	{regexp.MustCompile(`^(?:请)?(?:叫|称呼)我(?:\p{Han}{1,6}|[A-Za-z]+)(?:就好|就行|吧|即可)?$`), "address"},
	{regexp.MustCompile(`\b(?i:i (?:now |currently |actually |still )?(?:live|reside) in) (?:[A-Z]|(?i:\p{L}+(?: now)?$))`), "home"},
	{regexp.MustCompile(`\b(?i:(?:i am|i'm) (?:now |currently |actually )?(?:living|based) in) [A-Z]`), "home"},
	{regexp.MustCompile(`\b(?i:i(?:'ve| have)? (?:just |recently |now |finally |since )?(?:moved|relocated)(?: back| house| home)?(?: from \S+(?: \S+)?)? to) [A-Z]`), "home"},
	{regexp.MustCompile(`我(?:们家|家)?(?:现在|目前|已经|刚刚?|最近|终于|又|一直|上个?[月周]|去年|今年|昨天|前天|今天|上周[一二三四五六日天]?|\d+月)*(?:从[^，。,]{1,10}?)?(?:住在|搬到|搬去|搬来|搬家到|定居)`), "home"},
	{regexp.MustCompile(`\b(?i:i (?:now |currently |actually )?work (?:for|at)) [A-Z]`), "employer"},
	{regexp.MustCompile(`(?i)\bmy (favou?rite \p{L}+|birthday|time ?zone|e-?mail|badge|shoe size|phone)(?: number| address| id)? (?:is|is now|has changed to|changed to|was changed to|became) \S+(?: \S+){0,2}$`), "$1"},
	{regexp.MustCompile(`我的?(生日|时区|邮箱|工号|工牌|手机|电话|最喜欢的\p{Han}{1,4})(?:号码|号|地址)?(?:现在|已经|刚刚?)*(?:是|为|改成|改为|换成|变成)`), "$1"},
}

// notHomes are what people move to without packing a box.
var notHomes = regexp.MustCompile(`(?i)\bto (?:postgres\w*|mysql|sqlite|linux|ubuntu|debian|fedora|arch|mac(?:os)?|windows|vim|neovim|emacs|helix|go|rust|python|java\w*|typescript|kotlin|swift|kubernetes|k8s|docker|podman|aws|azure|gcp|google|github|gitlab|slack|teams|notion|jira|linear|vs ?code|zed|cursor|android|ios|iphone|react|vue|svelte|bazel|nix\w*|terraform|redis|kafka|zsh|fish|chrome|firefox)\b|\bto \S*(?-i:\d|\p{Ll}\p{Lu})`)

var (
	numbered = regexp.MustCompile(`(?i)\b(?:my|our|the) [\p{L} -]{2,40}? (?:is|are|runs on|listens on) |我们?的?\p{Han}{1,12}(?:是|为|在)`)
	speaking = regexp.MustCompile(`^(?:my|our) |^我们?的?`)
	now      = regexp.MustCompile(`( (?:is|are)) (?:now|currently|actually)\b|(?:现在|目前|其实)`)
	frameEn  = regexp.MustCompile(`(?i)^(?:my|our|the) ([\p{L}' -]{2,40}?)(?: (?:has|have) (?:now |just |recently )?(changed)(?: from \S+)? to| (?:was |is |are )?(?:now |just |recently )?(changed)(?: from \S+)? to| (?:is|are) (?:actually )?(now)| (?:is|are|was)(?: called| at| on| in)?) (.+)$`)
	frameZh  = regexp.MustCompile(`^(?:我们?(?:的|家的?|公司的?|团队的?|项目的?)?)?([\p{Han}A-Za-z][\p{Han}A-Za-z ]{0,18}?) ?(?:现在|已经|刚刚?|今天|昨天|最近|实际上|其实|应该)*(?:(改成|改为|换成|变成|变为|更新为|改到|换到)了?|是|为|叫)(.+)$`)
	pointing = regexp.MustCompile(`^[这那它他她你您谁哪因但如虽以作]`) // at what only the conversation knows, or the beginning of a clause
	denied   = regexp.MustCompile(`(?i)\b(?:is|are|was)(?:n't| not)\b|不是|没有?改`)
)

// Statement is what a sentence of a person says about a thing, as far as its
// form tells. Make one with [State].
type Statement struct {
	text    string // without openers and contrasts
	slot    string
	frame   string // whose value a later sentence may change: "badge"
	changed bool   // it says itself that the value is another now
	not     string // a value that it denies in contrast
	mask    string // of the one number in it; "" if it has none or more
	left    string // the beginning of the name of what it says isn't used any more
	denies  bool
	ended   bool
	core    []string
	order   wording.Comparison
	ordered bool

	// Words without which an earlier sentence isn't worth reading: of the frame,
	// the mask, the comparison, the core and what was left. Nil: that can't be
	// replaced.
	needs [5][]string
}

// State reads a sentence. correcting says that the speaker put something right
// with it.
func State(s string, correcting bool) Statement {
	s = strings.TrimRight(headless(s), " .!。！")
	st := Statement{not: wording.Contrast(s), text: bare(s)}
	st.slot = slot(st.text)
	st.frame, st.changed = frame(st.text)
	st.changed = st.frame != "" && (st.changed || correcting)
	st.mask = mask(st.text)
	st.left = nameAt(leaves(st.text))
	st.core, st.denies, st.ended = claim(s)
	st.order, st.ordered = wording.Compares(st.text)
	if st.frame != "" && (st.changed || st.not != "") {
		st.needs[0] = strings.Fields(tail(st.frame))
	}
	st.needs[1] = strings.Fields(st.mask)
	if st.ordered {
		st.needs[2] = strings.Fields(or(st.order.Under, st.order.Over))
	}
	st.needs[3] = stems(st.core)
	st.needs[4] = strings.Fields(st.left)
	return st
}

// Thing names what a sentence of a person gives the value of, where there is
// one such value at a time ("slot home"), or "". Of two sentences with one
// thing the later replaces the earlier.
func Thing(s string) string {
	plain := bare(s)
	if n := slot(plain); n != "" {
		return "slot " + n
	}
	if m := mask(plain); m != "" {
		return "value " + m
	}
	return ""
}

// bare is a sentence without what introduces it and what it isn't about.
func bare(s string) string {
	return strings.TrimRight(wording.Uncontrasted(First(headless(s))), " .!。！")
}

// claim is what a sentence affirms or denies in the first of its clauses that
// is about something; what follows says what holds instead.
func claim(s string) (core []string, denies, ended bool) {
	for _, c := range wording.Clauses(wording.Uncontrasted(s)) {
		if core = wording.Core(c); len(core) > 0 {
			denies = wording.Denies(c)
			return core, denies, denies && wording.Ended(c)
		}
	}
	return nil, false, false
}

// Replaces says whether, of two sentences of one person, the later makes the
// earlier one untrue: it gives another value to a thing of which there is one,
// denies what the other said, says what was denied, or compares the same
// things the other way round. It is asked of all that is known of a person:
// what has no word in common is passed over quickly.
func (st Statement) Replaces(earlier string) bool {
	low, worth := strings.ToLower(earlier), st.slot != ""
	var has [5]bool
	for i, words := range st.needs {
		has[i] = len(words) > 0 && !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(low, w) })
		worth = worth || has[i]
	}
	if !worth {
		return false
	}
	plain := bare(earlier)
	switch {
	case st.slot != "" && st.slot == slot(plain), has[1] && mask(plain) == st.mask:
		return true
	case has[0] && st.reframes(plain):
		return true
	case has[4] && nameAt(uses(plain)) == st.left:
		return true
	case has[2]:
		if o, ok := wording.Compares(plain); ok && st.order.Against(o) {
			return true
		}
	}
	return has[3] && st.against(plain)
}

// reframes says whether it gives another value to the same thing, and says so.
func (st Statement) reframes(plain string) bool {
	f, _ := frame(plain)
	return f == st.frame && store.Fold(plain) != store.Fold(st.text) && (st.changed || wording.Contains(plain, st.not))
}

var often = regexp.MustCompile(`每(?:[天周月晚早]|个月)(?:早上|上午|中午|下午|晚上)?`)

// against says whether one of two sentences denies what the other affirms.
func (st Statement) against(plain string) bool {
	if st.ended { // for good: how often it was makes no difference
		plain = often.ReplaceAllString(plain, "")
	}
	core := wording.Core(plain)
	if len(core) < len(st.core) || core[0] != st.core[0] || st.denies == wording.Denies(plain) {
		return false
	}
	// What ended takes what was said around it along: where and with whom.
	return (len(core) == len(st.core) || st.ended && len(st.core) > 1) && follows(core, st.core)
}

// tail is the end of a Chinese name, which 的 may divide; another is whole.
func tail(name string) string {
	if r := []rune(name); wording.HasHan(name) && len(r) > 2 {
		return string(r[len(r)-2:])
	}
	return name
}

func stems(words []string) []string {
	var out []string
	for _, w := range words {
		// "like" stands for every word of liking, "live" for moving away.
		if w != "like" && w != "live" && w != "喜" && w != "欢" && w != "住" {
			out = append(out, stem(w))
		}
	}
	return out
}

// stem is what a word and its stem have in common.
func stem(w string) string {
	if len(w) > 3 && w[0] < 0x80 {
		return w[:len(w)-1]
	}
	return w
}

// follows says whether some stand in all, in their order.
func follows(all, some []string) bool {
	for _, w := range all {
		if len(some) > 0 && w == some[0] {
			some = some[1:]
		}
	}
	return len(some) == 0
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// mask is a sentence about the speaker's things without its number, if it has
// one, and without what says whose they are and that it is so now.
func mask(s string) string {
	if !numbered.MatchString(s) || len(wording.Numbers(s)) != 1 {
		return ""
	}
	return speaking.ReplaceAllString(now.ReplaceAllString(wording.Masked(s), "$1"), "")
}

func frame(s string) (name string, changed bool) {
	if denied.MatchString(s) {
		return "", false
	}
	if m := frameEn.FindStringSubmatch(s); m != nil {
		return store.Fold(m[1]), m[2]+m[3]+m[4] != ""
	}
	if m := frameZh.FindStringSubmatch(s); m != nil && wording.HasHan(s) && !pointing.MatchString(m[1]) {
		return strings.TrimSuffix(strings.ReplaceAll(store.Fold(m[1]), "的", ""), "号"), m[2] != ""
	}
	return "", false
}

func slot(s string) string {
	if denied.MatchString(s) {
		return ""
	}
	for _, sl := range slots {
		if at := sl.re.FindStringSubmatchIndex(s); at != nil && (sl.name != "home" || !notHomes.MatchString(s)) {
			return strings.ToLower(string(sl.re.ExpandString(nil, sl.name, s, at)))
		}
	}
	return ""
}
