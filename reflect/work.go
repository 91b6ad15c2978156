package hreflect

import (
	"context"
	"fmt"
	"time"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// NothingNew names the outcome of a range that holds no material.
const NothingNew = "nothing"

// work does a claimed job, or several that share a call, and ends the claims.
func (r *Runner) work(ctx context.Context, jobs []store.Job) {
	// The jobs' own time: what isn't done before the lease ends is somebody
	// else's. A margin is left to write.
	mine, cancel := context.WithTimeout(ctx, r.cfg.Lease-r.cfg.Lease/10)
	defer cancel()
	mine, leave, err := r.gate.enter(mine)
	defer leave()
	ends := make([]error, len(jobs))
	if err == nil {
		err = r.guarded(func() error {
			switch {
			case jobs[0].Consolidates():
				return r.consolidate(mine, jobs[0])
			case len(jobs) > 1:
				ends = r.together(mine, jobs)
				return nil
			}
			return r.reflect(mine, jobs[0])
		})
	}
	for i, j := range jobs {
		if err != nil {
			ends[i] = err
		}
		r.end(ctx, j, ends[i])
	}
}

// giveBack returns the job of a runner that stops, so that the next start
// needn't wait for the lease. The store may be closing too; then the lease
// expires.
func (r *Runner) giveBack(ctx context.Context, j store.Job) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := r.store.RetryJob(last, j, r.cfg.Now(), "stopped"); err != nil {
		r.log.Debug("reflection not given back", "job", j.ID, "error", err)
	}
}

// guarded turns a panic into an error: a session with a text that trips the
// extraction must not take the proxy down with it.
func (r *Runner) guarded(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &llm.Error{Kind: llm.Permanent, Reason: fmt.Sprintf("panic in reflection: %T", p)}
		}
	}()
	return do()
}

func (r *Runner) reflect(ctx context.Context, j store.Job) error {
	v, err := r.review(ctx, j)
	if err != nil {
		return err
	}
	return r.finish(ctx, j, v)
}

// finish works a job that has been looked at.
func (r *Runner) finish(ctx context.Context, j store.Job, v *review) error {
	if len(v.events) == 0 {
		return r.apply(ctx, j, v, extract.Result{Dropped: v.dropped}, NothingNew, "")
	}
	way, err := r.way(ctx, j, v)
	switch {
	case err != nil:
		return err
	case !way.later.IsZero():
		return r.store.WaitForKey(ctx, j, way.later, way.why) // no attempt of its own
	case !way.ask:
		r.unasked(j, way)
		return r.apply(ctx, j, v, v.rules(), extract.RulesVersion, "")
	}
	found, err := r.inquire(ctx, way.endpoint, j, v)
	if err != nil {
		return err
	}
	return r.apply(ctx, j, v, found, r.cfg.Strategy.Version(), "")
}

// inquire asks about all of a session's material.
func (r *Runner) inquire(ctx context.Context, e llm.Endpoint, j store.Job, v *review) (extract.Result, error) {
	found := extract.Result{Dropped: v.dropped}
	parts := v.parts(r.cfg.Tokens)
	calls := allowed(j, v.tokens(), r.cfg.Tokens, len(parts))
	shown := map[string]bool{}
	for _, part := range parts {
		res, err := r.ask(ctx, e, v, part, calls)
		if err != nil {
			return found, calls.over(err)
		}
		found.Candidates = append(found.Candidates, res.Candidates...)
		found.Held = append(found.Held, res.Held...)
		found.Dropped = append(found.Dropped, res.Dropped...)
		found.Verdicts = append(found.Verdicts, res.Verdicts...)
		for _, n := range part.Existing {
			shown[n.ID] = true
		}
	}
	return r.relate(ctx, e, j, v, extract.Capped(found), shown, calls), nil
}

// ask puts the question about one part. calls is what may be asked besides.
func (r *Runner) ask(ctx context.Context, e llm.Endpoint, v *review, m extract.Material, calls *allowance) (extract.Result, error) {
	system, user := extract.Prompt(m)
	answer, err := r.call(ctx, v.model, e, v.session.Owner.Tenant, question(m, system, user))
	if err != nil {
		return extract.Result{}, err
	}
	calls.answered()
	res, err := extract.Read(answer, m)
	if err != nil {
		return extract.Result{}, &llm.Error{Kind: llm.BadFormat, Reason: "an answer that can't be read", Err: err}
	}
	return r.mend(ctx, e, v, m, res, calls), nil
}

// question is the request that puts a question about one part.
func question(m extract.Material, system, user string) llm.Request {
	return llm.Request{System: system, User: user, Name: extract.SchemaName, Schema: m.Strategy.Schema()}
}

// apply fits what was found among the memories as they are now, and writes.
// dead is the reason why a model's word is missing, empty if it isn't.
func (r *Runner) apply(ctx context.Context, j store.Job, v *review, found extract.Result, strategy, dead string) error {
	found.Verdicts = v.cited(found.Verdicts)
	var kept []string
	err := r.settle.compared(j.Owner.Tenant, j.Owner.Scope(), func() error {
		existing, err := r.memories(ctx, j.Owner)
		if err != nil {
			return err
		}
		out := lifecycle.Fit(lifecycle.Input{
			Job: j, Found: found, Injected: v.injected, Existing: existing, Near: v.near, Strategy: strategy, Now: r.cfg.Now(),
		})
		out.Dead = dead
		done, err := r.store.Apply(ctx, j, out)
		if err != nil {
			return fmt.Errorf("write a reflection: %w", err)
		}
		r.met.applied(out, done)
		r.log.Info("session reflected", "session", j.Session, "trigger", string(j.Trigger), "strategy", strategy,
			"kept", len(done.Kept), "dropped", len(done.Dropped))
		r.gatherAfter(ctx, existing, out.Memories)
		kept = done.Kept
		return nil
	})
	r.promote(ctx, j.Owner.Tenant, kept) // now that others may write again
	return err
}
