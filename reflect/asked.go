package hreflect

import (
	"context"
	"slices"
	"time"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// heardAtOnce is how many requests may wait to be done; what finds no room is
// done when the session is reflected.
const heardAtOnce = 64

// asked are the words of one exchange that may ask for something.
type asked struct {
	owner   store.Owner
	session string
	zone    string
	events  []store.Event
}

// Heard looks for what the user asked for in an exchange that has ended, and has
// it done at once: "remember that …" is noted whatever the thresholds, "forget
// that …" archives what fits and can be taken back. Only the user's own words
// ask. It never blocks and doesn't keep the exchange.
func (r *Runner) Heard(x *store.Exchange) {
	if x.SessionInfo.Parent != "" || x.Status == store.Errored {
		return // a sub-agent's user is an agent
	}
	a := asked{owner: x.Owner, session: x.Session, zone: x.Zone}
	for _, e := range x.Events {
		if e.Kind == store.UserInput && extract.MayAsk(e.Text) {
			a.events = append(a.events, e)
		}
	}
	if len(a.events) == 0 {
		return
	}
	select {
	case r.heard <- a:
	default:
	}
}

// listen does what is asked for until ctx ends.
func (r *Runner) listen(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case a := <-r.heard:
			if err := r.guarded(func() error { return r.obey(ctx, a) }); err != nil {
				r.trouble("do what a user asked for", err) // reflection tries again
			}
		}
	}
}

func (r *Runner) obey(ctx context.Context, a asked) error {
	m := extract.Material{Session: a.session, Events: r.events(store.Session{}, []store.Exchange{{
		Status: store.Complete, Events: a.events, Zone: a.zone,
	}}, 0)}
	for _, e := range a.events {
		if slices.Contains(extract.Forgets(e.Text), extract.Forget{All: true}) {
			r.met.asked.WithLabelValues("forget_everything").Inc()
			r.log.Warn("a user asked to forget everything, which the command line alone does", "next", "hindsight tenants erase --help", "session", a.session)
		}
	}
	if err := r.forget(ctx, a.owner, m.Events); err != nil {
		return err
	}
	return r.note(ctx, a, m)
}

// note writes what was asked to be remembered.
func (r *Runner) note(ctx context.Context, a asked, m extract.Material) error {
	found := extract.Asked(m)
	if len(found.Candidates)+len(found.Held) == 0 {
		return nil
	}
	return r.settle.compared(a.owner.Tenant, a.owner.Scope(), func() error {
		existing, err := r.memories(ctx, a.owner)
		if err != nil {
			return err
		}
		out := lifecycle.Fit(lifecycle.Input{
			Job: store.Job{Owner: a.owner, Session: a.session}, Found: found, Existing: existing, Now: r.cfg.Now(),
		})
		done, err := r.store.Note(ctx, a.owner, out)
		if err != nil {
			return err
		}
		r.met.asked.WithLabelValues("remember").Add(float64(len(done.Kept)))
		r.log.Debug("noted what a user asked to remember", "session", a.session, "memories", len(done.Kept))
		return nil
	})
}

// forget archives the memories of the owner's own scopes that the users' words
// in these events ask to forget. What was written, changed or restored after
// the request stays, so that asking twice does nothing twice.
func (r *Runner) forget(ctx context.Context, o store.Owner, events []extract.Event) error {
	for _, e := range events {
		if e.Role != extract.User || e.Untrusted {
			continue
		}
		for _, f := range extract.Forgets(e.Text) {
			if f.All {
				continue // obey has said what does that
			}
			if err := r.forgetOne(ctx, o, f, e.Time); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetOne archives what fits best: a text that fits much less than another
// isn't meant.
func (r *Runner) forgetOne(ctx context.Context, o store.Owner, f extract.Forget, at time.Time) error {
	const alsoMeant = 0.7
	existing, err := r.memories(ctx, o)
	if err != nil {
		return err
	}
	best := 0.0
	likeness := make([]float64, len(existing))
	for i, m := range existing {
		if m.State == store.Active && !m.UpdatedAt.After(at) {
			likeness[i] = f.Likeness(m.Text)
			best = max(best, likeness[i])
		}
	}
	for i, m := range existing {
		if likeness[i] == 0 || likeness[i] < alsoMeant*best {
			continue
		}
		if _, err := r.store.ForgetMemory(ctx, m.ID); err != nil {
			return err
		}
		r.met.asked.WithLabelValues("forget").Inc()
	}
	return nil
}
