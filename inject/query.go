package inject

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"hindsight/store"
	"hindsight/store/index"
)

// The long-message rule: of words above longWords characters the first and the
// last count, because the instruction stands at one end of a paste.
const (
	longWords  = 600
	headWords  = 200
	tailWords  = 400
	maxContext = 6   // turns before the message that count
	fade       = 0.9 // each turn back counts this much of the one after it
	share      = 0.4 // the last turn before the message, against the message
	longTurn   = 300 // characters of a turn that count
	shortWords = 40  // tokens of a message that is embedded with the turns before it
)

// query is what recall asks: weighted terms for the index, and the units of
// the message for the gate. A unit is a word or a character of a script
// without spaces.
type query struct {
	text string
	// meaning is what is embedded; context says that turns before the message are
	// in it.
	meaning string
	context bool
	terms   []index.Term
	units   []unit
	window  window
	// idle says that nothing was asked: a greeting, thanks, an "ok".
	idle bool
	// personal says that it is asked about the person who asks.
	personal bool
}

// unit lists the terms through which a memory may hold one unit of the query.
type unit struct {
	clause int // which sentence of the message it stands in
	han    bool
	via    []via
}

type via struct {
	term     int
	strength float64
}

// How much of a unit a match through a term of each kind covers.
const (
	viaWord    = 1.0
	viaConcept = 0.65 // another word of the same meaning, or in the other language
	viaPart    = 0.6  // a piece of an identifier
	viaChar    = 0.25
)

// screened is how much of each end of a long text is screened: more than counts.
const screened = 2000

// query reads the message and the turns before it, without what must not be kept
// or sent anywhere.
func (e *Engine) query(words string, context []string, now time.Time, zone *time.Location) query {
	words = e.screen(words)
	if e.cfg.Screen != nil {
		context = slices.Clone(context)
		for i := max(0, len(context)-maxContext); i < len(context); i++ {
			context[i] = e.screen(context[i])
		}
	}
	return newQuery(e.times, words, context, now, zone)
}

// screen takes the secrets out of what of a text counts.
func (e *Engine) screen(text string) string {
	if e.cfg.Screen == nil {
		return text
	}
	return e.cfg.Screen(clip(text, screened, screened, 2*screened))
}

// asked is the text of the question that a message's words are.
func (e *Engine) asked(words string) string { return questionOf(e.screen(words)) }

func questionOf(words string) string { return clip(words, headWords, tailWords, longWords) }

// newQuery reads the message and the turns before it.
func newQuery(times *timeWords, words string, context []string, now time.Time, zone *time.Location) query {
	q := query{text: questionOf(words)}
	q.meaning = q.text
	if q.text != "" && len(context) > 0 && store.Tokens(q.text) <= shortWords {
		// Measured on dialogues, this is worth 8 points of recall at 10; the
		// embedder reads the end of it, where the message stands, and a little of
		// the beginning.
		var b strings.Builder
		for _, turn := range context[max(0, len(context)-maxContext):] {
			b.WriteString(clip(turn, longTurn/3, longTurn-longTurn/3, longTurn))
			b.WriteByte('\n')
		}
		q.meaning, q.context = b.String()+q.text, true
	}
	asked, w := times.find(q.text, now, zone)
	q.window = w
	b := builder{query: &q, at: make(map[string]int)}
	for _, clause := range clauses(asked) {
		b.clause++
		b.seen = make(map[int]int)
		for _, t := range index.Tokens(clause) {
			b.word(t)
		}
	}
	lone(q.units)
	q.idle, q.personal = pleasantry(q.text), personal(q.text)
	weight := share
	if len(q.units) == 0 && !q.idle {
		// "The second one?" asks nothing by itself: the turns before it do.
		weight = 1
	}
	for i := len(context) - 1; i >= 0 && i >= len(context)-maxContext; i-- {
		last := weight == 1
		turn := clip(context[i], longTurn/3, longTurn-longTurn/3, longTurn)
		b.clause++
		b.seen = make(map[int]int)
		for _, t := range index.Tokens(turn) {
			if last {
				b.word(t)
			}
			b.term(t.Text, weight)
		}
		weight *= fade
	}
	return q
}

// builder numbers terms and units while a query is read.
type builder struct {
	query  *query
	at     map[string]int
	clause int
	seen   map[int]int // the clause's unit to the query's
}

