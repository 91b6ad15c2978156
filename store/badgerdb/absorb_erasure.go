package badgerdb

import (
	"context"
	"time"

	"hindsight/store"
)

// absorbErasure erases a scope as it was erased elsewhere: what came after that
// moment stays, what came before isn't taken in any more.
func (s *Store) absorbErasure(ctx context.Context, r *store.SharedRecord) error {
	if s.tenant(r.Tenant) != r.Tenant || r.Time.IsZero() {
		return nil // what this tenant had has gone to another one here
	}
	done := false
	err := s.with(func(h *handle) error {
		at := h.at(r.Tenant, r.Scope)
		s.mu.RLock()
		defer s.mu.RUnlock()
		done = !s.mem.erased[at].Before(r.Time)
		return nil
	})
	if err != nil || done {
		return err
	}
	rec := store.Receipt{Tenant: r.Tenant, Scope: r.Scope}
	return s.eraseUntil(ctx, r.Tenant, r.Scope, r.Time, &rec)
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
