package extract

import (
	"regexp"
	"runtime"
	"slices"
	"strings"
	"unicode/utf8"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// Rules extracts without a model: verbatim sentences of the user whose form
// says that they state a fact, a preference, a fix or a failure, in English
// and Chinese, and tool calls that failed before something worked.
func Rules(m Material) Result {
	res := explicit(m)
	var found Result
	for i, e := range m.Events {
		runtime.Gosched() // requests go first
		if e.Role != User || e.Untrusted {
			continue
		}
		sentences := own(e.Text)
		if len(sentences) > 0 && found.amends(m, i, sentences[0]) {
			sentences = sentences[1:]
		}
		for _, s := range sentences {
			asks := strings.ContainsAny(s, "?？")
			if asks {
				s = lead(s)
			}
			for _, c := range besideSecret(s) {
				found.own(stated(m, i, c, c))
			}
			p := recognise(s)
			if p == nil || asks && p.subject == "$1" && len(wording.Numbers(s))+len(wording.Names(s)) == 0 {
				continue // "my server is down, what now?" is about the moment
			}
			found.own(stated(m, i, s, s))
		}
	}
	res.Candidates = merge(slices.Concat(found.Candidates, lessons(m), retold(m)), res.Candidates)
	res.Held, res.Dropped = append(res.Held, found.Held...), append(res.Dropped, found.Dropped...)
	res = Capped(res)
	res.alone(m.Events)
	return res
}

// besideSecret are the clauses of a sentence that state something without the secret
// that stands in another one.
func besideSecret(s string) []string {
	if !HoldsSecret(s) {
		return nil
	}
	var out []string
	for _, c := range clause.Split(s, -1) {
		if c = strings.TrimSpace(c); c != "" && !HoldsSecret(c) && (recognise(c) != nil || valued.MatchString(c) && statesSomething(c)) {
			out = append(out, c)
		}
	}
	return out
}

// valued gives a thing's value: what stands beside a secret is about the same.
var valued = regexp.MustCompile(`(?i)^(?:the |my |our )?[\p{L} ]{2,30} (?:is|are) \S*\d\S*$|^\p{Han}{2,8}(?:是|用的是) ?[A-Za-z0-9][\w .-]+$`)

var clause = regexp.MustCompile(`[,;，；]\s*|\s+(?:and|but)\s+|而且|并且|但是?`)

// amends puts right the last statement with a sentence that is only the piece
// that was wrong ("Sorry, I meant the 16th."): both are kept, in one, and the
// first isn't by itself.
func (r *Result) amends(m Material, i int, s string) bool {
	n := len(r.Candidates) - 1
	if n < 0 || m.Events[i].Turn-r.Candidates[n].Turn > 2 || !PutsRight(m.Events[i].Text) || recognise(s) != nil || strings.ContainsAny(s, "?？") || utf8.RuneCountInString(s) > 60 {
		return false
	}
	was := r.Candidates[n]
	fits := func(of func(string) []string) bool { return len(of(s)) > 0 && len(of(was.Quote)) > 0 }
	if !fits(wording.Numbers) && !fits(wording.Names) {
		return false
	}
	at := strings.Index(m.Events[i].Text, s)
	if at < 0 {
		return false
	}
	c := stated(m, i, was.Quote, strings.TrimSpace(m.Events[i].Text[:at]+s))
	c.Text = dated(was.Quote+" "+c.Quote, "", m.Events[i].Time)
	c.Type, c.Subject, c.Corrects = was.Type, was.Subject, true
	r.Candidates = r.Candidates[:n]
	r.own(c)
	return true
}

// lead is what a sentence states before it asks: "I live in Oslo, where do I
// vote?" It is empty if the question begins at once.
func lead(s string) string {
	end := 0
	for i, r := range s {
		if r != ',' && r != '，' && r != '?' && r != '？' {
			continue
		}
		if r == '?' || r == '？' || !statesSomething(s[end:i]) {
			break
		}
		end = i
	}
	return strings.TrimSpace(s[:end])
}

// recognise finds the pattern that a sentence fits, nil if it states nothing.
func recognise(s string) *pattern {
	s = plain(s)
	if _, ok := asked(s); ok || fleeting.MatchString(s) || keepOut.MatchString(s) {
		return nil
	}
	// A standing wish may hold conditions ("from now on, if …"), but it asks nothing.
	if wish := patterns[0].re.MatchString(s) || wishZh.MatchString(s); wish && strings.ContainsAny(s, "?？") || !wish && !statesSomething(s) {
		return nil
	}
	p, _ := fits(spoken.ReplaceAllString(s, " "))
	return p
}

// speaks is a sentence about its speaker. What such a one denies is a fact too
// ("I no longer live in Lisbon"); of other things it is mostly about the moment
// ("my build isn't green").
var speaks = regexp.MustCompile(`(?i)^(?:i|we|i'm|i've)\s|^我`)

// fits finds the pattern of a sentence and the form that fits: the sentence,
// or what it denies.
func fits(s string) (p *pattern, form string) {
	s = plain(s)
	forms := []string{s}
	if speaks.MatchString(s) && wording.Denies(s) && (!wording.HasHan(s) || wording.Ended(s)) {
		forms = append(forms, headless(wording.Affirmed(s)))
	}
	for i, form := range forms {
		if i > 0 && fleeting.MatchString(form) {
			break
		}
		for i := range patterns {
			if patterns[i].re.MatchString(form) {
				return &patterns[i], form
			}
		}
	}
	if lasting(s) {
		return general, s
	}
	return nil, ""
}

// stated makes a candidate of a sentence of the user's event at index i.
func stated(m Material, i int, text, quote string) Candidate {
	e := m.Events[i]
	c := Candidate{
		Type: store.UserFact, Importance: ruleImportance, Confidence: ruleConfidence,
		By: store.ByUser, Turn: e.Turn, Time: e.Time, Quote: quote, Context: around(m.Events, i), Relation: New,
		Offset: max(strings.Index(e.Text, quote), 0), Corrects: corrects(e.Text, quote),
	}
	if p, form := fits(text); p != nil {
		c.Type = p.typ
		c.Subject = p.about(form)
	}
	c.Standing = c.Type == store.Preference && stands(text)
	c.Text = dated(text, "", e.Time)
	return c
}
