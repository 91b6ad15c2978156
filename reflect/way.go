package hreflect

import (
	"context"
	"errors"
	"time"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// way is how a job is to be worked: by asking a model, later, or by rules.
type way struct {
	ask      bool
	endpoint llm.Endpoint
	later    time.Time // not zero: wait until then
	why      string    // why no model is asked
	word     string    // the same for a metric, empty where it is the configuration's wish
}

// way decides how a job is worked now.
func (r *Runner) way(ctx context.Context, j store.Job, v *review) (way, error) {
	e, err := r.endpoint(v.session)
	switch now := r.cfg.Now(); {
	case errors.Is(err, errNoKey) && now.Before(j.Created.Add(r.cfg.KeyWait)):
		return way{later: j.Created.Add(r.cfg.KeyWait), why: err.Error()}, nil
	case err != nil:
		return way{why: err.Error(), word: "no_key"}, nil //nolint:nilerr // it is the way, not a failure
	case e.Base == "":
		return way{why: "no model is configured, and the session names none"}, nil
	default:
		if until := r.rests.resting(e, now); !until.IsZero() {
			return way{later: until, why: pauseAsked}, nil
		}
		may, err := r.budget.allows(ctx, j.Owner.Tenant, v.cost(r.cfg.Tokens), now)
		if err != nil {
			return way{}, err
		}
		if !may {
			return way{why: budgetSpent, word: "budget"}, nil
		}
		return way{ask: true, endpoint: e}, nil
	}
}

// unasked notes that no model is asked where one would have been.
func (r *Runner) unasked(j store.Job, w way) {
	if w.word == "" {
		return
	}
	r.met.unasked.WithLabelValues(w.word).Inc()
	r.log.Info("session reflected by rules", "session", j.Session, "why", w.why)
}
