package session

import (
	"strings"

	"hindsight/proxy/dialect"
	"hindsight/store"
)

// Some conversations are kept by the provider: a request names the last answer
// or the conversation and brings what is new alone, or names answers by their
// ids instead of repeating them. What such a request doesn't say is taken from
// the answers that were recorded, which hang together as its client has chained
// them.

// answered is one answer that later requests can name. Tracker.mu guards it.
type answered struct {
	before    *answered    // the answer that its request went on from
	places    []store.Hash // of its request
	continued bool         // a request has gone on from here
	hash      store.Hash
	calls     []dialect.Call // names and ids alone

	// words and text are the turn itself, cut to what a query reads of it. Only
	// the last few of a session have them.
	words, text string
}

const (
	textsKept = 8   // answers of a session that are held with their texts
	textRunes = 300 // of a text are
)

// kept says whether the provider holds what came before a request.
func kept(req *dialect.Request) bool {
	return req.PreviousResponseID != "" || req.Conversation != ""
}

// answerKey is the key of an answer, or of an item of one, in its session.
func (h *hasher) answerKey(id string) store.Hash { return h.hash("answer", id) }

// goesOn finds the answer that a request goes on from. The caller holds mu.
func (w *work) goesOn(req *dialect.Request) *answered {
	a := w.live.newest
	if req.PreviousResponseID != "" {
		a = w.live.answers[w.answerKey(req.PreviousResponseID)]
	}
	if a != nil {
		a.continued = true
	}
	return a
}

// recall fills in what the provider holds: the places with their blocks, and
// the words and answers before.
func (k *Tracker) recall(t *Turn, r *reading) {
	w := t.work
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, m := range r.models { // named by their ids
		id := r.req.Messages[m.index].ID
		if m.text != "" || len(m.calls) > 0 || id == "" {
			continue
		}
		if a := w.live.answers[w.answerKey(id)]; a != nil {
			r.models[i].text, r.models[i].echo = a.text, a.hash
		}
	}
	w.stored = r.req.Store || kept(r.req)
	if !kept(r.req) {
		return
	}
	if r.req.Conversation != "" {
		// The same words again are a turn of their own.
		t.BodyHash = w.hash("body in a conversation", raw(t.BodyHash), t.Exchange)
	}
	w.after = w.goesOn(r.req)
	if w.after == nil {
		// Not since this process has started: of all that the session has, the
		// provider holds what its answers were given to.
		for key, p := range w.live.places {
			if p.exchange != t.Exchange {
				t.held = append(t.held, key)
			}
		}
		return
	}
	if !w.after.hash.IsZero() {
		w.echoed = append(w.echoed, w.after.hash)
	}
	var said []string // the newest first
	for a := w.after; a != nil; a = a.before {
		t.held = append(t.held, a.places...)
		for _, s := range []string{a.text, a.words} {
			if s != "" && len(said) < contextTurns {
				said = append(said, s)
			}
		}
	}
	for i := len(said) - 1; i >= 0; i-- {
		w.context = append(w.context, said[i])
	}
}

// keepAnswer makes an answer known that later requests can name. The caller
// holds mu.
func (w *work) keepAnswer(t *Turn, a dialect.Answer, hash store.Hash) {
	if w.dialect != dialectResponses || a.ID == "" || !w.stored {
		return
	}
	l := w.live
	n := &answered{before: w.after, hash: hash}
	if t.Mode.Records() {
		n.words, n.text = shortened(t.Words), shortened(a.Text)
	}
	if w.after == nil {
		n.places = t.held
	}
	for _, p := range t.Places {
		n.places = append(n.places, p.Key)
	}
	for _, c := range a.Calls {
		n.calls = append(n.calls, dialect.Call{ID: strings.Clone(c.ID), Name: strings.Clone(c.Name)})
	}
	for _, id := range append([]string{a.ID}, a.ItemIDs...) {
		note(&l.answers, w.answerKey(id), n)
	}
	l.newest = n
	if l.texts = append(l.texts, n); len(l.texts) > textsKept {
		old := l.texts[0]
		old.words, old.text = "", ""
		if !old.continued { // nor is it likely to be: its client sends the whole history
			old.places = nil
		}
		l.texts = append(l.texts[:0:0], l.texts[1:]...)
	}
}

// shortened is the end of a text, a copy.
func shortened(s string) string {
	n := 0
	for i := len(s); i > 0; {
		i--
		for i > 0 && s[i]&0xc0 == 0x80 {
			i--
		}
		if n++; n == textRunes {
			return strings.Clone(s[i:])
		}
	}
	return strings.Clone(s)
}
