package hreflect

import (
	"context"

	"hindsight/reflect/extract"
	"hindsight/reflect/llm"
)

// mend gives the model one chance to put right what failed a check in its
// answer about a part: one question about all of it, asked if the job's
// allowance has a call left. The first answer stands where there is none,
// where the call fails, and for everything that isn't better afterwards.
func (r *Runner) mend(ctx context.Context, e llm.Endpoint, v *review, m extract.Material, first extract.Result, calls *allowance) extract.Result {
	system, user, ok := extract.Once(m, first.Doubts)
	if !ok {
		return first
	}
	tenant := v.session.Owner.Tenant
	if why := r.spare(ctx, e, tenant, system, user); why != "" || !calls.take() {
		r.log.Debug("no focused retry", "session", m.Session, "why", or(why, noCallLeft))
		return first
	}
	answer, err := r.call(ctx, v.model, e, tenant, question(m, system, user))
	if err != nil {
		r.log.Debug("a focused retry wasn't answered", "session", m.Session, "error", err)
		return first
	}
	second, err := extract.Read(answer, m)
	if err != nil {
		r.log.Debug("a focused retry can't be read", "session", m.Session, "error", err)
		return first
	}
	return extract.Mended(first, second)
}
