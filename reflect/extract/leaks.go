package extract

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/spf13/viper"
	"github.com/zricethezav/gitleaks/v8/config"
)

// The rules by which gitleaks finds credentials are its own and kept there;
// here is only what reads a text by them. Its package detect would bring
// readers for archives and repositories along.

// leakRules are read once, when the first text is screened: 0.1 s, in the
// background. Nothing changes them.
var leakRules = sync.OnceValue(func() *leaks {
	l, err := readLeakRules()
	if err != nil {
		panic("extract: " + err.Error()) // a fault of the build, which every test sees
	}
	return &l
})

type leaks struct {
	rules []leakRule
	words finder              // the rules' keywords
	allow []*config.Allowlist // for all rules
}

type leakRule struct {
	config.Rule
	needs cues // of which one must be there
}

func readLeakRules() (leaks, error) {
	v := viper.New()
	v.SetConfigType("toml")
	var raw config.ViperConfig
	if err := v.ReadConfig(strings.NewReader(config.DefaultConfig)); err != nil {
		return leaks{}, fmt.Errorf("read the rules for secrets: %w", err)
	}
	if err := v.Unmarshal(&raw); err != nil {
		return leaks{}, fmt.Errorf("read the rules for secrets: %w", err)
	}
	c, err := raw.Translate()
	if err != nil {
		return leaks{}, fmt.Errorf("read the rules for secrets: %w", err)
	}
	out := leaks{allow: c.Allowlists}
	for _, r := range c.Rules {
		if r.Regex != nil && r.Path == nil { // a rule about files says nothing about talk
			out.rules = append(out.rules, leakRule{r, out.words.knows(r.Keywords...)})
		}
	}
	slices.SortFunc(out.rules, func(a, b leakRule) int { return strings.Compare(a.RuleID, b.RuleID) })
	return out, nil
}

// spaced is a text as the rules know texts: source code, in which a key ends
// at a blank or a quote and never at a comma of prose or a Chinese character. The
// punctuation behind a word and the blank after it are two blanks.
func spaced(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c >= utf8.RuneSelf:
			_, n := utf8.DecodeRuneInString(text[i:])
			b.WriteByte(' ')
			i += n
		case strings.IndexByte(pauses, c) >= 0:
			end := i + 1
			for end < len(text) && strings.IndexByte(pauses, text[end]) >= 0 {
				end++
			}
			n := blankAt(text[end:])
			if n < 0 {
				b.WriteString(text[i:end])
				n = 0
			} else {
				b.WriteString("  ")
			}
			i = end + n
		default:
			b.WriteByte(c)
			i++
		}
	}
	return b.String()
}

const pauses = ",.)]!?"

// blankAt is how long the blank is that a text begins with, or what counts as one: 0
// where it is empty, -1 for none.
func blankAt(text string) int {
	switch {
	case text == "":
		return 0
	case strings.IndexByte(" \t\n\f\r", text[0]) >= 0:
		return 1
	case text[0] >= utf8.RuneSelf:
		_, n := utf8.DecodeRuneInString(text)
		return n
	}
	return -1
}

// runs are what can be a key, as begin and end: no rule wants fewer characters. One of
// letters alone has to be long, else every long word would be looked at.
func runs(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		from, digit := 0, false
		for i := 0; i <= len(text); i++ {
			c := byte(' ')
			if i < len(text) {
				c = text[i]
			}
			switch {
			case '0' <= c && c <= '9':
				digit = true
			case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '.', c == '=', c == '+', c == '/', c == '-':
			default:
				if n := i - from; (n >= 24 || n >= 10 && digit) && !yield(from, i) {
					return
				}
				from, digit = i+1, false
			}
		}
	}
}

// holdsRun says whether a text may hold a key at all: most don't.
func holdsRun(text string) bool {
	for range runs(text) {
		return true
	}
	return false
}

// ahead of a run and after it is what a rule may want to see: "api key for the harbour is:".
const ahead, after = 100, 30

// suspects are the pieces of a text that can hold a key with what a rule wants
// to see around it. Two hundred expressions over every text would cost 5 ms a
// kilobyte; prose has no such piece.
func suspects(text string) []string {
	var out []string
	from, to := 0, 0
	for begin, end := range runs(text) {
		if begin-ahead > to {
			if to > from {
				out = append(out, text[from:to])
			}
			from = max(begin-ahead, 0)
			if blank := strings.IndexAny(text[from:begin], " \n"); from > 0 && blank > 0 {
				from += blank // never in the middle of a word
			}
		}
		to = min(end+after, len(text))
	}
	if to > from {
		out = append(out, text[from:to])
	}
	return out
}

// redact takes out what the rules find.
func (l *leaks) redact(text string) string {
	for _, piece := range suspects(spaced(text)) {
		for _, secret := range l.find(piece) {
			text = strings.ReplaceAll(text, secret, removed)
		}
	}
	return text
}

// find lists the secrets in a piece of text.
func (l *leaks) find(text string) []string {
	var out []string
	found := l.words.in(text)
	for i := range l.rules {
		r := &l.rules[i]
		if len(r.Keywords) > 0 && !found.meets(r.needs) {
			continue
		}
		for _, m := range r.Regex.FindAllStringSubmatch(text, -1) {
			secret := secretOf(r.Rule, m)
			if strings.TrimSpace(secret) == "" || strings.Contains(secret, removed) || r.Entropy > 0 && entropy(secret) <= r.Entropy ||
				allowed(l.allow, secret, m[0], text) || allowed(r.Allowlists, secret, m[0], text) {
				continue
			}
			out = append(out, secret)
		}
	}
	return out
}

// secretOf is the part of a match that is the secret: the group that the rule
// names, else the first that holds something.
func secretOf(r config.Rule, m []string) string {
	if r.SecretGroup > 0 && r.SecretGroup < len(m) {
		return m[r.SecretGroup]
	}
	for _, g := range m[1:] {
		if g != "" {
			return g
		}
	}
	return m[0]
}

// allowed says whether a list lets a finding pass. What it says of files and
// commits can't hold for talk.
func allowed(lists []*config.Allowlist, secret, match, text string) bool {
	return slices.ContainsFunc(lists, func(a *config.Allowlist) bool {
		target := secret
		switch a.RegexTarget {
		case "match":
			target = match
		case "line":
			target = lineOf(text, match)
		}
		form := a.RegexAllowed(target)
		word, _ := a.ContainsStopWord(secret)
		if a.MatchCondition != config.AllowlistMatchAnd {
			return form || word
		}
		return len(a.Paths) == 0 && len(a.Commits) == 0 && (form || len(a.Regexes) == 0) && (word || len(a.StopWords) == 0)
	})
}

func lineOf(text, match string) string {
	at := strings.Index(text, match)
	if at < 0 {
		return match
	}
	from, to := strings.LastIndexByte(text[:at], '\n')+1, len(text)
	if end := strings.IndexByte(text[at+len(match):], '\n'); end >= 0 {
		to = at + len(match) + end
	}
	return text[from:to]
}

// entropy is Shannon's, in bits a character.
func entropy(s string) float64 {
	count := map[rune]float64{}
	n := 0.0
	for _, r := range s {
		count[r]++
		n++
	}
	sum := 0.0
	for _, c := range count {
		sum -= c / n * math.Log2(c/n)
	}
	return sum
}
