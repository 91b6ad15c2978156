package extract

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// ground judges a model's items against the material.
type ground struct {
	m     Material
	asked []Candidate // what the user asked to remember
}

func newGround(m Material) *ground { return &ground{m: m, asked: explicit(m).Candidates} }

// judge turns an item into a candidate, or says with which word it is dropped.
// Who said it is read from the event that holds the quote, never taken from
// the model.
func (g *ground) judge(it item) verdict {
	no := func(reason string) verdict { return verdict{dropped: reason, item: it} }
	if reason := screened(it); reason != "" {
		return no(reason)
	}
	cited, evidence := g.cited(it.Events, "")
	if fromExample(it.Text, evidence) {
		return no(Example)
	}
	if len(cited) == 0 {
		return no(NoEvidence)
	}
	at := quoted(g.m.Events, cited, it.Quote)
	if at < 0 {
		return no(NoQuote)
	}
	e := g.m.Events[at]
	typ, by := store.Type(it.Type), speaker(e)
	if by == store.ByUser && anothers(e.Text, it.Quote) {
		by = store.ByTool // whoever wrote it, it wasn't the user
	}
	if smuggled(e.Text, it.Quote) {
		return no(Hidden)
	}
	order := isOrder(it.Text, by) || isOrder(it.Quote, by)
	if by == store.ByUser { // who quotes an order gives none
		order = isOrder(unquoted(it.Text), by) || isOrder(unquoted(it.Quote), by)
	}
	if typ == store.UserFact || typ == store.Preference {
		if by != store.ByUser {
			if order {
				return no(Instruction)
			}
			return no(NotTheUsers)
		}
		_, evidence = g.cited(it.Events, User) // nobody else's word counts
	}
	switch reason := claims(it, by, evidence, e.Time); {
	case reason != "" && order:
		return no(Instruction)
	case reason != "":
		return no(reason)
	}
	if (typ == store.UserFact || typ == store.EventType) && ofTheTalk.MatchString(strings.TrimSpace(it.Text)) {
		return no(Noise)
	}
	v := verdict{item: it}
	c := Candidate{
		Type: typ, Text: strings.TrimSpace(it.Text), Subject: strings.TrimSpace(it.Subject), Scenario: strings.TrimSpace(it.Scenario),
		Confidence: share(it.Confidence),
		By:         by, Turn: e.Turn, Time: e.Time, Quote: it.Quote, Context: around(g.m.Events, at),
		Relation: it.Relation, RelationID: it.RelationID,
		Offset: max(strings.Index(e.Text, it.Quote), 0), Corrects: by == store.ByUser && corrects(e.Text, it.Quote),
	}
	switch {
	case by == store.ByUser && (wording.LostDenial(it.Quote, it.Text, evidence) || wording.Swapped(it.Quote, it.Text)):
		// Refused; the user's own sentence says it right.
		c.Text, v.dropped = ownSentence(it.Quote, e), NewNegation
		c.Thin = true
	case wording.Opposed(it.Text, evidence) || wording.Reversed(it.Text, evidence):
		return no(Turned)
	case lost(it.Text, it.Quote):
		c.Text, v.doubt = beside(c.Text, it.Quote), Lost
		c.Thin = true
	}
	c.Standing = it.Standing && by == store.ByUser && stands(mine(e.Text))
	c.Explicit = by == store.ByUser && slices.ContainsFunc(g.asked, func(a Candidate) bool { return overlap(a.Quote, it.Quote) })
	c.Importance = g.worth(it, c, at, cited)
	if !c.Explicit && c.Importance < MinImportance {
		return no(Unimportant)
	}
	switch {
	case order:
		v.dropped, v.held = Instruction, true
	case !g.proven(c, at, cited):
		v.dropped, v.held = Unproven, true
	}
	if wording.Contains(evidence, it.ValidUntil) {
		c.Until = until(it.ValidUntil, e.Time)
	}
	expression := it.TimeExpression
	if !wording.Contains(evidence, expression) {
		expression = ""
	}
	c.Text = dated(c.Text, expression, e.Time)
	v.candidate = &c
	return v
}

// ofTheTalk is a statement about the conversation itself: that somebody asked,
// greeted or tried whether it works is no fact about anybody. Small models write
// it down of every question.
var ofTheTalk = regexp.MustCompile(`(?i)^(?:the )?users?(?: (?:has|had|is|was|just|also))* (?:ask(?:s|ed|ing)? (?:about|for|whether|if|what|how|why|when|where|which|who)|inquir(?:es|ed|ing)|want(?:s|ed)? to know|curious|wonder(?:s|ed|ing)?|test(?:s|ed|ing) (?:whether|if)|greet(?:s|ed|ing)|thank(?:s|ed|ing))\b` +
	`|^用户(?:刚才|刚刚|正在|在)?(?:询问|提问|问(?:了|过|及|道|起)|想知道|想了解|好奇|打招呼|问候|感谢|测试(?:一下)?(?:是否|能否))`)

// screened is what an item is refused for whatever it rests on.
func screened(it item) string {
	said := it.Text + "\n" + it.Quote
	switch {
	case HoldsSecret(said), HoldsSecret(it.Subject + "\n" + it.Scenario):
		return Secret
	case strings.ContainsFunc(said+it.Subject+it.Scenario, hidden):
		return Hidden
	case isOrder(it.Subject, store.ByTool), isOrder(it.Scenario, store.ByTool): // they are shown to a model too
		return Instruction
	case len([]rune(it.Text)) > maxText:
		return BadItem
	}
	return ""
}

