package session

import (
	"strings"

	"hindsight/proxy/dialect"
	"hindsight/proxy/session/clients"
	"hindsight/store"
)

// reading is a request's history as hashes, in canonical form: what clients
// change from one turn to the next (cache_control, the shape of content,
// reminders, reasoning, item ids, argument bytes, white space at the ends) is
// not in it.
type reading struct {
	req    *dialect.Request
	spoken []clients.Spoken // by the user messages
	users  []userSaid
	models []modelSaid
	system store.Hash   // of the leading system text
	last   int          // index of the last assistant message that something follows, -1 if none
	length int          // messages, system and developer ones apart
	humans []store.Hash // of the human words, oldest first
}

// userSaid is one user message.
type userSaid struct {
	index        int
	words, third string
	hash         store.Hash // of the words; zero where nobody spoke
	before       store.Hash // of the answer before it
	nth          int        // which message with these words and that answer it is, from 0
}

// modelSaid is one assistant message.
type modelSaid struct {
	index  int
	length int        // of the history up to here
	text   string     // canonical
	hash   store.Hash // of the text, or of the calls where there is none
	words  store.Hash // of the human's words before it
	echo   store.Hash // the hash under which its exchange has the answer
	ids    []string   // of tool calls and items
	calls  []dialect.Call
}

func (k *Tracker) read(h *hasher, req *dialect.Request, app string) *reading {
	r := &reading{req: req, last: -1}
	var system strings.Builder
	spoken := k.rules.HumanMessages(req, app)
	r.spoken = spoken
	leading := true
	var words, said store.Hash
	if req.PreviousResponseID != "" {
		said = h.hash("said", "response", req.PreviousResponseID)
	}
	trailing := len(req.Messages) // where a prefill at the end begins
	for trailing > 0 && req.Messages[trailing-1].Role == dialect.Assistant {
		trailing--
	}
	type place struct{ words, before store.Hash }
	var nth map[place]int
	turns := len(spoken)
	r.users, r.models, r.humans = make([]userSaid, 0, turns), make([]modelSaid, 0, turns), make([]store.Hash, 0, turns)
	for i, m := range req.Messages {
		if m.Role == dialect.System || m.Role == dialect.Developer {
			if leading {
				addSystem(&system, m)
			}
			continue
		}
		leading = false
		r.length++
		switch m.Role {
		case dialect.User:
			u := userSaid{index: i, before: said}
			for len(spoken) > 0 && spoken[0].Index < i {
				spoken = spoken[1:]
			}
			if len(spoken) > 0 && spoken[0].Index == i {
				u.words, u.third = strings.TrimSpace(spoken[0].Words), spoken[0].ThirdParty
			}
			if u.words != "" {
				u.hash = k.memo.hash(h, "words", u.words)
				p := place{u.hash, said}
				if turns > 1 {
					if nth == nil {
						nth = make(map[place]int, turns)
					}
					u.nth = nth[p]
					nth[p]++
				}
				words = u.hash
				r.humans = append(r.humans, u.hash)
			}
			r.users = append(r.users, u)
		case dialect.Assistant, dialect.Unknown:
			text := m.Text()
			if m.Role == dialect.Unknown && (m.ID == "" || text != "") {
				continue // only a reference to an item is an answer without a role
			}
			s := modelSaid{index: i, length: r.length, words: words, calls: m.Calls}
			s.text, s.hash = k.memo.said(h, text, m.Calls, m.ID)
			s.ids = idsOf(m.Calls, m.ID, s.text)
			if thought := m.Role == dialect.Assistant && text == "" && len(m.Calls) == 0; thought {
				// An item of the model's that says nothing: reasoning, which clients
				// send back or leave out. It is an anchor by its id, and no part of
				// the history.
				r.length--
				s.length, s.hash = r.length, store.Hash{}
			}
			if s.hash.IsZero() && len(s.ids) == 0 {
				continue // an item without a word or a name
			}
			if !s.hash.IsZero() {
				said = s.hash
			}
			s.echo = s.hash
			r.models = append(r.models, s)
			if i < trailing {
				r.last = i
			}
		}
	}
	if r.system = h.noSystem; system.Len() > 0 {
		r.system = h.hash("system", system.String())
	}
	return r
}

// opens says whether nothing in the history was said by a model.
func (r *reading) opens() bool { return r.last < 0 && !kept(r.req) }

// addSystem adds a system message's text, but for the line in which one client
// puts a number that changes with each sub-agent.
func addSystem(b *strings.Builder, m dialect.Message) {
	for _, p := range m.Parts {
		if t := p.Text(); p.Kind == dialect.TextPart && !strings.HasPrefix(t, billLine) {
			b.WriteString(t)
			b.WriteByte('\n')
		}
	}
}

// said is an answer in canonical form and its hash: the text, else the names
// and ids of its tool calls, else the item's own id (a provider that keeps the
// text sends only that); zero for an item that says nothing.
func (h *hasher) said(text string, calls []dialect.Call, id string) (string, store.Hash) {
	return (*memo)(nil).said(h, text, calls, id)
}

// said is [hasher.said] for a text that may have been hashed before.
func (c *memo) said(h *hasher, text string, calls []dialect.Call, id string) (string, store.Hash) {
	text = canonicalAnswer(text)
	switch {
	case text != "":
		return text, c.hash(h, "said", text)
	case len(calls) > 0:
		parts := []string{"calls"}
		for _, c := range calls {
			parts = append(parts, c.Name, c.ID)
		}
		return "", h.hash("said", parts...)
	case id != "":
		return "", h.hash("said", "item", id)
	}
	return "", store.Hash{}
}

// canonicalAnswer drops what clients drop from an answer or add to it: the
// thoughts that some models write into their text, a closing tag that a stop
// sequence had cut, white space at the ends.
func canonicalAnswer(s string) string {
	s = strings.TrimSpace(s)
	if rest, ok := strings.CutPrefix(s, "<think>"); ok {
		if _, after, ok := strings.Cut(rest, "</think>"); ok {
			s = strings.TrimSpace(after)
		}
	}
	return strings.TrimSpace(strings.TrimSuffix(s, "</code>"))
}

// idsOf lists the provider's ids in an assistant message. One client writes
// its calls into the text, as a Python list.
func idsOf(calls []dialect.Call, item, text string) []string {
	var ids []string
	for _, c := range calls {
		if c.ID != "" {
			ids = append(ids, c.ID)
		}
	}
	if item != "" {
		ids = append(ids, item)
	}
	if rest, ok := strings.CutPrefix(text, "Calling tools:"); ok {
		const mark = "'id': '"
		for {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			id, after, ok := strings.Cut(after, "'")
			if !ok {
				break
			}
			ids, rest = append(ids, id), after
		}
	}
	return ids
}
