package hreflect

import (
	"context"
	"errors"
	"net/http"
	"time"

	"hindsight/reflect/llm"
	"hindsight/store"
)

// call asks a model on a tenant's account. Every call of a model goes through
// it: what it cost counts against the tenant's day whatever came of it, and
// what the provider says of the credential's rate is heard.
func (r *Runner) call(ctx context.Context, m Model, e llm.Endpoint, tenant string, q llm.Request) (string, error) {
	began := time.Now()
	var a llm.Answer
	var err error
	away(ctx, func() { a, err = m.Ask(ctx, e, q) })
	r.met.called(err, time.Since(began), a)
	cost := a.Input + a.Output
	var refused *llm.Error
	if cost == 0 && (!errors.As(err, &refused) || refused.Status == 0) { // the server doesn't count
		cost = store.Tokens(q.System) + store.Tokens(q.User) + store.Tokens(a.Text)
	}
	if spent := r.budget.spend(ctx, tenant, cost, r.cfg.Now()); spent != nil {
		r.trouble("note what a call cost", spent)
	}
	if err != nil {
		r.rests.note(e, err, r.cfg.Now(), r.cfg.Backoff)
		return "", err
	}
	r.rests.hear(restKey(e), http.StatusOK, a.Header, r.cfg.Now(), r.cfg.Backoff)
	return a.Text, nil
}

// Why a question isn't put now.
const (
	budgetSpent = "the budget of the day is spent"
	pauseAsked  = "the provider asked for a pause"
)

// spare says why a question that nothing depends on isn't put now; empty: it
// may be.
func (r *Runner) spare(ctx context.Context, e llm.Endpoint, tenant, system, user string) (why string) {
	now := r.cfg.Now()
	if until := r.rests.resting(e, now); !until.IsZero() {
		return pauseAsked + " until " + until.UTC().Format(time.RFC3339)
	}
	may, err := r.budget.allows(ctx, tenant, store.Tokens(system)+store.Tokens(user)+answerTokens, now)
	switch {
	case err != nil:
		return err.Error()
	case !may:
		return budgetSpent
	}
	return ""
}
