package session

import (
	"strings"
	"time"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/store"
)

// Finish takes the answer. Everything that the client's next request may refer
// to is in memory when it returns. The record replaces that of Begin, and may
// come a second time under the same id when the client has repeated a request
// that came to nothing; nil means that nothing is to be recorded. Call it
// exactly once for every Turn, whatever became of the request.
func (k *Tracker) Finish(t *Turn, a dialect.Answer, end End) *store.Exchange {
	w := t.work
	if end.At.IsZero() {
		end.At = k.cfg.Now()
	}
	success := end.HTTP >= 200 && end.HTTP < 300
	if success && !w.begun {
		k.Begin(t, inject.Plan{})
	}
	var anchors []store.Anchor
	var answer store.Hash
	if w.live != nil && success {
		text, hash := w.said(a.Text, a.Calls, "")
		answer = hash
		if text == "" {
			hash = store.Hash{}
		}
		anchors = w.anchors(t, a, hash, end.At)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if w.finished {
		return nil
	}
	w.finished, w.finishedAt = true, k.cfg.Now()
	if w.done != nil {
		defer close(w.done)
	}
	l := w.live
	if l == nil {
		return nil
	}
	l.flying--
	mine := w.attempt.over(w.try, success && end.Status == store.Complete, end.At)
	if !success || w.void {
		return nil
	}
	if w.chained() {
		anchors = append(anchors, store.Anchor{Key: w.chain, Session: l.id, Length: w.length, Time: end.At})
	}
	k.register(anchors)
	w.keepAnswer(t, a, answer)
	l.seen = end.At
	l.answered = true
	if c, ok := k.creds[w.shown.hash]; ok {
		c.last = end.At
		k.creds[w.shown.hash] = c
	}
	if !w.growth.IsZero() && !w.lastUser.IsZero() {
		k.growths.put(w.growth, w.grows(l, end.At))
	}
	if !mine || !t.Mode.Records() {
		return nil
	}
	x := w.record
	x.Status, x.HTTP, x.Finished = end.Status, end.HTTP, end.At
	x.Usage = store.Usage{Input: a.Usage.Input, Output: a.Usage.Output, Cached: a.Usage.Cached}
	if a.Model != "" {
		x.Model = strings.Clone(a.Model)
	}
	x.Answer = answer
	x.Events = append(x.Events[:len(x.Events):len(x.Events)], answerEvents(a, x.Turn, end.At)...)
	x.Tokens = tokens(x.Events)
	x.SessionInfo.End, x.SessionInfo.New = w.end, l.drawn
	l.drawn, x.Again = false, w.attempt.tries > 1
	x.Anchors = anchors
	return &x
}

// anchors are the records by which the answer will be found; said is the hash
// of its text.
func (w *work) anchors(t *Turn, a dialect.Answer, said store.Hash, at time.Time) []store.Anchor {
	if w.dialect != dialectResponses {
		a.ID = "" // comes back in no other dialect
	}
	out := anchorsOf(w.answerMarks(a, w.words, said), t.Session, w.length+1, at)
	if !w.verdict.IsZero() {
		out = append(out, store.Anchor{Key: w.verdict, Session: t.Session, Time: at})
	}
	return out
}

// dialectResponses is the one whose answers are named by later requests.
const dialectResponses = "responses"

// chained says whether the human words so far may find the session again when
// compaction has taken every answer: only if they were said one after the
// other. Two user messages that open a conversation are a template.
func (w *work) chained() bool { return !w.chain.IsZero() && w.attempt.continues }

// grows is the message as its next form will look for it.
func (w *work) grows(l *live, at time.Time) growth {
	return growth{session: l.id, key: w.lastUser, text: w.text, length: w.textLen, at: at}
}

// answerEvents are the steps of an answer.
func answerEvents(a dialect.Answer, turn int, at time.Time) []store.Event {
	var out []store.Event
	add := func(e store.Event) {
		e.Turn, e.Time = turn, at
		out = append(out, e)
	}
	if a.Reasoning != "" {
		add(store.Event{Kind: store.ModelReasoning, Text: keep(a.Reasoning)})
	}
	if a.Text != "" {
		add(store.Event{Kind: store.FinalOutput, Text: keep(a.Text)})
	}
	for _, c := range a.Calls {
		add(store.Event{Kind: store.ToolCall, Name: strings.Clone(c.Name), CallID: strings.Clone(c.ID), Text: keep(c.Arguments)})
	}
	return out
}

func tokens(events []store.Event) int {
	n := 0
	for _, e := range events {
		n += store.Tokens(e.Text) + store.Tokens(e.ThirdParty)
	}
	return n
}
