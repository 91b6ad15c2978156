package hreflect

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"hindsight/reflect/extract"
	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// Learn keeps a statement that somebody writes, at once and without a model: the
// screens of reflection refuse it or not, code compares it with what is known,
// and one transaction writes what follows. Writers of one person's scopes take
// turns, so that many at once leave what they would have left one after
// another. Its error is of the store.
func (r *Runner) Learn(ctx context.Context, l store.Lesson) (out store.Learned, err error) {
	if l.Scope == "" {
		l.Scope = l.Owner.ScopeOf(l.Type)
	}
	for _, text := range wordsOf(l) {
		if reason := extract.Refused(strings.TrimSpace(text)); reason != "" {
			r.met.dropped.WithLabelValues(reason).Inc()
			return store.Learned{Result: store.LessonRefused, Reason: reason}, nil
		}
	}
	near := r.near(ctx, store.Job{Owner: l.Owner}, []store.Scope{l.Scope}, []string{l.Text})[l.Text]
	err = r.settle.compared(l.Owner.Tenant, l.Scope, func() error {
		out, err = r.learn(ctx, l, near)
		return err
	})
	return out, err
}

// wordsOf are all texts of a lesson.
func wordsOf(l store.Lesson) []string {
	all := []string{l.Text, l.Subject}
	for k, v := range l.Metadata {
		all = append(all, k, v)
	}
	return all
}

// learn is one try of Learn, in its lane.
func (r *Runner) learn(ctx context.Context, l store.Lesson, near []string) (store.Learned, error) {
	existing, err := r.writtenAmong(ctx, l)
	if err != nil {
		return store.Learned{}, err
	}
	c := extract.Written(l, r.cfg.Now().In(r.cfg.Zone)) // its turn has come: this is when it is said
	c.Turn = lifecycle.SaidBefore(existing, l, c)
	in := lifecycle.Input{
		Job:   store.Job{Owner: l.Owner}, // no session
		Scope: l.Scope, Found: extract.Result{Candidates: []extract.Candidate{c}}, Existing: existing,
		Near: map[string][]string{c.Text: near}, Now: r.cfg.Now(),
	}
	out := lifecycle.Fit(in)
	created := describe(&out, l.Metadata)
	done, err := r.store.Note(ctx, l.Owner, out)
	if err != nil {
		return store.Learned{}, fmt.Errorf("write what was to be remembered: %w", err)
	}
	r.met.applied(out, done)
	if len(done.Kept) == 0 {
		reason := "known" // it can't be, without a memory that says it
		if len(done.Dropped) > 0 {
			reason = done.Dropped[0].Reason
		}
		return store.Learned{Result: store.LessonRefused, Reason: reason}, nil
	}
	res := store.Learned{Result: store.LessonKnown}
	if res.Memory, err = r.store.Memory(ctx, done.Kept[0]); err != nil {
		return store.Learned{}, fmt.Errorf("read what was written: %w", err)
	}
	for _, m := range out.Memories {
		if m.State == store.Superseded && m.SupersededBy == res.Memory.ID {
			res.Replaced = append(res.Replaced, m.ID)
		}
	}
	if created {
		res.Result = store.LessonCreated
		in.Existing = lifecycle.Likely(existing, c, near)
		for _, p := range lifecycle.Doubtful(in, func(id string) bool { return slices.Contains(res.Replaced, id) }) {
			res.Near = append(res.Near, p.Memory)
		}
		r.gatherAfter(ctx, existing, out.Memories)
	}
	return res, nil
}

// writtenAmong are the memories that a lesson is compared with.
func (r *Runner) writtenAmong(ctx context.Context, l store.Lesson) ([]store.Memory, error) {
	scopes := []store.Scope{l.Scope}
	if own := l.Owner.OwnScopes(); slices.Contains(own, l.Scope) {
		scopes = own
	}
	return r.within(ctx, l.Owner.Tenant, scopes...)
}

// describe gives the memory that an outcome keeps its writer's metadata, and says
// whether it is new.
func describe(out *store.Outcome, metadata map[string]string) (created bool) {
	if len(out.Kept) == 0 {
		return false
	}
	i := slices.IndexFunc(out.Memories, func(m store.Memory) bool { return m.ID == out.Kept[0] })
	if i < 0 {
		return false
	}
	m := &out.Memories[i]
	if len(metadata) > 0 {
		all := maps.Clone(m.Metadata)
		if all == nil {
			all = map[string]string{}
		}
		for k, v := range metadata {
			all[strings.TrimSpace(k)] = v
		}
		m.Metadata = all
	}
	return m.Revision == 0
}
