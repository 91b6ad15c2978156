package badgerdb

import (
	"errors"

	"hindsight/store"
)

// What of a scope came after an erasure that another sidecar did, and stays.

// afterErasure finds the memories of a place that stay.
func (s *Store) afterErasure(h *handle, at place, gone *erased) error {
	if !gone.foreign() {
		return nil
	}
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	for r := range (view{h, txn}).rows(join(famMemory, at[:]), nil) {
		var m store.Memory
		if err := r.into(&m); err != nil {
			return err
		}
		if gone.keeps(m.CreatedAt) {
			gone.stay[tail(r)] = true
		}
	}
	return nil
}

// ofMemory passes over the rows of memories that stay.
func (e *eraser) ofMemory(of func(row) (store.Hash, error)) func(*tx, row) ([][]byte, error) {
	if len(e.gone.stay) == 0 {
		return nil
	}
	return func(_ *tx, r row) ([][]byte, error) {
		id, err := of(r)
		if err == nil && e.gone.stay[id] {
			return skip, nil
		}
		return nil, err
	}
}

// saidBy is the memory that says a text.
func (e *eraser) saidBy(r row) (store.Hash, error) {
	id, err := r.plain()
	return e.h.memory(string(id)), err
}

func (e *eraser) stone(_ *tx, r row) ([][]byte, error) {
	var x tombstone
	err := r.into(&x)
	if err == nil && e.gone.keeps(x.Time) {
		return skip, nil
	}
	return nil, err
}

func (e *eraser) job(_ *tx, r row) ([][]byte, error) {
	var j store.Job
	if err := r.into(&j); err != nil {
		return nil, err
	}
	if e.gone.keeps(j.Created) {
		return skip, nil
	}
	return [][]byte{idKey(byJob, tail(r))}, nil
}

// record is the scope's own, which stays where something does.
func (e *eraser) record(*tx, row) ([][]byte, error) {
	if len(e.gone.stay)+len(e.goesOn) > 0 {
		return skip, nil
	}
	return nil, nil
}

// countAnew brings the records of sessions that go on up to date.
func (e *eraser) countAnew() error {
	for _, at := range e.goesOn {
		err := e.s.apply(e.h, &tx{}, func(t *tx) error {
			x, err := t.session(at)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := e.s.passCursor(t, at, &x, x.Cursor); err != nil {
				return err
			}
			t.putSession(at, x)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// shipStaying enrols what lies where another sidecar has erased: it emptied the
// scope in the shared store, maybe with what had come there since.
func (s *Store) shipStaying(h *handle, tenant string, scopes []store.Scope, gone *erased) error {
	if !gone.foreign() {
		return nil
	}
	done := map[place]bool{}
	for _, sc := range scopes {
		all := []place{h.at(tenant, sc)}
		if user, ok := sc.UserOf(); ok {
			all = append(all, h.at(tenant, store.UserScope(user)))
		}
		for _, at := range all {
			if done[at] {
				continue
			}
			done[at] = true
			if err := s.enrolAll(h, at[:]); err != nil {
				return err
			}
		}
	}
	return nil
}
