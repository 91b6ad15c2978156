package extract

import (
	"regexp"
	"slices"
	"unicode/utf8"

	"hindsight/reflect/wording"
	"hindsight/store"
)

// Small models call everything 0.7 or 0.8 important, so that their number
// alone says little. What can be seen in the conversation is laid over it:
//
//	importance = 1 - (1 - m) * product of (1 - raise)
//
// with m the model's number (0.7 if it gave none) times each of the lowerings:
//
//	lowered by 0.55  an assumption, an example or fiction; what is only about now
//	           0.8   in a message that hands a text over, or a pasted long one
//	           0.55  an assistant's word alone: a solution that nobody says worked, an
//	                 event that no tool shows (mostly general knowledge)
//	raised by  0.5   the user corrected something with it
//	           0.5   a lesson or a solution after a failure that was then solved
//	           0.4   said in another session before: a memory says the same
//	           0.4   asked for once and for all
//
// What the user asked to remember has askedImportance at least, and is kept
// whatever the threshold. The weights are set by hand so that one thing seen
// carries a statement that the model gave 0.4 over the threshold of 0.6, and
// one doubt carries the usual 0.8 below it; an assistant's word alone doesn't
// reach it whatever the model gave.
const (
	unweighed      = 0.7
	lowerThought   = 0.55
	lowerHanded    = 0.8
	lowerUntried   = 0.55
	raiseCorrected = 0.5
	raiseSolved    = 0.5
	raiseRepeated  = 0.4
	raiseStanding  = 0.4
)

// worth is an item's importance. at is the event that holds its quote, cited
// are all that it names.
func (g *ground) worth(it item, c Candidate, at int, cited []int) float64 {
	e := g.m.Events[at]
	m := unweighed
	if it.Importance != nil {
		m = share(*it.Importance)
	}
	lesson := c.Type == store.Solution || c.Type == store.ErrorLesson
	if c.By == store.ByUser && !lesson {
		if thought(e.Text, it.Quote) || fleeting.MatchString(headless(it.Quote)) {
			m *= lowerThought
		}
		if handsOver.MatchString(e.Text) || utf8.RuneCountInString(e.Text) > longMessage {
			m *= lowerHanded
		}
	}
	solved := lesson && g.solved(cited)
	untried := c.Type == store.Solution && !solved && !g.confirmed(at)
	unseen := c.Type == store.EventType && !slices.ContainsFunc(cited, func(i int) bool { return g.m.Events[i].Role == Tool })
	if c.By == store.ByAssistant && (untried || unseen) {
		m *= lowerUntried
	}
	left := 1 - m
	for _, seen := range []struct {
		is    bool
		raise float64
	}{
		{c.Corrects, raiseCorrected},
		{solved, raiseSolved},
		{g.repeated(it), raiseRepeated},
		{c.Standing, raiseStanding},
	} {
		if seen.is {
			left *= 1 - seen.raise
		}
	}
	if c.Explicit {
		return max(1-left, askedImportance)
	}
	return 1 - left
}

// solved says whether the cited events hold a failure, and something later
// worked: a result of the same tool, or the user says so.
func (g *ground) solved(cited []int) bool {
	for _, i := range cited {
		bad := g.m.Events[i]
		if bad.Role != Tool || !Failed(bad) {
			continue
		}
		for j, e := range g.m.Events[i+1:] {
			if e.Role == Tool && e.Name == bad.Name && !Failed(e) && slices.Contains(cited, i+1+j) {
				return true
			}
		}
		if g.confirmed(i) {
			return true
		}
	}
	return false
}

// worked is a user's word that something helped.
var worked = regexp.MustCompile(`(?i)\b(?:(?:that|it|this|which) (?:worked|works|helped|helps|did it|did the trick|fixed it|solved it)|works (?:now|again|fine|perfectly)|working now|problem solved|solved it|fixed it|(?:the )?(?:fix|solution) was)\b|(?:好了|解决了|搞定了?|可以了|能用了|没问题了|正常了|成功了|管用|有效)`)

// confirmed says whether the user says after an event that it worked.
func (g *ground) confirmed(at int) bool {
	return slices.ContainsFunc(g.m.Events[at+1:], func(e Event) bool {
		return e.Role == User && !e.Untrusted && worked.MatchString(e.Text) && !wording.Negated(worked.FindString(e.Text))
	})
}

// repeated says whether a memory of another session says the same.
func (g *ground) repeated(it item) bool {
	return slices.ContainsFunc(g.m.Existing, func(n Note) bool {
		return slices.ContainsFunc([]string{it.Text, it.Quote}, func(s string) bool {
			return wording.SameClaims(n.Text, s) && wording.Near(n.Text, s) >= 0.7
		})
	})
}
