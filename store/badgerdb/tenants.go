package badgerdb

import (
	"context"
	"sort"

	"hindsight/store"
)

// tenantRecord names a tenant. Alias is where LinkTenants sent it.
type tenantRecord struct {
	ID    string `json:"id"`
	Alias string `json:"alias,omitempty"`
}

// scopeRecord names a scope.
type scopeRecord struct {
	Scope store.Scope `json:"scope"`
}

func tenantKey(h *handle, tenant string) []byte {
	t := h.tenant(tenant)
	return join(famTenant, t[:], make([]byte, hashLen))
}

// ensureScope makes the records of a scope and its tenant with the first thing
// that is written there. at is its place.
func (s *Store) ensureScope(t *tx, at place, tenant string, sc store.Scope) error {
	s.mu.RLock()
	_, ok := s.mem.scopes[at]
	s.mu.RUnlock()
	if ok {
		return nil
	}
	if err := t.put(tenantKey(t.h, tenant), tenantRecord{ID: tenant}, 0, 0); err != nil {
		return err
	}
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { st.scopes[at] = struct{}{} })
	})
	return t.put(join(famScope, at[:]), scopeRecord{sc}, 0, 0)
}

// tenants lists the tenants that aren't linked to another.
func (v view) tenants() ([]string, error) {
	var out []string
	for r := range v.rows([]byte{famTenant}, nil) {
		var rec tenantRecord
		if err := r.into(&rec); err != nil {
			return nil, err
		}
		if rec.Alias == "" {
			out = append(out, rec.ID)
		}
	}
	sort.Strings(out)
	return out, nil
}

// scopes lists the scopes of a tenant in which something was ever written.
func (v view) scopes(tenant string) ([]store.Scope, error) {
	t := v.h.tenant(tenant)
	var out []store.Scope
	for r := range v.rows(join(famScope, t[:]), nil) {
		var rec scopeRecord
		if err := r.into(&rec); err != nil {
			return nil, err
		}
		out = append(out, rec.Scope)
	}
	sort.Slice(out, func(i, j int) bool { return out[i] < out[j] })
	return out, nil
}

// Tenants lists all tenants with what their scopes hold.
func (s *Store) Tenants(ctx context.Context) ([]store.Tenant, error) {
	out := []store.Tenant{}
	err := s.view(func(v view) error {
		ids, err := v.tenants()
		if err != nil {
			return err
		}
		for _, id := range ids {
			if err := ctx.Err(); err != nil {
				return err
			}
			t, err := v.count(id)
			if err != nil {
				return err
			}
			out = append(out, t)
		}
		return nil
	})
	return out, wrap("list tenants", err)
}

func (v view) count(tenant string) (store.Tenant, error) {
	t := store.Tenant{ID: tenant, Scopes: []store.ScopeCount{}}
	scopes, err := v.scopes(tenant)
	if err != nil {
		return t, err
	}
	sessions := map[store.Scope]int{}
	h := v.h.tenant(tenant)
	for r := range v.rows(join(famSession, h[:]), nil) {
		x, err := r.session()
		if err != nil {
			return t, err
		}
		sessions[x.Owner.SkillScope()]++
	}
	// The index by time holds each memory's scope and state; the records beside it
	// are a hundred times as large.
	memories := map[string]map[store.State]int{}
	for r := range v.rows(join(famMemories, h[:]), nil) {
		at, err := r.raw()
		if err != nil {
			return t, err
		}
		if memories[string(at)] == nil {
			memories[string(at)] = map[store.State]int{}
		}
		memories[string(at)][markedState(r.meta())]++
	}
	for _, sc := range scopes {
		at := v.h.at(tenant, sc)
		c := store.ScopeCount{Scope: sc, Memories: memories[string(at.scope())], Sessions: sessions[sc]}
		if c.Memories == nil {
			c.Memories = map[store.State]int{}
		}
		t.Scopes = append(t.Scopes, c)
	}
	return t, nil
}

// TenantNames lists the tenants that aren't linked to another.
func (s *Store) TenantNames(_ context.Context) (names []string, err error) {
	err = s.view(func(v view) (err error) {
		names, err = v.tenants()
		return err
	})
	return names, wrap("list tenants", err)
}

// Scopes lists the scopes of a tenant in which something was ever written.
func (s *Store) Scopes(_ context.Context, tenant string) (scopes []store.Scope, err error) {
	err = s.view(func(v view) (err error) {
		scopes, err = v.scopes(s.tenant(tenant))
		return err
	})
	return scopes, wrap("list scopes", err)
}

// TenantAlias tells where LinkTenants sent a tenant; else it is itself.
func (s *Store) TenantAlias(_ context.Context, tenant string) (string, error) {
	to := ""
	err := s.with(func(*handle) error {
		to = s.tenant(tenant)
		return nil
	})
	return to, wrap("find tenant", err)
}
