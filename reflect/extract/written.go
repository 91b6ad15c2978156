package extract

import (
	"strings"
	"time"

	"hindsight/store"
)

// Written makes a candidate of a statement that somebody writes to be kept, at a
// moment in the user's zone. [Refused] must have let it pass. Nothing else is
// asked of it: whoever writes has judged that it is worth keeping. It counts as
// the user's word, on whose behalf it is written, but it is never standing: a model
// writes it, and what is told in every conversation the users ask for themselves.
func Written(l store.Lesson, now time.Time) Candidate {
	text := strings.TrimSpace(l.Text)
	c := Candidate{
		Type: l.Type, Text: dated(text, "", now), Subject: strings.TrimSpace(l.Subject),
		Importance: l.Importance, Confidence: l.Confidence, Explicit: true,
		By: store.ByUser, Time: now, Quote: text, Relation: New,
	}
	if p, form := fits(text); p != nil && c.Subject == "" && p.typ == l.Type {
		c.Subject = p.about(form)
	}
	return c
}

// Refused says why a text may not be kept, whoever wants it to be: it holds a
// [Secret], characters that nobody sees ([Hidden]), or an order to the model
// ([Instruction]). Empty: it may.
func Refused(text string) string {
	if strings.ContainsFunc(text, hidden) {
		return Hidden
	}
	return refused(text)
}
