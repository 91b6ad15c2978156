package hreflect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// NothingNew names the outcome of a range that holds no material.
const NothingNew = "nothing"

// errNoKey says that nobody's credential is at hand.
var errNoKey = errors.New("no credential: waiting for the caller's next request")

// work does one claimed job and ends its claim.
func (r *Runner) work(ctx context.Context, j store.Job) {
	// The job's own time: what isn't done before the lease ends is somebody
	// else's. A margin is left to write.
	mine, cancel := context.WithTimeout(ctx, r.cfg.Lease-r.cfg.Lease/10)
	defer cancel()
	err := r.guarded(func() error {
		if j.Consolidates() {
			return r.consolidate(mine, j)
		}
		return r.reflect(mine, j)
	})
	if err == nil {
		return
	}
	if ctx.Err() != nil {
		// Stopping: give the job back, so that the next start needn't wait for
		// the lease. The store may be closing too; then the lease expires.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := r.store.RetryJob(last, j, r.cfg.Now(), "stopped"); err != nil {
			r.log.Debug("reflection not given back", "job", j.ID, "error", err)
		}
		return
	}
	if err := r.failed(ctx, j, err); err != nil && !errors.Is(err, store.ErrStale) {
		r.trouble("end a reflection", err)
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
	if len(v.events) == 0 {
		return r.apply(ctx, j, v, extract.Result{Dropped: v.dropped}, NothingNew, "")
	}
	e, err := r.endpoint(v.session)
	switch {
	case errors.Is(err, errNoKey) && r.cfg.Now().Before(j.Created.Add(r.cfg.KeyWait)):
		return r.store.WaitForKey(ctx, j, j.Created.Add(r.cfg.KeyWait), err.Error())
	case err != nil, e.Base == "":
		return r.apply(ctx, j, v, v.rules(), extract.RulesVersion, "")
	}
	if until := r.rests.resting(e, r.cfg.Now()); !until.IsZero() {
		return r.store.WaitForKey(ctx, j, until, "the provider asked for a pause") // no attempt of its own
	}
	found := extract.Result{Dropped: v.dropped}
	parts := v.parts(r.cfg.Tokens)
	calls := allowed(v.tokens(), r.cfg.Tokens)
	calls.keep(len(parts))
	shown := map[string]bool{}
	for _, part := range parts {
		res, err := r.ask(ctx, e, part, calls)
		if err != nil {
			return err
		}
		found.Candidates = append(found.Candidates, res.Candidates...)
		found.Dropped = append(found.Dropped, res.Dropped...)
		found.Verdicts = append(found.Verdicts, res.Verdicts...)
		for _, n := range part.Existing {
			shown[n.ID] = true
		}
	}
	found = r.relate(ctx, e, j, v, extract.Capped(found), shown, calls)
	return r.apply(ctx, j, v, found, r.cfg.Strategy.Version(), "")
}

// endpoint says where a session's reflection is asked; an empty one means
// nowhere: rules.
func (r *Runner) endpoint(s store.Session) (llm.Endpoint, error) {
	e := llm.Endpoint{Base: or(r.cfg.Base, r.cfg.Upstream), Model: or(r.cfg.ModelName, s.Model)}
	switch {
	case r.cfg.ModelName == RulesModel, e.Model == "":
		return llm.Endpoint{}, nil
	case r.cfg.Base == "" && s.Dialect != "" && s.Dialect != "chat":
		return llm.Endpoint{}, nil // an upstream of another dialect isn't asked in this one
	case r.cfg.Key != "":
		e.Header, e.Value = "Authorization", "Bearer "+r.cfg.Key
	case r.cfg.Base == "":
		var ok bool
		if e.Header, e.Value, ok = r.creds.Credential(s.ID); !ok {
			return llm.Endpoint{}, errNoKey
		}
	}
	return e, nil
}

// ask puts the question about one part. calls is what may be asked besides.
func (r *Runner) ask(ctx context.Context, e llm.Endpoint, m extract.Material, calls *allowance) (extract.Result, error) {
	system, user := extract.Prompt(m)
	answer, err := r.put(ctx, e, m, system, user)
	if err != nil {
		return extract.Result{}, err
	}
	res, err := extract.Read(answer, m)
	if err != nil {
		return extract.Result{}, &llm.Error{Kind: llm.BadFormat, Reason: "an answer that can't be read", Err: err}
	}
	return r.mend(ctx, e, m, res, calls), nil
}

// put sends one question and returns the words of the answer.
func (r *Runner) put(ctx context.Context, e llm.Endpoint, m extract.Material, system, user string) (string, error) {
	began := time.Now()
	a, err := r.model.Ask(ctx, e, llm.Request{System: system, User: user, Name: extract.SchemaName, Schema: m.Strategy.Schema()})
	r.met.called(err, time.Since(began), a)
	if err != nil {
		r.rests.note(e, err, r.cfg.Now(), r.cfg.Backoff)
		return "", err
	}
	return a.Text, nil
}

// apply fits what was found among the memories as they are now, and writes.
// dead is the reason why a model's word is missing, empty if it isn't.
func (r *Runner) apply(ctx context.Context, j store.Job, v *review, found extract.Result, strategy, dead string) error {
	r.settle.Lock()
	defer r.settle.Unlock()
	found.Verdicts = v.cited(found.Verdicts)
	for try := 0; ; try++ {
		existing, err := r.memories(ctx, j.Owner)
		if err != nil {
			return err
		}
		out := lifecycle.Fit(lifecycle.Input{
			Job: j, Found: found, Injected: v.injected, Existing: existing, Near: v.near, Strategy: strategy, Now: r.cfg.Now(),
		})
		out.Dead = dead
		done, err := r.store.Apply(ctx, j, out)
		if errors.Is(err, store.ErrStale) && try < 3 {
			continue // a person edited a memory in between: look again
		}
		if err != nil {
			return fmt.Errorf("write a reflection: %w", err)
		}
		r.met.applied(out, done)
		r.log.Info("session reflected", "session", j.Session, "trigger", string(j.Trigger), "strategy", strategy,
			"kept", len(done.Kept), "dropped", len(done.Dropped))
		r.gatherAfter(ctx, existing, out.Memories)
		return nil
	}
}

func (r *Runner) memories(ctx context.Context, o store.Owner) ([]store.Memory, error) {
	var all []store.Memory
	for _, sc := range o.OwnScopes() {
		ms, _, err := r.store.ScopeMemories(ctx, o.Tenant, sc)
		if err != nil {
			return nil, fmt.Errorf("read memories of the scope: %w", err)
		}
		all = append(all, ms...)
	}
	return all, nil
}
