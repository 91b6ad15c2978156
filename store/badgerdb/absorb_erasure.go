package badgerdb

import (
	"context"
	"time"

	"hindsight/store"
)

// absorbErasure erases a scope as it was erased elsewhere: what came after that
// moment stays, what came before isn't taken in any more. What the tenant had may
// have gone to another one here: then it is erased there.
func (s *Store) absorbErasure(ctx context.Context, r *store.SharedRecord) error {
	if r.Time.IsZero() {
		return nil
	}
	tenant := s.tenant(r.Tenant)
	done := false
	err := s.with(func(h *handle) error {
		at := h.at(tenant, r.Scope)
		s.mu.RLock()
		defer s.mu.RUnlock()
		done = !s.mem.erased[at].Before(r.Time)
		return nil
	})
	if err != nil || done {
		return err
	}
	rec := store.Receipt{Tenant: tenant, Scope: r.Scope}
	return s.eraseUntil(ctx, tenant, r.Scope, r.Time, tenant != r.Tenant, &rec)
}

// scopeErased is when a scope was last erased, by itself or as an agent's part of
// a user's.
func (s *Store) scopeErased(h *handle, tenant string, sc store.Scope) time.Time {
	at := h.at(tenant, sc)
	s.mu.RLock()
	defer s.mu.RUnlock()
	erased := s.mem.erased[at]
	if user, ok := sc.UserOf(); ok && sc != store.UserScope(user) {
		erased = latest(erased, s.mem.erased[h.at(tenant, store.UserScope(user))])
	}
	return erased
}
