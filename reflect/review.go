package hreflect

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"hindsight/reflect/extract"
	"hindsight/reflect/wording"
	"hindsight/store"
)

// Bounds of what a model is shown besides the events.
const (
	maxNeighbours = 12
	answerTokens  = 500 // of a usual answer
	maxInjected   = 30
	maxBefore     = 4   // events in front of a part
	maxLead       = 600 // runes of each
	nearEnough    = 0.3 // share of a memory's words that the events hold
)

// review is what one job looks at.
type review struct {
	session      store.Session
	events       []extract.Event
	dropped      []store.Dropped
	existing     []store.Memory
	injected     []store.Memory
	strategy     extract.Strategy
	instructions string
	near         map[string][]string // by a statement: the memories near it by meaning
	model        Model               // to be asked about it
}

// reading is a job's range as it was recorded.
type reading struct {
	session   store.Session
	exchanges []store.Exchange // to the session's end
	events    []extract.Event  // up to the job's
}

// review reads a job's range and everything that belongs to it, after what the
// user asked there to be forgotten is.
func (r *Runner) review(ctx context.Context, j store.Job) (*review, error) {
	in, err := r.read(ctx, j)
	if err != nil {
		return nil, err
	}
	if err := r.forget(ctx, j.Owner, in.events); err != nil {
		return nil, err
	}
	return r.consider(ctx, j, in)
}

func (r *Runner) read(ctx context.Context, j store.Job) (in reading, err error) {
	if in.session, err = r.store.Session(ctx, j.Owner, j.Session); err != nil {
		return in, fmt.Errorf("read the session: %w", err)
	}
	// To the end: a later exchange shows which answers came back.
	if in.exchanges, err = r.store.Exchanges(ctx, j.Owner, j.Session, j.From, 0); err != nil {
		return in, fmt.Errorf("read the session's exchanges: %w", err)
	}
	in.events = r.events(in.session, in.exchanges, j.To)
	return in, nil
}

// consider takes what is material of a range, and what is known beside it.
func (r *Runner) consider(ctx context.Context, j store.Job, in reading) (v *review, err error) {
	v = &review{session: in.session, strategy: r.cfg.Strategy, instructions: r.cfg.Instructions, model: r.model}
	v.events, v.dropped = extract.Keepable(in.events)
	if len(v.events) == 0 {
		return v, nil
	}
	if v.existing, err = r.memories(ctx, j.Owner); err != nil {
		return nil, err
	}
	v.injected, err = r.given(ctx, j, in.exchanges, v.existing)
	return v, err
}

// lead is what a model is shown of the events before others: the last few, as
// context.
func lead(events []extract.Event) []extract.Event {
	var out []extract.Event
	for _, e := range events[max(0, len(events)-maxBefore):] {
		e.ID, e.Text = "b"+strconv.Itoa(len(out)+1), clip(e.Text, maxLead)
		out = append(out, e)
	}
	return out
}

// given finds the memories that the session was given, the newest first.
func (r *Runner) given(ctx context.Context, j store.Job, all []store.Exchange, existing []store.Memory) ([]store.Memory, error) {
	ledger, err := r.store.LoadLedger(ctx, j.Owner, j.Session)
	if err != nil {
		return nil, fmt.Errorf("read the session's ledger: %w", err)
	}
	var ids []string
	add := func(refs []store.Ref) {
		for _, ref := range refs {
			if !slices.Contains(ids, ref.ID) {
				ids = append(ids, ref.ID)
			}
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		add(all[i].Injected)
	}
	for _, e := range ledger {
		add(e.Refs)
	}
	var out []store.Memory
	for _, id := range ids[:min(len(ids), maxInjected)] {
		if i := slices.IndexFunc(existing, func(m store.Memory) bool { return m.ID == id }); i >= 0 {
			out = append(out, existing[i])
		} else if m, err := r.store.Memory(ctx, id); err == nil && m.Tenant == j.Owner.Tenant { // of a granted scope; or erased meanwhile
			out = append(out, m)
		}
	}
	return out, nil
}

// rules is what can be found without a model.
func (v *review) rules() extract.Result {
	res := extract.Rules(v.material(v.events))
	res.Dropped = append(v.dropped, res.Dropped...)
	return res
}

// tokens is how much is new.
func (v *review) tokens() int {
	n := 0
	for _, e := range v.events {
		n += store.Tokens(e.Text)
	}
	return n
}

// cost is about what the calls for it take, in tokens: each part's events
// beside the prompt and an answer.
func (v *review) cost(size int) int {
	calls := max(1, (v.tokens()+size-1)/size)
	return v.tokens() + calls*(store.Tokens(v.strategy.Fixed())+answerTokens)
}

func (v *review) material(events []extract.Event) extract.Material {
	m := extract.Material{Session: v.session.ID, Strategy: v.strategy, Events: events, Instructions: v.instructions}
	for _, n := range v.injected {
		m.Injected = append(m.Injected, extract.Note{ID: n.ID, Type: n.Type, Text: n.Text})
	}
	return m
}

// parts cuts the material at turn boundaries, so that one call covers about so
// many tokens. A turn that is longer by itself stays whole.
func (v *review) parts(tokens int) []extract.Material {
	var out []extract.Material
	var part []extract.Event
	var before []extract.Event
	size := 0
	flush := func() {
		if len(part) > 0 {
			m := v.material(part)
			m.Existing, m.Before = v.neighbours(part), lead(before)
			out = append(out, m)
			before = part
		}
		part, size = nil, 0
	}
	for i := 0; i < len(v.events); {
		end, n := i, 0
		for end < len(v.events) && v.events[end].Turn == v.events[i].Turn {
			n += store.Tokens(v.events[end].Text)
			end++
		}
		if size+n > tokens {
			flush()
		}
		part, size = append(part, v.events[i:end]...), size+n
		i = end
	}
	flush()
	return out
}

// neighbours are the memories whose words stand in the events.
func (v *review) neighbours(events []extract.Event) []extract.Note {
	var text strings.Builder
	for _, e := range events {
		text.WriteString(e.Text + "\n")
	}
	have := wording.Terms(text.String())
	type scored struct {
		m store.Memory
		s float64
	}
	var near []scored
	for _, m := range v.existing {
		if m.State != store.Active {
			continue
		}
		if s := wording.Share(wording.Terms(m.Text), have); s >= nearEnough {
			near = append(near, scored{m, s})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int {
		switch {
		case a.s > b.s:
			return -1
		case a.s < b.s:
			return 1
		}
		return strings.Compare(a.m.ID, b.m.ID)
	})
	var out []extract.Note
	for _, n := range near[:min(len(near), maxNeighbours)] {
		out = append(out, extract.Note{ID: n.m.ID, Type: n.m.Type, Text: n.m.Text})
	}
	return out
}
