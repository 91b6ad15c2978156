package inject

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Profile bounds what certain models are shown. A zero field leaves what holds
// for every model.
type Profile struct {
	TopK    int     `json:"top_k,omitempty"`   // memories a turn
	Tokens  int     `json:"tokens,omitempty"`  // a turn, fence included
	Carried int     `json:"carried,omitempty"` // all blocks of one request
	Gate    float64 `json:"gate,omitempty"`    // strictness, as a factor
	Context int     `json:"context,omitempty"` // the model's context in tokens
}

// strict is the shipped profile of models that name themselves small: they
// follow what stands in front of them, asked or not, so that a wrong note costs
// more than a missing one. The factor halves the share of foreign questions that
// get an injection (docs/recall.md).
func strict() Profile { return Profile{TopK: 3, Gate: 1.2} }

// smallParameters is up to how many billions of parameters a model is small.
const smallParameters = 4.0

// contextShareOf is the part of a model's context that all blocks of a request
// may take: one in so many tokens.
const contextShareOf = 20

// CheckProfiles names every bad pattern and field of profiles by model pattern.
func CheckProfiles(profiles map[string]Profile) error {
	var errs []error
	for _, pattern := range slices.Sorted(maps.Keys(profiles)) {
		p := profiles[pattern]
		if strings.Trim(pattern, "* ") == "" && pattern != "*" {
			errs = append(errs, fmt.Errorf("profile %q: want a model's name, in which * stands for anything", pattern))
		}
		for _, f := range []struct {
			name           string
			n, least, most int
		}{{"top_k", p.TopK, 1, 50}, {"tokens", p.Tokens, 1, 8000}, {"carried", p.Carried, 1, 100_000}, {"context", p.Context, 256, 100_000_000}} {
			if f.n != 0 && (f.n < f.least || f.n > f.most) {
				errs = append(errs, fmt.Errorf("profile %q: %s is %d: want %d to %d", pattern, f.name, f.n, f.least, f.most))
			}
		}
		if p.Gate != 0 && (p.Gate < 0.1 || p.Gate > 10) {
			errs = append(errs, fmt.Errorf("profile %q: gate is %v: want 0.1 to 10", pattern, p.Gate))
		}
	}
	return errors.Join(errs...)
}

// models knows what differs from one model to the next.
type models struct {
	profiles   map[string]Profile // by pattern in lower case
	patterns   []string           // the most specific first
	parameters *regexp.Regexp
	window     *regexp.Regexp
}

func newModels(profiles map[string]Profile) models {
	m := models{
		profiles: make(map[string]Profile, len(profiles)),
		// "qwen2.5-1.5b-instruct", "llama3.2:3b", "gemma3n:e2b"
		parameters: regexp.MustCompile(`(?:^|[^a-z0-9.])e?([0-9]+(?:\.[0-9]+)?)b(?:$|[^a-z0-9])`),
		// "gpt-4-32k", "moonshot-v1-8k", "phi-3-mini-4k-instruct"
		window: regexp.MustCompile(`(?:^|[^a-z0-9.])([0-9]+)k(?:$|[^a-z0-9])`),
	}
	for pattern, p := range profiles {
		m.profiles[strings.ToLower(pattern)] = p
	}
	m.patterns = slices.SortedFunc(maps.Keys(m.profiles), func(a, b string) int {
		return cmp.Or(cmp.Compare(literal(b), literal(a)), cmp.Compare(a, b))
	})
	return m
}

// literal is how many characters of a pattern stand for themselves.
func literal(pattern string) int { return len(pattern) - strings.Count(pattern, "*") }

// bounds are the configuration's as they hold for one model.
func (m models) bounds(cfg Config, model string) Config {
	name := strings.ToLower(model)
	p, ok := m.profile(name)
	if !ok && m.small(name) {
		p = strict()
		p.TopK = min(p.TopK, cfg.TopK)
	}
	set := func(to *int, n int) {
		if n != 0 {
			*to = n
		}
	}
	set(&cfg.TopK, p.TopK)
	set(&cfg.Tokens, p.Tokens)
	set(&cfg.Carried, p.Carried)
	if p.Gate != 0 {
		cfg.Gate *= p.Gate
	}
	if size := cmp.Or(p.Context, m.context(name)); size != 0 {
		cfg.Carried = min(cfg.Carried, size/contextShareOf)
	}
	return cfg
}

// profile is the configured one of the most specific pattern that fits.
func (m models) profile(name string) (Profile, bool) {
	for _, pattern := range m.patterns {
		if matches(pattern, name) {
			return m.profiles[pattern], true
		}
	}
	return Profile{}, false
}

// matches says whether a name fits a pattern as a whole; * stands for anything.
func matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if !strings.HasPrefix(name, head) {
		return false
	}
	name = name[len(head):]
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}

// small says whether a model's name tells so few parameters. Of several numbers
// the greatest counts: in "30b-a3b" the smaller one is only what works at a time.
func (m models) small(name string) bool {
	most := 0.0
	for rest := name; ; {
		at := m.parameters.FindStringSubmatchIndex(rest)
		if at == nil {
			return most > 0 && most <= smallParameters
		}
		if n, err := strconv.ParseFloat(rest[at[2]:at[3]], 64); err == nil {
			most = max(most, n)
		}
		rest = rest[at[3]:] // what ends one number may begin the next
	}
}

// context is a model's context in tokens, 0 where it isn't known. What a name
// says itself counts first.
func (m models) context(name string) int {
	if at := m.window.FindStringSubmatch(name); at != nil {
		if n, err := strconv.Atoi(at[1]); err == nil && n >= 1 && n <= 10_000 {
			return n << 10
		}
	}
	// "meta-llama/Meta-Llama-3-8B-Instruct": the maker in front doesn't count.
	name = name[strings.LastIndexByte(name, '/')+1:]
	for _, w := range families() {
		if matches(w.pattern, name) {
			return w.tokens
		}
	}
	return 0
}
