package hreflect

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"hindsight/reflect/lifecycle"
	"hindsight/reflect/llm"
	"hindsight/store"
)

// Consolidations is the part of the store that several memories become one in.
// Consolidate is one transaction and refuses with store.ErrStale what another
// has changed meanwhile.
type Consolidations interface {
	EnqueueConsolidation(ctx context.Context, o store.Owner, session string, sc store.Scope, subject string, sources int) (store.Job, bool, error)
	Consolidate(ctx context.Context, j store.Job, product store.Memory, sources []store.Memory) (store.Memory, error)
	EndConsolidation(ctx context.Context, j store.Job) error
	FindSession(ctx context.Context, id string) (store.Session, error)
	Tenants(ctx context.Context) ([]store.Tenant, error)
}

// Gather queues a consolidation for each subject of which enough episodic
// memories have gathered. Without a model nothing is consolidated, and nothing
// queued.
func (r *Runner) Gather(ctx context.Context, all []store.Memory) error {
	if r.cfg.ModelName == RulesModel {
		return nil
	}
	for _, g := range lifecycle.Groups(all, lifecycle.Enough, false) {
		session := g.Session()
		if _, _, err := r.store.EnqueueConsolidation(ctx, r.ownerOf(ctx, g, session), session, g.Scope, g.Subject, len(g.Sources)); err != nil {
			return fmt.Errorf("queue a consolidation: %w", err)
		}
	}
	return nil
}

// ownerOf is whose session it was; for memories without one, who the scope says.
func (r *Runner) ownerOf(ctx context.Context, g lifecycle.Group, session string) store.Owner {
	if s, err := r.store.FindSession(ctx, session); err == nil {
		return s.Owner
	}
	user, _ := g.Scope.UserOf()
	return store.Owner{Tenant: g.Tenant, User: user}
}

// gatherAfter looks for consolidations where an outcome wrote an episodic memory.
func (r *Runner) gatherAfter(ctx context.Context, existing, written []store.Memory) {
	if !slices.ContainsFunc(written, func(m store.Memory) bool { return m.Layer == store.Episodic && m.State == store.Active }) {
		return
	}
	all := slices.DeleteFunc(slices.Clone(existing), func(m store.Memory) bool {
		return slices.ContainsFunc(written, func(w store.Memory) bool { return w.ID == m.ID })
	})
	if err := r.Gather(ctx, append(all, written...)); err != nil {
		r.trouble("queue a consolidation", err) // the next sweep finds it
	}
}

// consolidate works a claimed consolidation.
func (r *Runner) consolidate(ctx context.Context, j store.Job) error {
	all, err := r.within(ctx, j.Owner.Tenant, j.Scope)
	if err != nil {
		return err
	}
	groups := ofSubject(lifecycle.Groups(all, lifecycle.Enough, false), j.Subject)
	if len(groups) == 0 {
		return r.store.EndConsolidation(ctx, j) // forgotten, or consolidated by a person, meanwhile
	}
	e, err := r.consolidator(ctx, j.Session)
	switch {
	case errors.Is(err, errNoKey) && r.cfg.Now().Before(j.Created.Add(r.cfg.KeyWait)):
		return r.store.WaitForKey(ctx, j, j.Created.Add(r.cfg.KeyWait), err.Error())
	case err != nil, e.Base == "":
		return r.store.EndConsolidation(ctx, j) // no model: the memories stay as they are
	}
	if until := r.rests.resting(e, r.cfg.Now()); !until.IsZero() {
		return r.store.WaitForKey(ctx, j, until, pauseAsked)
	}
	system, user := lifecycle.ConsolidationPrompt(groups[0])
	if why := r.spare(ctx, e, groups[0].Tenant, system, user); why != "" {
		r.log.Debug("memories not consolidated", "job", j.ID, "why", why)
		return r.store.EndConsolidation(ctx, j) // the next day's sweep finds them again
	}
	_, err = r.merge(ctx, j, e, groups[0], system, user)
	if errors.Is(err, store.ErrForgotten) {
		return r.store.EndConsolidation(ctx, j)
	}
	return err
}

