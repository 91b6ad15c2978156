package hreflect

import (
	"context"
	"fmt"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// Preview is what reflection would make of a session.
type Preview struct {
	Model   string // that is asked; empty: none
	Dialect llm.Dialect
	Reason  string // why no model is asked, or why its answer doesn't count
	Asked   []Asked
	Outcome store.Outcome // what would be written
}

// Asked is one question and its answer as it came.
type Asked struct {
	System, User, Answer string
	Err                  error
}

// listening notes what a model is asked.
type listening struct {
	Model
	asked []Asked
}

// Ask implements Model.
func (l *listening) Ask(ctx context.Context, e llm.Endpoint, r llm.Request) (llm.Answer, error) {
	a, err := l.Model.Ask(ctx, e, r)
	l.asked = append(l.asked, Asked{r.System, r.User, a.Text, err})
	return a, err
}

// Preview reflects the whole of a session, the part that was reflected before
// included, and changes nothing. A model is really asked, and its tokens count.
func (r *Runner) Preview(ctx context.Context, s store.Session) (Preview, error) {
	j := store.Job{Session: s.ID, Owner: s.Owner, To: s.LastSeq, Trigger: store.TriggerExplicit, Created: r.cfg.Now()}
	in, err := r.read(ctx, j)
	if err != nil {
		return Preview{}, err
	}
	v, err := r.consider(ctx, j, in)
	if err != nil {
		return Preview{}, err
	}
	heard := &listening{Model: r.model}
	v.model = heard
	p := Preview{}
	found, strategy := v.rules(), extract.RulesVersion
	way, err := r.way(ctx, j, v)
	switch {
	case err != nil:
		return p, err
	case len(v.events) == 0:
		found, strategy, p.Reason = extract.Result{Dropped: v.dropped}, NothingNew, "nothing in it is material"
	case way.ask:
		p.Model, p.Dialect = way.endpoint.Model, way.endpoint.Dialect
		if answered, err := r.inquire(ctx, way.endpoint, j, v); err != nil {
			p.Reason = err.Error()
		} else {
			found, strategy = answered, r.cfg.Strategy.Version()
		}
	default:
		p.Reason = way.why
	}
	found.Verdicts = v.cited(found.Verdicts)
	existing, err := r.memories(ctx, j.Owner)
	if err != nil {
		return p, fmt.Errorf("preview a reflection: %w", err)
	}
	p.Outcome = lifecycle.Fit(lifecycle.Input{
		Job: j, Found: found, Injected: v.injected, Existing: existing, Near: v.near, Strategy: strategy, Now: r.cfg.Now(),
	})
	p.Asked = heard.asked
	return p, nil
}
