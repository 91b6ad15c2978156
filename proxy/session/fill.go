package session

import (
	"encoding/binary"
	"strconv"
	"unicode/utf8"

	"hindsight/inject"
	"hindsight/proxy/dialect"
	"hindsight/proxy/session/clients"
	"hindsight/store"
)

// contextTurns is how many words and answers before the fresh ones go into the
// query.
const contextTurns = 8

// echoes bounds the answers whose return one exchange reports.
const echoes = 16

// shortAnswer is the bound on an answer, in tokens, below which a request
// counts as structured.
const shortAnswer = 64

// fill reads what the request says in its session.
func (k *Tracker) fill(t *Turn, r *reading) {
	w := t.work
	w.length, w.system, w.tools = r.length, r.system, r.req.HasTools
	w.sent = sent(r.req.Body)
	// So short an answer is a label or a verdict: a preference can only get in
	// its way.
	t.structured = r.req.Structured || r.req.MaxTokens > 0 && r.req.MaxTokens < shortAnswer
	if len(r.humans) >= 2 && !kept(r.req) {
		w.chain = w.hasher.chain(r.humans)
	}
	k.recall(t, r)
	if k.cfg.LeaveKept && w.stored {
		t.Mode = t.Mode.silent()
	}
	k.compare(t)
	for i := len(r.models) - 1; i >= 0 && len(w.echoed) < echoes; i-- {
		if m := r.models[i]; !m.echo.IsZero() {
			w.echoed = append(w.echoed, m.echo)
		}
	}
	keys := k.places(t, r)
	index, spoken, why := clients.LastOf(r.req, r.spoken)
	switch {
	case w.grown != nil: // the turn goes on with what a tool or the model said
		t.Skip = "tool_turn"
	case !spoken:
		t.Skip = why
	default:
		for i, p := range t.Places {
			if p.Message == index {
				t.Fresh, t.Skip = i, ""
			}
		}
	}
	if t.Fresh >= 0 {
		t.texts(r, index)
	}
	from := r.last + 1
	if k.cfg.AdoptHistory && k.fresh(w.live) {
		from = 0
	}
	w.candidates(t, r, keys, from)
}

// places names the user messages in which somebody spoke and returns their
// keys by message, zero where there is none. The key is over the words, the answer before them and the
// session, not over the index: histories lose their beginning, their tool
// rounds and their decoration from one turn to the next. The answer before is
// the nearest assistant message, as text; an assistant message without text
// counts by its calls' names and ids. A client that drops the tool rounds of
// earlier turns keeps their last answer, which is the nearest one. The nth
// message with the same words behind the same answer has n in its key.
func (k *Tracker) places(t *Turn, r *reading) []store.Hash {
	w := t.work
	keys := make([]store.Hash, len(r.req.Messages))
	for _, u := range r.users {
		if u.words == "" {
			continue
		}
		w.words = u.hash
		before := raw(u.before)
		if u.before.IsZero() && r.req.Conversation != "" {
			before = t.Exchange // it is behind whatever the conversation holds by now
		}
		keys[u.index] = k.memo.hash(w.hasher, "place", t.Session, raw(u.hash), before, strconv.Itoa(u.nth))
	}
	k.mu.Lock()
	for _, u := range r.users {
		key := keys[u.index]
		if u.words == "" {
			continue
		}
		var form store.Hash
		if first, ok := w.live.alias[key]; ok {
			key, form = first, key
		}
		if w.grown != nil {
			note(&w.live.alias, key, w.grown.key)
			continue
		}
		keys[u.index], w.lastUser = key, key
		t.Places = append(t.Places, inject.Place{Key: key, Form: form, Message: u.index})
	}
	k.mu.Unlock()
	if index, _, ok := r.single(); ok && w.grown != nil { // whatever its words are now
		w.lastUser = w.grown.key
		t.Places = []inject.Place{{Key: w.grown.key, Form: keys[index], Message: index}}
	}
	return keys
}

// texts collects what recall looks at, for a message in which somebody spoke.
func (t *Turn) texts(r *reading, index int) {
	type said struct {
		index int
		text  string
	}
	var before []said
	models := r.models
	for _, u := range r.users {
		for len(models) > 0 && models[0].index < u.index {
			if models[0].text != "" {
				before = append(before, said{models[0].index, models[0].text})
			}
			models = models[1:]
		}
		if u.index == index {
			t.Words = u.words
			break
		}
		if u.words != "" {
			before = append(before, said{u.index, u.words})
		}
	}
	if !t.Mode.Injects() {
		return // nobody asks for the others
	}
	t.Context = append(t.Context, t.work.context...)
	for _, s := range before {
		t.Context = append(t.Context, s.text)
	}
	t.Context = t.Context[max(0, len(t.Context)-contextTurns):]
	t.Texts = append(make([]string, 0, len(t.work.context)+len(r.req.Messages)), t.work.context...)
	for _, m := range r.req.Messages {
		for _, p := range m.Parts {
			if p.Kind == dialect.TextPart || p.Kind == dialect.ToolResultPart {
				if text := p.Text(); text != "" {
					t.Texts = append(t.Texts, text)
				}
			}
		}
	}
}

// sent is the length of a body in tokens, as [store.Tokens] counts them. Much of
// most bodies is ASCII, which is passed over eight bytes at a time.
func sent(body []byte) int {
	const high = 0x8080808080808080
	cjk, wide := 0, 0
	for i := 0; i < len(body); {
		switch {
		case i+8 <= len(body) && binary.LittleEndian.Uint64(body[i:])&high == 0:
			i += 8
		case body[i] < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(body[i:])
			if store.CJK(r) {
				cjk, wide = cjk+1, wide+n
			}
			i += n
		}
	}
	return cjk + (len(body)-wide+3)/4
}
