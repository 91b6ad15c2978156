package clients

import (
	"errors"
	"fmt"
	"strings"

	"hindsight/proxy/dialect"
)

// phrase is a compiled [SideCall]. System text is compared in lower case,
// since applications reword prompts; what opens a user message as written,
// since people write there, too.
type phrase struct {
	pattern
	with, without []string
	folded        struct {
		pattern
		with, without []string
	}
	system, user, last bool
	noTools            bool
}

func compilePhrase(s SideCall) (phrase, error) {
	p := phrase{pattern: newPattern(s.Text), with: s.With, without: s.Without, noTools: s.NoTools}
	p.folded.pattern = newPattern(strings.ToLower(s.Text))
	p.folded.with, p.folded.without = lower(s.With), lower(s.Without)
	if blank(s.Text) {
		return p, errors.New("text is blank")
	}
	if len(s.In) == 0 {
		return p, errors.New("in is empty")
	}
	for _, in := range s.In {
		switch in {
		case InSystem:
			p.system = true
		case InUser:
			p.user = true
		case InLastSystem:
			p.last = true
		default:
			return p, fmt.Errorf("in %q is none of [%s %s %s]", in, InSystem, InUser, InLastSystem)
		}
	}
	return p, nil
}

// opens says whether a trimmed text begins with the phrase.
func (p *phrase) opens(s string) bool {
	return p.at(s) >= 0 && containsAny(s, p.with) && !holdsOne(s, p.without)
}

// inSystem says whether the phrase stands in the lower-case head of a system
// text.
func (p *phrase) inSystem(low string) bool {
	return p.folded.in(low) && containsAny(low, p.folded.with) && !holdsOne(low, p.folded.without)
}

// phrase says whether one of the known prompts stands where it counts.
func (r *Rules) phrase(req *dialect.Request) bool {
	system := strings.ToLower(systemHead(req))
	users := lastUsers(req)
	var final []string
	if n := len(req.Messages); n > 0 && isSystem(req.Messages[n-1].Role) {
		final = textParts(req.Messages[n-1], nil)
	}
	for i := range r.phrases {
		p := &r.phrases[i]
		switch {
		case p.noTools && req.HasTools:
		case p.system && p.inSystem(system),
			p.user && anyOpens(p, users),
			p.last && anyOpens(p, final):
			return true
		}
	}
	return false
}

func anyOpens(p *phrase, texts []string) bool {
	for _, s := range texts {
		if p.opens(s) {
			return true
		}
	}
	return false
}

// systemHead returns the first characters of the leading system text.
func systemHead(req *dialect.Request) string {
	var b strings.Builder
	for _, m := range req.Messages {
		if !isSystem(m.Role) {
			break
		}
		for _, p := range m.Parts {
			if p.Kind != dialect.TextPart {
				continue
			}
			b.WriteString(head(p.Text(), headChars))
			b.WriteByte('\n')
			if b.Len() >= 4*headChars {
				return head(b.String(), headChars)
			}
		}
	}
	return head(b.String(), headChars)
}

// lastUsers returns the texts of the last user message, and of the one before
// it where nobody answered in between: some clients put the instruction
// there and the words behind it.
func lastUsers(req *dialect.Request) []string {
	var out []string
	seen := 0
	for i := len(req.Messages) - 1; i >= 0 && seen < 2; i-- {
		switch m := req.Messages[i]; {
		case m.Role == dialect.User:
			out = textParts(m, out)
			seen++
		case seen == 1 && !isSystem(m.Role):
			return out
		}
	}
	return out
}

// textParts appends a message's texts, trimmed.
func textParts(m dialect.Message, to []string) []string {
	for _, p := range m.Parts {
		if p.Kind == dialect.TextPart {
			to = append(to, strings.TrimSpace(p.Text()))
		}
	}
	return to
}

func isSystem(r dialect.Role) bool { return r == dialect.System || r == dialect.Developer }

// containsAny says whether one of the texts stands in s; none asked is yes.
func containsAny(s string, texts []string) bool { return len(texts) == 0 || holdsOne(s, texts) }

func holdsOne(s string, texts []string) bool {
	for _, t := range texts {
		if strings.Contains(s, t) {
			return true
		}
	}
	return false
}

func lower(in []string) []string {
	out := make([]string, len(in))
	for i, s := range in {
		out[i] = strings.ToLower(s)
	}
	return out
}
