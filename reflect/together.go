package hreflect

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"hindsight/reflect/extract"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// Small sessions of one owner that have gone idle share a call: what it costs
// is mostly the prompt.
const maxTogether = 8

// mates claims other jobs that can share a claimed one's call.
func (r *Runner) mates(ctx context.Context, j store.Job) []store.Job {
	if j.Consolidates() || j.Trigger != store.TriggerIdle || j.Attempts > 1 || r.cfg.ModelName == RulesModel {
		return nil
	}
	mates, err := r.store.ClaimBeside(ctx, j, r.cfg.Lease, r.cfg.Tokens, maxTogether-1)
	if err != nil {
		r.trouble("claim reflections that share a call", err)
	}
	return mates
}

// member is one session of a shared call.
type member struct {
	job store.Job
	v   *review
}

// together works jobs of one owner by one call, those that turn out to need
// another way by themselves. It returns how each job ended.
func (r *Runner) together(ctx context.Context, jobs []store.Job) []error {
	ends := make([]error, len(jobs))
	var e llm.Endpoint
	var all []member
	var at []int // index in jobs, of each member
	size := 0
	for i, j := range jobs {
		v, err := r.review(ctx, j)
		if err != nil {
			ends[i] = err
			continue
		}
		way, err := r.way(ctx, j, v)
		fits := err == nil && way.ask && len(v.events) > 0 && (len(all) == 0 || way.endpoint == e) &&
			size+v.tokens() <= r.cfg.Tokens && v.events[len(v.events)-1].Turn < extract.Apart
		if !fits {
			ends[i] = r.finish(ctx, j, v)
			continue
		}
		e, size = way.endpoint, size+v.tokens()
		all, at = append(all, member{job: j, v: v}), append(at, i)
	}
	if len(all) == 0 {
		return ends
	}
	if len(all) == 1 {
		ends[at[0]] = r.finish(ctx, all[0].job, all[0].v)
		return ends
	}
	one := joined(all)
	found, err := r.inquire(ctx, e, all[0].job, one)
	attribute(found.Dropped, all)
	for k, m := range all {
		if err == nil {
			m.v.near = one.near
			ends[at[k]] = r.apply(ctx, m.job, m.v, m.share(found, k), r.cfg.Strategy.Version(), "")
		} else {
			ends[at[k]] = err
		}
	}
	return ends
}

// joined is one material of all members' events, a stride between their turns:
// nothing there is a neighbour of another session's, and a turn tells whose it is.
func joined(all []member) *review {
	first := all[0].v
	v := *first
	v.events, v.injected, v.dropped = nil, nil, nil
	for k, m := range all {
		for _, ev := range m.v.events {
			ev.ID = "e" + strconv.Itoa(len(v.events)+1)
			ev.Turn += k * extract.Stride
			v.events = append(v.events, ev)
		}
		for _, n := range m.v.injected {
			if !slices.ContainsFunc(v.injected, func(o store.Memory) bool { return o.ID == n.ID }) {
				v.injected = append(v.injected, n)
			}
		}
		for _, d := range m.v.dropped {
			d.Of = extract.Nth(k)
			v.dropped = append(v.dropped, d)
		}
	}
	return &v
}

// share is what of an answer about all members belongs to the k-th. What was
// dropped is shown with every session that it is about, and with all where it
// can't be told.
func (m member) share(found extract.Result, k int) extract.Result {
	var out extract.Result
	own := func(all []extract.Candidate) (mine []extract.Candidate) {
		for _, c := range all {
			if c.Turn/extract.Stride == k {
				c.Turn %= extract.Stride
				mine = append(mine, c)
			}
		}
		return mine
	}
	out.Candidates, out.Held = own(found.Candidates), own(found.Held)
	for _, d := range found.Dropped {
		if d.Of == 0 || d.Of&extract.Nth(k) != 0 {
			d.Of = 0
			out.Dropped = append(out.Dropped, d)
		}
	}
	for _, x := range found.Verdicts {
		if slices.ContainsFunc(m.v.injected, func(n store.Memory) bool { return n.ID == x.ID }) {
			out.Verdicts = append(out.Verdicts, x)
		}
	}
	return out
}

// attribute notes of what was dropped, where it cites no turn that tells it, which
// members it is about: those where its words stand.
func attribute(dropped []store.Dropped, all []member) {
	var said []string
	for i := range dropped {
		d := &dropped[i]
		words := store.Fold(d.Text)
		if d.Of != 0 || words == "" {
			continue
		}
		if said == nil {
			for _, m := range all {
				said = append(said, m.said())
			}
		}
		for k, s := range said {
			if strings.Contains(s, words) {
				d.Of |= extract.Nth(k)
			}
		}
	}
}

// said is all that a member's session says, folded.
func (m member) said() string {
	var b strings.Builder
	for _, e := range m.v.events {
		b.WriteString(e.Text + "\n")
	}
	return store.Fold(b.String())
}

// end ends a claim whose work ended with err.
func (r *Runner) end(ctx context.Context, j store.Job, err error) {
	if err == nil {
		return
	}
	if ctx.Err() != nil {
		r.giveBack(ctx, j)
		return
	}
	if err := r.failed(ctx, j, err); err != nil && !errors.Is(err, store.ErrStale) {
		r.trouble("end a reflection", err)
	}
}
