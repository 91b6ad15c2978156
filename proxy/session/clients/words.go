package clients

import (
	"encoding/json"
	"strings"

	"hindsight/proxy/dialect"
)

// Spoken is what one user message says.
type Spoken struct {
	Index int // of the message in the request
	// Words are what a person typed, trimmed; empty: nobody spoke.
	Words string
	// ThirdParty is outside knowledge that came with it: documents,
	// notifications, other agents, summaries. Decoration is in neither.
	ThirdParty string
}

// Words separates the human's words of one user message from the rest. It
// knows nothing of the messages around it; [Rules.HumanMessages] does.
func (r *Rules) Words(m dialect.Message, app string) (words, thirdParty string) {
	if m.Role != dialect.User {
		return "", ""
	}
	read := r.read(m, app, false)
	return read.words.text(), read.third.text()
}

// reading is what is found in a user message.
type reading struct {
	words, third collector
	examples     bool // it ends the examples in front of a conversation
}

func (r *Rules) read(m dialect.Message, app string, opening bool) *reading {
	var to reading
	for _, p := range m.Parts {
		if p.Kind == dialect.TextPart {
			r.part(p.Text(), app, opening, &to)
		}
	}
	return &to
}

// part reads one text part. Wrappers stand inside one another, so the text is
// peeled from its beginning until nothing known is left there.
func (r *Rules) part(s, app string, opening bool, to *reading) {
	s = strings.TrimSpace(r.strip(s))
	for _, x := range r.suffixes {
		if appFits(x.apps, app) && strings.Contains(s, x.text) { // much faster than LastIndex
			s = s[:strings.LastIndex(s, x.text)]
		}
	}
	judged := "" // is a person's, as far as its beginning tells
	for again := true; again; {
		again = false
		s = strings.TrimSpace(s)
		if s == "" {
			return
		}
		if inner, rest, ok := r.template(s, app); ok {
			s, again = inner, true
			to.third.add(rest)
			continue
		}
		if b, ok := r.nobody(s, app, opening); ok {
			to.examples = to.examples || b.examples
			if b.third {
				rest, outside := r.split(s, app)
				to.third.add(rest)
				to.third.add(outside...)
			}
			return
		}
		judged = s
		if rest, outside, ok := r.cutHead(s, app); ok {
			s, again = rest, true
			to.third.add(outside)
		}
	}
	s, outside := r.split(s, app)
	to.third.add(outside...)
	s = unquote(strings.TrimSpace(s))
	if s != judged {
		if b, ok := r.nobody(s, app, opening); ok {
			if b.third {
				to.third.add(s)
			}
			return
		}
	}
	to.words.add(s)
}

// template undoes a known template at the beginning of s.
func (r *Rules) template(s, app string) (inner, third string, ok bool) {
	for i := range r.templates {
		t := &r.templates[i]
		if !appFits(t.apps, app) {
			continue
		}
		from := t.begin.at(s)
		if from < 0 {
			continue
		}
		before, inner := "", s[from:]
		if t.from != "" {
			// The last one: a document may hold the mark, too, and must not
			// speak for the person.
			i := strings.LastIndex(inner, t.from)
			if i < 0 {
				continue
			}
			before, inner = inner[:i], inner[i+len(t.from):]
		}
		after := ""
		if t.to != "" {
			i := strings.Index(inner, t.to)
			if i < 0 {
				continue
			}
			inner, after = inner[:i], inner[i:]
		}
		if t.third != "" {
			for _, s := range []string{before, after} {
				if _, rest, ok := strings.Cut(s, t.third); ok {
					third = rest
				}
			}
		}
		return inner, third, true
	}
	return s, "", false
}

// nobody finds the entry by which no person typed s.
func (r *Rules) nobody(s, app string, opening bool) (beginning, bool) {
	for i := range r.beginnings {
		b := &r.beginnings[i]
		if b.opening && !opening || !appFits(b.apps, app) {
			continue
		}
		if end := b.at(s); end >= 0 && (!b.whole || end == len(s)) && containsAny(s, b.with) {
			return *b, true
		}
	}
	for i := range r.phrases {
		p := &r.phrases[i]
		// What counts only without tools may well be a person's request.
		if p.user && !p.noTools && p.opens(s) {
			return beginning{}, true
		}
	}
	return beginning{}, false
}

// unquote undoes straight double quotes around a whole text, which some
// command lines add when they join their arguments.
func unquote(s string) string {
	if len(s) < 3 || s[0] != '"' || s[len(s)-1] != '"' {
		return s
	}
	var out string
	if json.Unmarshal([]byte(s), &out) == nil {
		return strings.TrimSpace(out)
	}
	// Quotes escaped, everything else raw.
	inner := s[1 : len(s)-1]
	if strings.Contains(strings.ReplaceAll(inner, `\"`, ""), `"`) || strings.HasSuffix(inner, `\`) {
		return s
	}
	return strings.TrimSpace(strings.ReplaceAll(inner, `\"`, `"`))
}

// collector joins texts with newlines and leaves out blank ones.
type collector struct{ parts []string }

func (c *collector) add(texts ...string) {
	for _, s := range texts {
		if s = strings.TrimSpace(s); s != "" {
			c.parts = append(c.parts, s)
		}
	}
}

func (c *collector) text() string { return strings.Join(c.parts, "\n") }
