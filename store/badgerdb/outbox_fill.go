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
	for _, f := range []struct {
		family byte
		name   func(*tx, row) (waiting, error)
	}{
		{famForgotten, func(_ *tx, r row) (waiting, error) { return waiting{kind: outTombstone, hash: behind(r)}, nil }},
		{famMemory, func(_ *tx, r row) (waiting, error) {
			var m store.Memory
			err := r.into(&m)
			return waiting{kind: outMemory, id: m.ID}, err
		}},
		{famExchange, func(_ *tx, r row) (waiting, error) { return waiting{kind: outExchange, hash: behind(r)}, nil }},
		{famLedger, func(_ *tx, r row) (waiting, error) { return waiting{kind: outLedger, hash: behind(r)}, nil }},
	} {
		for seek := join(f.family, at); seek != nil; {
			from := seek
			seek = nil
			err := s.apply(h, &tx{}, func(t *tx) error {
				type found struct {
					at place
					w  waiting
				}
				var list []found
				for r := range t.rows(join(f.family, at), from) {
					if len(list) == 500 {
						seek = r.key()
						break
					}
					w, err := f.name(t, r)
					if err != nil {
						return err
					}
					list = append(list, found{place(r.item.Key()[1:]), w})
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
	for seek := join(famMemory, m.to[:]); seek != nil; {
		at := seek
		seek = nil
		err := s.apply(m.h, &tx{}, func(t *tx) error {
			var ids []string
			for r := range t.rows(join(famMemory, m.to[:]), at) {
				if len(ids) == 500 {
					seek = r.key()
					break
				}
				var x store.Memory
				if err := r.into(&x); err != nil {
					return err
				}
				ids = append(ids, x.ID)
			}
			for _, id := range ids {
				if err := s.enrol(t, m.from, waiting{kind: outMoved, id: id, tenant: from, scope: sc}); err != nil {
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
