package badgerdb

import (
	"errors"

	"hindsight/store"
)

// sharedFact says that all that is in the directory has had its row in the
// outbox. While it is used alone the fact is missing, because changes leave none.
const sharedFact = "shared"

// beginSharing enrols what a directory holds from the time before it was one of
// a fleet's. Killed in between, it begins anew: rows of one thing are one.
func (s *Store) beginSharing(h *handle) error {
	key := factKey(h, sharedFact)
	known := false
	s.write.Lock()
	defer s.write.Unlock()
	err := s.apply(h, &tx{}, func(t *tx) error {
		_, err := t.row(key)
		if known = err == nil; known && !s.cfg.Share {
			return t.del(key)
		}
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil || known || !s.cfg.Share {
		return err
	}
	if err := s.enrolAll(h, nil); err != nil {
		return err
	}
	return s.apply(h, &tx{}, func(t *tx) error { return t.set(key, []byte("1"), 0, 0) })
}

// enrolAll enrols all that lies at places that begin with some bytes: memories,
// exchanges, blocks and tombstones.
func (s *Store) enrolAll(h *handle, at []byte) error {
	by := func(kind uint64) func(row) (place, waiting, error) {
		return func(r row) (place, waiting, error) {
			return place(r.item.Key()[1:]), waiting{kind: kind, hash: behind(r)}, nil
		}
	}
	memory := func(r row) (place, waiting, error) {
		var m store.Memory
		err := r.into(&m)
		return place(r.item.Key()[1:]), waiting{kind: outMemory, id: m.ID}, err
	}
	for _, f := range []struct {
		family byte
		name   func(row) (place, waiting, error)
	}{
		{famForgotten, by(outTombstone)}, {famMemory, memory}, {famExchange, by(outExchange)}, {famLedger, by(outLedger)},
	} {
		if err := s.enrolRows(h, join(f.family, at), f.name); err != nil {
			return err
		}
	}
	return nil
}

// enrolRows enrols what name makes of the rows that begin with prefix, 500 in a
// transaction.
func (s *Store) enrolRows(h *handle, prefix []byte, name func(row) (place, waiting, error)) error {
	type found struct {
		at place
		w  waiting
	}
	for seek := prefix; seek != nil; {
		from := seek
		seek = nil
		err := s.apply(h, &tx{}, func(t *tx) error {
			var list []found
			for r := range t.rows(prefix, from) {
				if len(list) == 500 {
					seek = r.key()
					break
				}
				at, w, err := name(r)
				if err != nil {
					return err
				}
				list = append(list, found{at, w})
			}
			for _, x := range list {
				if err := s.enrol(t, x.at, x.w); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// behind is what follows a key's place.
func behind(r row) []byte { return r.key()[1+placeLen:] }

// shipMoved enrols a scope that has come from another tenant, and has its
// memories taken away from there. What waited there has nothing to name any more.
func (s *Store) shipMoved(m mover, from string, sc store.Scope) error {
	if !s.cfg.Share {
		return nil
	}
	if err := s.enrolAll(m.h, m.to[:]); err != nil {
		return err
	}
	return s.enrolRows(m.h, join(famMemory, m.to[:]), func(r row) (place, waiting, error) {
		var x store.Memory
		err := r.into(&x)
		return m.from, waiting{kind: outMoved, id: x.ID, tenant: from, scope: sc}, err
	})
}

// dropWaiting takes the rows of erased scopes away that have nothing to name any
// more, and those of memories that went before: the erasure says it all.
func (s *Store) dropWaiting(h *handle, tenant string, scopes []store.Scope) error {
	if !s.cfg.Share {
		return nil
	}
	at := map[place]bool{}
	for _, sc := range scopes {
		at[h.at(tenant, sc)] = true
		if user, ok := sc.UserOf(); ok {
			at[h.at(tenant, store.UserScope(user))] = true
		}
	}
	var dead []delivered
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	v := view{h, txn}
	for r := range v.rows([]byte{famOutbox}, nil) {
		p := outboxPlace(r.item.Key())
		if !at[p] {
			continue
		}
		w, err := r.waiting()
		if err != nil {
			return err
		}
		_, err = s.shipment(v, p, &w)
		if errors.Is(err, store.ErrNotFound) || w.kind == outGone && s.tooOld(p, w.time) {
			dead = append(dead, delivered{r.key(), w.thing(p), outboxSeq(r.item.Key())})
		} else if err != nil {
			return err
		}
	}
	return s.apply(h, &tx{}, func(t *tx) error { return s.settleRows(t, dead) })
}
