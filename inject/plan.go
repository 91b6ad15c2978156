package inject

import (
	"context"
	"errors"
	"time"

	"hindsight/store"
)

// The reasons that planning itself gives; the others come with the conversation.
const (
	reasonDeadline = "deadline"
	reasonStore    = "store"
	reasonRefused  = "upstream_refused"
)

// AtOnce is Plan where that needs nothing but what is in memory: no recall is
// wanted, there is nothing to recall, or it is too late for it. False otherwise.
func (e *Engine) AtOnce(c Conversation, late bool) (Plan, bool) {
	led, ok := e.ledger.loaded(c.Owner, c.Session, c.New)
	if !ok {
		return Plan{}, false
	}
	p := planOf(c)
	if e.settled(&p, c, led) {
		return p, true
	}
	scopes, _ := e.scopes(c.Owner)
	switch {
	case late:
		p.finish(Skipped, reasonDeadline)
		p.result = reasonDeadline
	case e.src.Empty(c.Owner.Tenant, scopes):
		p.finish(None, "")
		p.result = string(None)
	default:
		return Plan{}, false
	}
	e.record(&p, c, query{text: e.asked(c.Words)}, nil, nil)
	return p, true
}

func planOf(c Conversation) Plan { return Plan{owner: c.Owner, session: c.Session, body: c.BodyHash} }

// Plan says what to splice into a request. It takes at most the configured
// deadline, or less if ctx ends before.
func (e *Engine) Plan(ctx context.Context, c Conversation) Plan {
	if at, ok := ctx.Deadline(); !ok || time.Until(at) > e.cfg.Deadline {
		sooner, cancel := context.WithTimeout(ctx, e.cfg.Deadline)
		defer cancel()
		ctx = sooner
	}
	p := planOf(c)
	led, err := e.ledger.open(ctx, c.Owner, c.Session, c.New)
	if err != nil {
		e.log.Debug("ledger unread", "err", err)
		p.Status, p.Reason = Skipped, reasonOf(err)
		if c.Fresh >= 0 && c.Recall {
			p.result = p.Reason
		}
		return p
	}
	if !e.settled(&p, c, led) {
		e.recall(ctx, &p, c, led)
	}
	return p
}

// settled plans everything but recall, and says whether that was all.
func (e *Engine) settled(p *Plan, c Conversation, led *sessionLedger) bool {
	if led.isWithdrawn() {
		p.Status, p.Reason = Skipped, reasonRefused
		return true
	}
	e.replay(p, c, led)
	p.held = e.keptUpstream(c, led)
	switch {
	case c.Fresh < 0 || c.Fresh >= len(c.Places) || !c.Recall:
		p.finish(Skipped, c.Skip)
	case e.again(p, c):
		p.finish(None, "")
	case p.at(c.Places[c.Fresh].Message):
		p.finish(None, "")
	default:
		return false
	}
	return true
}

// replay adds the blocks that the session has for the request's messages.
func (e *Engine) replay(p *Plan, c Conversation, led *sessionLedger) {
	for i, place := range c.Places {
		entry, ok := led.block(place.Key, c.Now)
		ok = ok && !e.ledger.gone(entry.Refs)
		if i != c.Fresh && entry.Text != "" {
			p.follow(ok)
		}
		if !ok || p.at(place.Message) {
			continue
		}
		if f, ok := e.recent.get(c.Owner, c.BodyHash, c.Now); ok && i == c.Fresh && f.text == entry.Text {
			continue // a retry: it is as new as it was the first time
		}
		p.Blocks = append(p.Blocks, Block{Message: place.Message, Text: entry.Text, Refs: entry.Refs})
		touched := c.Now.Sub(entry.LastUsed) >= ledgerTouch
		_, known := led.block(place.Form, c.Now)
		if touched || !place.Form.IsZero() && !known {
			entry.LastUsed, entry.Checks = c.Now, nil // asked once
			p.keep(entry, place)
		}
	}
}

// keptUpstream are the blocks of the session that the upstream has in front of
// messages that it keeps.
func (e *Engine) keptUpstream(c Conversation, led *sessionLedger) []Block {
	var out []Block
	for _, key := range c.Held {
		if entry, ok := led.entry(key); ok && entry.Text != "" {
			out = append(out, Block{Message: -1, Text: entry.Text, Refs: entry.Refs})
		}
	}
	return out
}

