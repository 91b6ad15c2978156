package session

import (
	"strconv"
	"strings"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/store"
)

// candidate is a message that may be new to the session. Whether it is, is
// decided when the upstream accepts the request: until then another request
// may bring it, too.
type candidate struct {
	key   store.Hash
	human bool
	event store.Event
}

// fresh says whether nothing of a session has been seen yet.
func (k *Tracker) fresh(l *live) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return l != nil && l.turns == 0 && len(l.places) == 0 && !l.answered
}

// candidates lists the messages from an index on, usually those behind the last
// answer: what came before it was either seen by us or never passed through, and
// is no material unless it is adopted.
func (w *work) candidates(t *Turn, r *reading, keys []store.Hash, from int) {
	if w.grown != nil {
		w.growing(t, r)
		return
	}
	var tools map[string]string // name by call id
	if w.after != nil {
		for _, c := range w.after.calls {
			note(&tools, c.ID, c.Name)
		}
	}
	for _, m := range r.models {
		for _, c := range m.calls {
			note(&tools, c.ID, c.Name)
		}
	}
	users := r.users
	known := w.heard
	for i := from; i < len(r.req.Messages); i++ {
		m := r.req.Messages[i]
		switch m.Role {
		case dialect.Assistant:
			if i <= r.last {
				w.adopted(t, i, m)
			}
		case dialect.Tool:
			name := tools[m.CallID]
			if name == "" {
				name = m.Name
			}
			w.result(t, m.CallID, name, m.Text(), false)
		case dialect.User:
			for _, p := range m.Parts {
				if p.Kind == dialect.ToolResultPart {
					w.result(t, p.CallID, tools[p.CallID], p.Text(), p.Failed)
				}
			}
			for len(users) > 1 && users[0].index < i {
				users = users[1:]
			}
			u := users[0] // every user message is in there
			switch {
			case u.words != "" && known > 0:
				known-- // it has lost the answer before it, and with that its key
			case u.words != "":
				w.human(t, keys[i], m.Name, u)
			case u.third != "" && !r.opens():
				// Some agents bring a tool's output, and notifications, as user
				// messages. In front of the first answer such a text is
				// boilerplate: boot files, examples.
				w.result(t, "", "", u.third, strings.HasPrefix(u.third, "Error:"))
			}
		}
	}
}

// adopted adds what a model said before we were there.
func (w *work) adopted(t *Turn, i int, m dialect.Message) {
	add := func(e store.Event, which string) {
		e.Time = t.Received
		w.fresh = append(w.fresh, candidate{key: w.hash("adopted", t.Session, strconv.Itoa(i), which), event: e})
	}
	if text := m.Text(); text != "" {
		add(store.Event{Kind: store.FinalOutput, Text: keep(text)}, "text")
	}
	for n, c := range m.Calls {
		add(store.Event{Kind: store.ToolCall, Name: strings.Clone(c.Name), CallID: strings.Clone(c.ID), Text: keep(c.Arguments)}, strconv.Itoa(n))
	}
}

// human adds a person's words. What the "user" of a sub-agent says was written
// by an agent: tool material.
func (w *work) human(t *Turn, key store.Hash, name string, u userSaid) {
	c := candidate{key: key, human: true, event: store.Event{
		Kind: store.UserInput, Time: t.Received, Name: strings.Clone(name),
		Text: keep(u.words), ThirdParty: keep(u.third),
	}}
	if t.Child {
		c.event.Kind = store.ToolResult
	}
	w.fresh = append(w.fresh, c)
}

// result adds a tool's output, keyed by the call that it answers.
func (w *work) result(t *Turn, call, name, text string, failed bool) {
	key := w.hash("result", t.Session, call)
	if call == "" {
		key = w.hash("result text", t.Session, raw(w.words), text)
	}
	w.fresh = append(w.fresh, candidate{key: key, event: store.Event{
		Kind: store.ToolResult, Time: t.Received, CallID: strings.Clone(call), Name: strings.Clone(name),
		Text: keep(text), Failed: failed,
	}})
}

// growing adds what a growing message has more than its last form.
func (w *work) growing(t *Turn, r *reading) {
	if _, text, ok := r.single(); ok && len(text) > w.grown.length {
		w.result(t, "", "", strings.TrimSpace(text[w.grown.length:]), false)
	}
}

// keep copies a text out of the request's body, so that the journal doesn't
// hold the whole body for it, without blocks of ours.
func keep(s string) string { return strings.Clone(inject.Strip(s)) }