// claims holds a text against its evidence.
func claims(it item, by store.Speaker, evidence string, now time.Time) string {
	switch {
	case len(wording.MissingNumbers(it.Text, evidence)) > 0:
		return NewNumber
	case len(wording.Strangers(it.Text, evidence)) > 0:
		return NewName
	case len(wording.MissingDates(it.Text, evidence)) > 0 || otherDay(it.Text, evidence, now):
		return NewDate
	case by != store.ByTool && wording.AddedDenial(it.Text, evidence):
		return NewNegation
	case wording.Shared(it.Text, evidence) < 0.5:
		return Ungrounded
	}
	if by == store.ByTool { // a tool speaks its own language
		return ""
	}
	// People change languages in one conversation: the quote's counts.
	if wording.Han(it.Quote) && !wording.HasHan(it.Text) || !wording.HasHan(evidence) && wording.HasHan(it.Text) {
		return OtherLanguage
	}
	return ""
}

// cited finds the events that an item names, as indexes, and joins their
// texts; with a role, only the texts of that role.
func (g *ground) cited(ids []string, role Role) (at []int, text string) {
	var b strings.Builder
	for i, e := range g.m.Events {
		if !slices.Contains(ids, e.ID) {
			continue
		}
		at = append(at, i)
		if role == "" || e.Role == role {
			b.WriteString(e.Name + "\n" + visible(e.Text) + "\n")
		}
	}
	return at, b.String()
}

// turns are those of the events that an item cites.
func (g *ground) turns(it item) []int {
	at, _ := g.cited(it.Events, "")
	var out []int
	for _, i := range at {
		out = append(out, g.m.Events[i].Turn)
	}
	return out
}

// quoted is the index of the cited event that holds the quote, the user's
// first, or -1.
func quoted(events []Event, cited []int, quote string) int {
	if wording.Weight(quote) < minQuote {
		return -1
	}
	found := -1
	for _, i := range cited {
		if !wording.Contains(visible(events[i].Text), quote) {
			continue
		}
		if events[i].Role == User {
			return i
		}
		if found < 0 {
			found = i
		}
	}
	return found
}

func speaker(e Event) store.Speaker {
	switch {
	case e.Untrusted:
		return store.ByTool
	case e.Role == User:
		return store.ByUser
	case e.Role == Assistant:
		return store.ByAssistant
	default:
		return store.ByTool
	}
}

// ownSentence is the user's own sentence that holds a quote.
func ownSentence(quote string, e Event) string {
	for _, s := range sentences(e.Text) {
		if wording.Contains(s, quote) && !HoldsSecret(s) {
			return s
		}
	}
	return strings.TrimSpace(quote)
}

// lost says whether a text lost a number, a name or the denial of its quote.
func lost(text, quote string) bool {
	return len(wording.MissingNumbers(quote, text)) > 0 || len(wording.MissingNames(quote, text)) > 0 ||
		wording.Negated(wording.Uncontrasted(quote)) && !wording.Negated(text)
}

// beside keeps the quote beside a text that lost a number, a name or the
// negation of it: the gist alone would say something else.
func beside(text, quote string) string {
	if wording.HasHan(text) {
		return text + "（原话：" + quote + "）"
	}
	return text + ` ("` + quote + `")`
}

func overlap(a, b string) bool { return wording.Contains(a, b) || wording.Contains(b, a) }

// share brings a model's number between 0 and 1.
func share(f float64) float64 { return min(max(f, 0), 1) }

// around is an event's text with what somebody said before and after it: tool
// rounds in between are passed over, so that what a tool taught is found by the
// words that asked for it.
func around(events []Event, at int) string {
	parts := []string{shorten(Redact(events[at].Text), 240)}
	// Turns that lie far apart are of two conversations that share a call.
	said := func(i int) bool {
		return (events[i].Role == User || events[i].Role == Assistant) && max(events[i].Turn-events[at].Turn, events[at].Turn-events[i].Turn) < Apart
	}
	for i := at - 1; i >= 0; i-- {
		if said(i) {
			parts = append([]string{shorten(Redact(events[i].Text), 240)}, parts...)
			break
		}
	}
	for i := at + 1; i < len(events); i++ {
		if said(i) {
			parts = append(parts, shorten(Redact(events[i].Text), 240))
			break
		}
	}
	return strings.Join(parts, "\n")
}

// shorten cuts the middle out of a text of more than n runes.
func shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n*2/3]) + " […] " + string(r[len(r)-n/3:])
}

// merge adds what the user asked to remember to what the model found. Where
// the model has it already, with everything that it claims, its wording is
// kept and takes the request's weight.
func merge(found, asked []Candidate) []Candidate {
	for _, a := range asked {
		had := false
		for i := range found {
			c := &found[i]
			if overlap(c.Quote, a.Quote) && wording.Keeps(c.Text, a.Text) {
				c.Explicit, had = true, true
				c.Importance = max(c.Importance, a.Importance)
				c.Confidence = max(c.Confidence, a.Confidence)
				c.Standing = c.Standing || a.Standing
			}
		}
		if !had {
			found = append(found, a)
		}
	}
	return found
}