// told are the blocks that the model sees already.
func (p *Plan) told() []Block { return append(p.held[:len(p.held):len(p.held)], p.Blocks...) }

// again gives a body that got a block within the last minute the same block.
func (e *Engine) again(p *Plan, c Conversation) bool {
	place := c.Places[c.Fresh]
	f, ok := e.recent.get(c.Owner, c.BodyHash, c.Now)
	if !ok || p.at(place.Message) || e.ledger.gone(f.refs) {
		return false
	}
	p.insert(c, place, f.text, f.refs, nil)
	return true
}

// insert adds a new block at a place, to be kept under the place's key. checks are
// the ids that it asks to check.
func (p *Plan) insert(c Conversation, place Place, text string, refs []store.Ref, checks []string) {
	b := Block{Message: place.Message, Text: text, Refs: refs, Fresh: true}
	i := len(p.Blocks)
	for i > 0 && p.Blocks[i-1].Message > b.Message {
		i--
	}
	p.Blocks = append(p.Blocks[:i], append([]Block{b}, p.Blocks[i:]...)...)
	p.New = refs
	p.keep(store.LedgerEntry{
		Owner: c.Owner, Session: c.Session, Key: place.Key, Text: text, Refs: refs, Checks: checks, Created: c.Now, LastUsed: c.Now,
	}, place)
}

// keep has a block kept for its place, under the name of its present form as well.
func (p *Plan) keep(entry store.LedgerEntry, place Place) {
	p.entries = append(p.entries, entry)
	if !place.Form.IsZero() {
		entry.Key, entry.Checks = place.Form, nil
		p.entries = append(p.entries, entry)
	}
}

// at says whether a block stands at a message already.
func (p *Plan) at(message int) bool {
	for _, b := range p.Blocks {
		if b.Message == message {
			return true
		}
	}
	return false
}

// said are the ids that blocks name, with the newest revision each.
func said(blocks []Block) map[string]int {
	out := make(map[string]int)
	for _, b := range blocks {
		for _, r := range b.Refs {
			out[r.ID] = max(out[r.ID], r.Revision)
		}
	}
	return out
}

// finish sets the status: what is new, else what is replayed, else empty.
func (p *Plan) finish(empty Status, reason string) {
	switch {
	case len(p.New) > 0:
		p.Status = Injected
	case len(p.Blocks) > 0:
		p.Status = Replayed
		if reason == reasonDeadline || reason == reasonStore {
			p.Reason = reason // recall was wanted and failed
		}
	default:
		p.Status, p.Reason = empty, reason
	}
}

func reasonOf(err error) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return reasonDeadline
	}
	return reasonStore
}

// Commit makes a plan real: its blocks are replayed from now on, the same body
// gets the same block for a minute, and what was considered goes to the
// journal. It never blocks on the store.
func (e *Engine) Commit(p Plan) {
	if p.session != "" {
		e.ledger.put(p.entries)
	}
	carried := 0
	for _, b := range p.Blocks {
		n := store.Tokens(b.Text)
		carried += n
		if b.Fresh {
			e.metrics.injected.Add(float64(n))
			e.recent.put(p.owner, p.body, fresh{text: b.Text, refs: b.Refs, session: p.session, at: p.committed()})
		}
	}
	if carried > 0 {
		e.metrics.carried.Observe(float64(carried))
	}
	e.metrics.count(&p)
	if p.why != nil {
		e.journal.SaveWhy(*p.why)
	}
}

// committed is when the plan's new block was made.
func (p *Plan) committed() time.Time { return p.entries[len(p.entries)-1].Created }

// Forget takes what was injected into an erased scope's conversations out of memory.
func (e *Engine) Forget(tenant string, sc store.Scope) {
	e.recent.forget(tenant, sc)
	e.ledger.forget(tenant, sc)
}

// Withdraw takes a session's blocks back because its upstream refused one. The
// session isn't injected again, after a restart neither.
func (e *Engine) Withdraw(o store.Owner, session string) {
	if session == "" {
		return
	}
	e.recent.drop(o, session)
	e.ledger.withdraw(o, session, time.Now())
}
