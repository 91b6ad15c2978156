package badgerdb

import (
	"errors"
	"slices"
	"time"

	"hindsight/store"
)

// moveErasures takes along what a tenant's erasures left: that nothing from before
// them is learned again, and their receipts, also of scopes that have nothing else
// any more. Of two of one scope the later counts.
func (s *Store) moveErasures(h *handle, from, to string, scopes []store.Scope) error {
	return s.apply(h, &tx{}, func(t *tx) error {
		tenant := h.tenant(from)
		var receipts []store.Receipt
		for r := range t.rows(join(famReceipt, tenant[:]), nil) {
			var rec store.Receipt
			if err := r.into(&rec); err != nil {
				return err
			}
			receipts = append(receipts, rec)
		}
		scopes := slices.Clone(scopes)
		for _, rec := range receipts {
			scopes = append(scopes, rec.Erased...)
			var there store.Receipt
			if err := t.get(receiptKey(h, to, rec.Scope), &there); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			if there.ErasedAt.Before(rec.ErasedAt) { // it keeps its tenant: what is swept lies there
				if err := t.put(receiptKey(h, to, rec.Scope), rec, 0, keepSession); err != nil {
					return err
				}
			}
			if err := t.del(receiptKey(h, from, rec.Scope)); err != nil {
				return err
			}
		}
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