// consolidator says where a consolidation is asked: as the session that taught
// the last of its memories is reflected.
func (r *Runner) consolidator(ctx context.Context, session string) (llm.Endpoint, error) {
	s, err := r.store.FindSession(ctx, session)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return llm.Endpoint{}, fmt.Errorf("read the session: %w", err)
	}
	if s.ID == "" {
		s.ID = session
	}
	return r.endpoint(s)
}

// merge asks for one memory in place of a group's, and writes it if it keeps
// what they say.
func (r *Runner) merge(ctx context.Context, j store.Job, e llm.Endpoint, g lifecycle.Group, system, user string) (store.Memory, error) {
	answer, err := r.call(ctx, r.model, e, g.Tenant, llm.Request{System: system, User: user, Name: lifecycle.ConsolidationName, Schema: lifecycle.ConsolidationSchema})
	if err != nil {
		return store.Memory{}, err
	}
	m, err := lifecycle.Consolidated(g, answer, r.cfg.Now())
	if err != nil {
		return store.Memory{}, &llm.Error{Kind: llm.BadFormat, Reason: "a consolidation that can't be used", Err: err}
	}
	defer r.settle.enter(g.Tenant, g.Scope)()
	kept, err := r.store.Consolidate(ctx, j, m, g.Sources)
	if err != nil {
		return store.Memory{}, fmt.Errorf("write a consolidation: %w", err)
	}
	r.met.written.WithLabelValues("consolidated").Inc()
	r.log.Info("memories consolidated", "memory", kept.ID, "sources", len(g.Sources))
	return kept, nil
}

// Consolidate makes one memory of the episodic memories of each subject that has
// at least two of them, now and without the queue: of one subject, or of all
// where it is empty; in one scope, or in all of the tenant's. Dry, it only says
// which. What can't be consolidated stays and is named with the reason.
func (r *Runner) Consolidate(ctx context.Context, tenant string, sc store.Scope, subject string, dry bool) ([]store.Merge, error) {
	scopes, err := r.scopesOf(ctx, tenant, sc)
	if err != nil {
		return nil, err
	}
	out := []store.Merge{}
	for _, sc := range scopes {
		all, err := r.within(ctx, tenant, sc)
		if err != nil {
			return out, err
		}
		groups := lifecycle.Groups(all, 2, true)
		if subject != "" {
			groups = ofSubject(groups, subject)
		}
		for _, g := range groups {
			m := store.Merge{Scope: sc, Subject: g.Subject}
			for _, s := range g.Sources {
				m.Sources = append(m.Sources, s.ID)
			}
			if !dry {
				if m.Memory, m.Reason, err = r.mergeNow(ctx, g); err != nil {
					return out, err
				}
			}
			out = append(out, m)
		}
	}
	return out, nil
}

func (r *Runner) mergeNow(ctx context.Context, g lifecycle.Group) (m *store.Memory, reason string, err error) {
	e, err := r.consolidator(ctx, g.Session())
	switch {
	case errors.Is(err, errNoKey):
		return nil, errNoKey.Error(), nil
	case err != nil:
		return nil, "", err
	case e.Base == "":
		return nil, "no model is configured that could be asked", nil
	}
	system, user := lifecycle.ConsolidationPrompt(g)
	if why := r.spare(ctx, e, g.Tenant, system, user); why != "" {
		return nil, why, nil
	}
	kept, err := r.merge(ctx, store.Job{}, e, g, system, user)
	var refused *llm.Error
	switch {
	case err == nil:
		return &kept, "", nil
	case errors.As(err, &refused), errors.Is(err, store.ErrStale), errors.Is(err, store.ErrForgotten):
		return nil, err.Error(), nil
	}
	return nil, "", err
}

func (r *Runner) scopesOf(ctx context.Context, tenant string, sc store.Scope) ([]store.Scope, error) {
	if sc != "" {
		return []store.Scope{sc}, nil
	}
	all, err := r.store.Tenants(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the scopes: %w", err)
	}
	var out []store.Scope
	for _, t := range all {
		if t.ID != tenant {
			continue
		}
		for _, s := range t.Scopes {
			out = append(out, s.Scope)
		}
	}
	return out, nil
}

func ofSubject(groups []lifecycle.Group, subject string) []lifecycle.Group {
	return slices.DeleteFunc(groups, func(g lifecycle.Group) bool { return store.Fold(g.Subject) != store.Fold(subject) })
}
