package index

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"golang.org/x/text/unicode/norm"
)

// Kind says what a token is of the text that it was cut from.
type Kind uint8

// The kinds of a token.
const (
	Word   Kind = iota // a word (stemmed), a number, or an identifier whole
	Part               // a piece of an identifier: `8080` of `port-8080`
	Char               // one character of a script without spaces
	Bigram             // two neighbouring characters of such a script
)

// Token is one term with its place. Unit counts the words of the text and the
// characters of scripts without spaces, stop words left out; a part has its
// identifier's unit, a bigram covers Unit and Unit+1.
type Token struct {
	Text string
	Kind Kind
	Unit int
}

// Terms is the one tokeniser of Hindsight: what "a word" means for the index,
// for duplicates and for grounding. The text is folded by NFKC and lower-cased,
// stop words are left out, English words are stemmed. Han, kana, Hangul, Thai
// and their like give single characters and bigrams; a run of them is cut at
// function words, so that no bigram spans one. Numbers and identifiers stay
// whole (`e1234`, `api.v2`, `port-8080`) and their parts of two or more
// characters follow. Terms come in the text's order and as often as they occur.
func Terms(text string) []string {
	var out []string
	new(analyser).scan(text, func(t Token) { out = append(out, t.Text) })
	return out
}

// Tokens is [Terms] with kinds and places.
func Tokens(text string) []Token {
	var out []Token
	new(analyser).scan(text, func(t Token) { out = append(out, t) })
	return out
}

// analyser cuts texts. With a memo it works each plain word out once (to its
// stem, or to "" for a stop word), which is what makes loading a scope cheap.
// Not safe for concurrent use.
type analyser struct{ memo map[string]string }

func (a *analyser) scan(text string, emit func(Token)) {
	if !ascii(text) {
		text = norm.NFKC.String(text)
	}
	unit := 0
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case unspaced(r):
			j := i + n
			for j < len(text) {
				r, n := utf8.DecodeRuneInString(text[j:])
				if !unspaced(r) && !unicode.IsMark(r) {
					break
				}
				j += n
			}
			unit = run(text[i:j], unit, emit)
			i = j
		case wordRune(r):
			j := wordEnd(text, i)
			unit = a.word(text[i:j], unit, emit)
			i = j
		default:
			i += n
		}
	}
}

