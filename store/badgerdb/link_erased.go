package badgerdb

import (
	"errors"
	"slices"
	"time"

	"hindsight/store"
)

// moveErasures takes along what a tenant's erasures left: that nothing from before
// them is learned again, and their receipts, also of scopes that have nothing else
// any more.
func (s *Store) moveErasures(h *handle, from, to string, scopes []store.Scope) error {
	return s.apply(h, &tx{}, func(t *tx) error {
		erased, err := s.moveReceipts(t, from, to)
		if err != nil {
			return err
		}
		scopes := append(slices.Clone(scopes), erased...)
		slices.Sort(scopes)
		for _, sc := range slices.Compact(scopes) {
			if err := moveMark(t, h.at(from, sc), h.at(to, sc)); err != nil {
				return err
			}
		}
		return nil
	})
}

// moveMark moves the mark of an erasure.
func moveMark(t *tx, from, to place) error {
	var was, is time.Time
	if err := t.get(join(famErased, from[:]), &was); errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	if err := t.get(join(famErased, to[:]), &is); err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if is.Before(was) {
		if err := t.put(join(famErased, to[:]), was, 0, 0); err != nil {
			return err
		}
	}
	return t.del(join(famErased, from[:]))
}
