package extract

import (
	"strings"
	"time"

	"hindsight/store"
)

// Written makes a candidate of a statement that somebody writes to be kept, at a
// moment in the user's zone. A reason in place of it says why it may not be:
// [Secret], [Hidden] or [Instruction]. Nothing else is asked of it: whoever
// writes has judged that it is worth keeping. It counts as the user's word, on
// whose behalf it is written.
func Written(l store.Lesson, now time.Time) (Candidate, string) {
	text := strings.TrimSpace(l.Text)
	if reason := Refused(text); reason != "" {
		return Candidate{}, reason
	}
	c := Candidate{
		Type: l.Type, Text: dated(text, "", now), Subject: strings.TrimSpace(l.Subject),
		Importance: l.Importance, Confidence: l.Confidence, Explicit: true,
		By: store.ByUser, Time: now, Quote: text, Relation: New,
	}
	if p, form := fits(text); p != nil && c.Subject == "" && p.typ == l.Type {
		c.Subject = strings.TrimSpace(shorten(string(p.re.ExpandString(nil, p.subject, form, p.re.FindStringSubmatchIndex(form))), 60))
	}
	c.Standing = c.Type == store.Preference && stands(text)
	return c, ""
}

// Refused says why a text may not be kept, whoever wants it to be: it holds a
// secret, characters that nobody sees, or an order to the model. Empty: it may.
func Refused(text string) string {
	if strings.ContainsFunc(text, hidden) {
		return Hidden
	}
	return refused(text)
}
