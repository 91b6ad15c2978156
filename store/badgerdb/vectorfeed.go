package badgerdb

import (
	"context"
	"errors"

	"hindsight/store"
)

// VectorVersion grows with every change of a scope's vectors; it is 0 while no
// model is in use. It costs a map look-up.
func (s *Store) VectorVersion(tenant string, sc store.Scope) uint64 {
	if s.vectors.used() == 0 {
		return 0
	}
	return s.vectors.feed.version(scopeName{s.tenant(tenant), sc})
}

// ScopeVectors gives all vectors of a scope that are of the model in use, and the
// version that they have at least. values may be used until take returns.
func (s *Store) ScopeVectors(ctx context.Context, tenant string, sc store.Scope, take func(id string, values []float32)) (uint64, error) {
	tenant = s.tenant(tenant)
	version := s.vectors.feed.version(scopeName{tenant, sc})
	mark := s.vectors.used()
	if mark == 0 {
		return version, nil
	}
	var d vectorDecoder
	err := s.view(func(v view) error {
		at := v.h.at(tenant, sc)
		n := 0
		for r := range v.rows(join(famVector, at[:]), nil) {
			if n++; n%looked == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if r.meta() != mark {
				continue
			}
			if err := r.vector(&d); err != nil {
				return err
			}
			take(d.id, d.values)
		}
		return nil
	})
	return version, wrap("list the vectors of a scope", err)
}

// VectorChanges gives the vectors of a scope that changed after a version, as they
// are now, and the version that this reaches; values are nil where there is none
// any more. False: too far back, or the store is closed; read the scope anew.
func (s *Store) VectorChanges(tenant string, sc store.Scope, since uint64, take func(id string, values []float32)) (uint64, bool) {
	tenant = s.tenant(tenant)
	mark := s.vectors.used()
	ids, version, ok := s.vectors.feed.after(scopeName{tenant, sc}, since)
	if !ok {
		return version, false
	}
	var d vectorDecoder
	err := s.view(func(v view) error {
		at := v.h.at(tenant, sc)
		for _, id := range ids {
			r, err := v.row(vectorKey(at, v.h.memory(id)))
			switch {
			case errors.Is(err, store.ErrNotFound) || err == nil && r.meta() != mark:
				take(id, nil)
			case err != nil:
				return err
			default:
				if err := r.vector(&d); err != nil {
					return err
				}
				take(id, d.values)
			}
		}
		return nil
	})
	return version, err == nil
}
