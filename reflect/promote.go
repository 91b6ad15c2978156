package hreflect

import (
	"context"
	"errors"
	"slices"
	"time"

	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// Sharing brings what two users were taught to scopes that others read.
type Sharing interface {
	// Lessons are the live memories of a tenant's users that may be shared.
	Lessons(ctx context.Context, tenant string) ([]store.Memory, error)
	Promote(ctx context.Context, p store.Promotion) (store.Memory, bool, error)
}

// promote looks whether another user was taught what a reflection kept, and
// promotes it where a grant opens a scope for it. What it misses, because the
// process ends here, the next start finds.
func (r *Runner) promote(ctx context.Context, tenant string, kept []string) {
	if len(r.cfg.Shares[tenant]) == 0 || len(kept) == 0 {
		return
	}
	err := r.promoteOf(ctx, tenant, func(m store.Memory) bool { return slices.Contains(kept, m.ID) })
	if err != nil {
		r.trouble("promote what was learned", err)
	}
}

// promoteAll does it for all that is there: what was taught before there was a
// grant, or before the last process was killed.
func (r *Runner) promoteAll(ctx context.Context) {
	for tenant, scopes := range r.cfg.Shares {
		for len(scopes) > 0 && ctx.Err() == nil {
			err := r.promoteOf(ctx, tenant, func(store.Memory) bool { return true })
			if err == nil {
				break
			}
			r.trouble("promote what was learned", err)
			select {
			case <-time.After(r.cfg.Tick): // the store isn't open yet
			case <-ctx.Done():
			}
		}
	}
}

func (r *Runner) promoteOf(ctx context.Context, tenant string, of func(store.Memory) bool) error {
	all, err := r.cfg.Sharing.Lessons(ctx, tenant)
	if err != nil {
		return err
	}
	var mine []store.Memory
	for _, m := range all {
		if of(m) {
			mine = append(mine, m)
		}
	}
	if len(mine) == 0 {
		return nil
	}
	for _, p := range lifecycle.Taught(ctx, mine, all) {
		to, ok := lifecycle.Target(p, r.cfg.Shares[tenant])
		if !ok {
			continue
		}
		m, created, err := r.cfg.Sharing.Promote(ctx, store.Promotion{Tenant: tenant, To: to, Sources: []string{p.A.ID, p.B.ID}})
		switch {
		case errors.Is(err, store.ErrForgotten), errors.Is(err, store.ErrUnshareable), errors.Is(err, store.ErrNotFound):
			continue // a person's word, or changed since it was listed
		case err != nil:
			return err
		}
		if created {
			r.log.Info("lesson promoted", "memory", m.ID)
		}
	}
	return nil
}