// wordEnd is where the word that begins at i ends. Marks that join an
// identifier count inside it only; `c++` and `c#` are words.
func wordEnd(s string, i int) int {
	start := i
	for i < len(s) {
		if c := s[i]; c >= 'a' && c <= 'z' {
			i++
			continue
		} else if c == ' ' {
			return i
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if wordRune(r) {
			i += n
			continue
		}
		next, m := utf8.DecodeRuneInString(s[i+n:])
		switch {
		case strings.ContainsRune("-_.@'’", r) && wordRune(next):
			i += n + m
		case r == ':' && digit(s[i-1]) && next < utf8.RuneSelf && digit(byte(next)):
			i += n + m
		case i == start+1 && r == '+' && next == '+':
			return i + 2
		case i == start+1 && r == '#':
			return i + 1
		default:
			return i
		}
	}
	return i
}

func (a *analyser) word(w string, unit int, emit func(Token)) int {
	if term, ok := a.memo[w]; ok {
		if term != "" {
			emit(Token{term, Word, unit})
			unit++
		}
		return unit
	}
	if a.memo != nil && plain(w) {
		term := ""
		unit = take(w, unit, func(t Token) { term = t.Text; emit(t) })
		a.memo[w] = term
		return unit
	}
	return take(w, unit, emit)
}

// take cuts one word without the memo.
func take(w string, unit int, emit func(Token)) int {
	if strings.Contains(w, "’") {
		w = strings.ReplaceAll(w, "’", "'")
	}
	low := strings.ToLower(w)
	if stopWord(low) {
		return unit
	}
	if cut := strings.TrimSuffix(low, "'s"); cut != low {
		low, w = cut, w[:len(w)-len("'s")]
	}
	low = strings.ReplaceAll(low, "'", "")
	parts, identifier := split(w)
	if len(parts) == 0 {
		if low != "" && !stopWord(low) {
			emit(Token{stem(low), Word, unit})
			unit++
		}
		return unit
	}
	kind, step := Word, 1
	if identifier {
		emit(Token{low, Word, unit})
		kind, step = Part, 0
	}
	for _, p := range parts {
		p = strings.ToLower(p)
		if len(p) < 2 || stopWord(p) {
			continue
		}
		emit(Token{stem(p), kind, unit})
		unit += step
	}
	return unit + 1 - step
}

// split cuts a word at its joining marks, and the pieces again between letters
// and digits and where a small letter meets a capital; a piece that is cut
// comes before what it is cut into. No parts: the word is one. identifier is
// false for plain words joined by hyphens, which are as many words.
func split(w string) (parts []string, identifier bool) {
	if plain(w) {
		return nil, false
	}
	identifier = strings.ContainsAny(w, "_.@:0123456789")
	pieces := strings.FieldsFunc(w, func(r rune) bool { return strings.ContainsRune("-_.@:", r) })
	for _, p := range pieces {
		if len(pieces) > 1 {
			parts = append(parts, p)
		}
		start := 0
		var last rune
		for i, r := range p {
			if i > 0 && (unicode.IsDigit(r) != unicode.IsDigit(last) && wordRune(r) && wordRune(last) || unicode.IsLower(last) && unicode.IsUpper(r)) {
				parts = append(parts, p[start:i])
				start, identifier = i, true
			}
			last = r
		}
		if start > 0 {
			parts = append(parts, p[start:])
		}
	}
	return parts, identifier
}

// plain spares most words the search for seams.
func plain(w string) bool {
	for i := 0; i < len(w); i++ {
		if c := w[i]; (c < 'a' || c > 'z') && c != '\'' && (i > 0 || c < 'A' || c > 'Z') {
			return false
		}
	}
	return true
}

func stem(w string) string {
	if len(w) < 3 {
		return w
	}
	for i := 0; i < len(w); i++ {
		if w[i] < 'a' || w[i] > 'z' {
			return w
		}
	}
	env := snowballstem.NewEnv(w)
	english.Stem(env)
	return env.Current()
}

// run cuts a run of a script without spaces. Hiragana alone is grammar more
// often than not: it counts in bigrams only.
func run(s string, unit int, emit func(Token)) int {
	at := make([]int, 0, 32) // where each character begins, and the end
	for i, r := range s {
		if !unicode.IsMark(r) || i == 0 {
			at = append(at, i)
		}
	}
	n := len(at)
	at = append(at, len(s))
	from := 0
	flush := func(to int) {
		for i := from; i < to; i++ {
			c := s[at[i]:at[i+1]]
			if r, _ := utf8.DecodeRuneInString(c); !unicode.Is(unicode.Hiragana, r) || to-from == 1 {
				emit(Token{c, Char, unit})
			}
			if i+1 < to {
				emit(Token{s[at[i]:at[i+2]], Bigram, unit})
			}
			unit++
		}
	}
	for i := 0; i < n; {
		size, stop := functionWord(s, at, i)
		if stop {
			flush(i)
			from = i + size
		}
		i += size
	}
	flush(n)
	return unit
}

// functionWord looks for the longest entry of the Chinese tables at character i
// and says whether it is a function word; a content word that only contains
// one (`了解`) shields it.
func functionWord(s string, at []int, i int) (size int, stop bool) {
	for size := min(4, len(at)-1-i); size > 0; size-- {
		w := s[at[i]:at[i+size]]
		if size > 1 && shielded(w) {
			return size, false
		}
		if functionHan(w) {
			return size, true
		}
	}
	return 1, false
}

func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

func wordRune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unspaced(r)
}

// unspaced says whether a character belongs to a script that is cut into
// bigrams. Korean has spaces, but its endings hang on the words: it is cut too,
// word by word.
func unspaced(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r == 0x30fc: // the long vowel mark belongs to both kana
		return true
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
