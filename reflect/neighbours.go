package hreflect

import (
	"context"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// NearMeaning is the cosine above which two statements are neighbours.
const NearMeaning = 0.9

// Meaning finds memories by meaning. Near lists for each text the ids of the
// active memories of some scopes whose vectors' cosine with the text's is above
// [NearMeaning]; it is empty where there are no vectors.
type Meaning interface {
	Near(ctx context.Context, tenant string, scopes []store.Scope, texts []string) (map[string][]string, error)
}

// near lists for each text the memories near it by meaning; none where there are
// no vectors.
func (r *Runner) near(ctx context.Context, j store.Job, scopes []store.Scope, texts []string) map[string][]string {
	if r.cfg.Meaning == nil {
		return nil
	}
	near, err := r.cfg.Meaning.Near(ctx, j.Owner.Tenant, scopes, texts)
	if err != nil {
		r.log.Debug("neighbours by words alone", "job", j.ID, "error", err)
	}
	return near
}

// relate finds the neighbours of what was found and asks the model, once,
// about those that only it can judge and hasn't seen. What it doesn't say, or
// can't be asked any more, stays new: a reflection never fails for it.
func (r *Runner) relate(ctx context.Context, e llm.Endpoint, j store.Job, v *review, found extract.Result, shown map[string]bool, calls *allowance) extract.Result {
	if len(found.Candidates) == 0 || len(v.existing) == 0 {
		return found
	}
	texts := make([]string, len(found.Candidates))
	for i, c := range found.Candidates {
		texts[i] = c.Text
	}
	v.near = r.near(ctx, j, j.Owner.OwnScopes(), texts)
	in := lifecycle.Input{Job: j, Found: found, Existing: v.existing, Near: v.near, Now: r.cfg.Now()}
	pairs := lifecycle.Doubtful(in, func(id string) bool { return shown[id] })
	if len(pairs) == 0 {
		return found
	}
	system, user := lifecycle.Question(in, pairs)
	if why := r.spare(ctx, e, j.Owner.Tenant, system, user); why != "" || !calls.take() {
		r.log.Debug("neighbours not asked about", "job", j.ID, "why", or(why, noCallLeft))
		return found
	}
	answer, err := r.call(ctx, v.model, e, j.Owner.Tenant, llm.Request{System: system, User: user, Name: lifecycle.PairsName, Schema: lifecycle.PairsSchema()})
	if err != nil {
		r.log.Debug("neighbours not asked about", "job", j.ID, "error", err)
		return found
	}
	found.Candidates = lifecycle.Answered(found.Candidates, pairs, answer)
	return found
}