// term returns a term's place, with the greatest weight that it was given.
func (b *builder) term(text string, weight float64) int {
	i, ok := b.at[text]
	if !ok {
		i = len(b.query.terms)
		b.at[text] = i
		b.query.terms = append(b.query.terms, index.Term{Text: text})
	}
	t := &b.query.terms[i]
	t.Weight = max(t.Weight, weight)
	return i
}

// conceptWeight keeps a bridge from outweighing the very word.
const conceptWeight = 0.5

func (b *builder) word(t index.Token) {
	strength := viaWord
	switch t.Kind {
	case index.Part:
		strength = viaPart
	case index.Char:
		strength = viaChar
	}
	_, had := b.at[t.Text]
	n := b.term(t.Text, 1)
	han := t.Kind == index.Char || t.Kind == index.Bigram
	if had && !han && t.Kind == index.Word {
		return // a word said twice is one unit
	}
	concept := -1
	if c := index.Concept(t.Text); c != "" {
		concept = b.term(c, conceptWeight)
	}
	for u := t.Unit; u <= t.Unit || t.Kind == index.Bigram && u == t.Unit+1; u++ {
		to := b.unit(u, han)
		to.via = append(to.via, via{n, strength})
		if concept >= 0 {
			to.via = append(to.via, via{concept, viaConcept})
		}
	}
}

func (b *builder) unit(u int, han bool) *unit {
	i, ok := b.seen[u]
	if !ok {
		i = len(b.query.units)
		b.seen[u] = i
		b.query.units = append(b.query.units, unit{clause: b.clause, han: han})
	}
	return &b.query.units[i]
}

// lone makes a character that function words stand around (「什么茶」) the word
// that it is.
func lone(units []unit) {
	for i := range units {
		u := &units[i]
		if u.han && !slices.ContainsFunc(u.via, func(v via) bool { return v.strength == viaWord }) {
			for k := range u.via {
				if u.via[k].strength == viaChar {
					u.via[k].strength = viaWord
				}
			}
		}
	}
}

// clauses cuts a message into its sentences.
func clauses(s string) []string {
	var out []string
	start := 0
	for i, r := range s {
		end := i + utf8.RuneLen(r)
		switch r {
		case '\n', '?', '!', '。', '？', '！', '；':
		case '.', ';':
			if end < len(s) && s[end] != ' ' {
				continue
			}
		default:
			continue
		}
		out = append(out, s[start:end])
		start = end
	}
	return append(out, s[start:])
}

// clip keeps the first head and the last tail characters of a text that has
// more than limit.
func clip(s string, head, tail, limit int) string {
	if len(s) <= limit {
		return s
	}
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	return string(r[:head]) + "\n" + string(r[len(r)-tail:])
}

// pleasantry says whether a text is a greeting, thanks or assent and nothing
// else.
func pleasantry(s string) bool {
	s = strings.ToLower(s)
	for _, w := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\r\n,.!?~…，。！？～、:;)(", r) }) {
		if !polite(w) {
			return false
		}
	}
	return true
}

func polite(w string) bool {
	switch w {
	case "hi", "hello", "hey", "yo", "hiya", "there", "good", "morning", "afternoon", "evening", "night", "day", "bye", "goodbye", "see", "you", "later",
		"thanks", "thank", "thx", "ty", "cheers", "so", "much", "very", "a", "lot", "please", "ok", "okay", "k", "yes", "yep", "yeah", "no", "nope", "sure",
		"great", "nice", "cool", "perfect", "awesome", "fine", "got", "it", "right", "exactly", "continue", "go", "on", "ahead", "next", "done", "again",
		"lol", "haha", "wow", "how", "are", "is", "going", "what's", "up", "all", "that's", "for", "now", "the", "help", "test", "testing", "ping",
		"你好", "您好", "你好呀", "嗨", "哈喽", "早", "早上好", "上午好", "下午好", "晚上好", "晚安", "早安", "再见", "拜拜", "谢谢", "谢谢你", "谢谢您", "多谢", "感谢", "非常感谢", "谢了", "辛苦了",
		"好", "好的", "好吧", "好啊", "行", "可以", "嗯", "嗯嗯", "哦", "是的", "对", "对的", "没错", "不是", "不用", "不用了", "没事", "没关系", "明白", "明白了", "知道了", "收到", "了解", "继续", "下一个", "再来", "哈哈", "哈哈哈", "太好了", "很好", "不错", "真棒", "在吗", "你好吗", "最近怎么样", "测试":
		return true
	}
	return false
}
