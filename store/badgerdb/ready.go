package badgerdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"hindsight/store"
)

// A snapshot of a scope's index lies in parts under a number of its own. Its record,
// written last, makes it the good one; from then on every change of a memory or a
// vector is noted under the number, and reading gives the parts and what was noted.
// Forgetting and erasing take the snapshot away in the same transaction: it is no
// place where words outlive their memory.

// readyRecord says which snapshot is good.
type readyRecord struct {
	ID    uint64 `json:"id"`
	Parts int    `json:"parts"`
	Model byte   `json:"model"` // that made its vectors; 0: it has none
}

// mostUnready is how many changes a new snapshot may lag behind.
const mostUnready = 1000

// errBehind is the error of a snapshot that was overtaken.
var errBehind = errors.New("too much has changed meanwhile")

func readyKey(at place) []byte               { return join(famReady, at[:]) }
func readyParts(at place, id uint64) []byte  { return join(famReadyPart, at[:], u64(id)) }
func unreadyKeys(at place, id uint64) []byte { return join(famUnready, at[:], u64(id)) }

// unready notes that a memory, or its vector, isn't as the snapshot shows it.
func (s *Store) unready(t *tx, at place, memory store.Hash) error {
	s.mu.RLock()
	id, ok := s.mem.ready[at]
	s.mu.RUnlock()
	if !ok {
		return nil
	}
	return t.set(append(unreadyKeys(at, id), memory[:]...), nil, 0, 0)
}

// dropReady takes a scope's snapshot away, and what there is of one that is being
// written. The notes stay: they hold no words, and the next snapshot takes them.
func (s *Store) dropReady(t *tx, at place) error {
	keys := [][]byte{readyKey(at)}
	for r := range t.rows(join(famReadyPart, at[:]), nil) {
		keys = append(keys, r.key())
	}
	s.readyDrops++ // too early is as good: whoever writes one begins anew
	t.after = append(t.after, func() {
		s.mirror(func(st *state) { delete(st.ready, at) })
		s.readyDropped[at] = s.feed.skip()
	})
	for _, k := range keys {
		if err := t.del(k); err != nil {
			return err
		}
	}
	return nil
}

// HasSnapshot says whether a scope has a snapshot, maybe of another form or model
// than is wanted. It reads memory only.
func (s *Store) HasSnapshot(tenant string, sc store.Scope) bool {
	ok := false
	_ = s.with(func(h *handle) error { // a closed store has none
		at := h.at(s.tenant(tenant), sc)
		s.mu.RLock()
		defer s.mu.RUnlock()
		_, ok = s.mem.ready[at]
		return nil
	})
	return ok
}

// ReadSnapshot gives the parts of a scope's snapshot to take, and every memory that
// has changed since, with its vector, to changed. version and seen are those of
// [Store.ScopeVersion] and [Store.VectorVersion] that all of it shows at least. False:
// there is none, or one with the vectors of another model. What take and changed are
// given is theirs until they return; the error may be that of take.
func (s *Store) ReadSnapshot(ctx context.Context, tenant string, sc store.Scope, take func(part []byte) error, changed func(m store.Memory, vector []float32)) (version, seen uint64, ok bool, err error) {
	tenant = s.tenant(tenant)
	version, seen = s.feed.version(scopeName{tenant, sc}), s.VectorVersion(tenant, sc)
	mark := s.vectors.used()
	err = s.view(func(v view) error {
		at := v.h.at(tenant, sc)
		var rec readyRecord
		if err := v.get(readyKey(at), &rec); errors.Is(err, store.ErrNotFound) {
			return nil
		} else if err != nil {
			return err
		}
		if ok = mark == 0 || rec.Model == mark; !ok {
			return nil
		}
		n := 0
		for r := range v.rows(readyParts(at, rec.ID), nil) {
			n++
			if err := r.part(ctx, take); err != nil {
				return err
			}
		}
		if n != rec.Parts {
			return fmt.Errorf("%d parts of %d are there", n, rec.Parts)
		}
		return v.changedSince(ctx, at, rec.ID, mark, changed)
	})
	return version, seen, ok && err == nil, wrap("read a snapshot", err)
}

func (r row) part(ctx context.Context, take func([]byte) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return r.item.Value(func(b []byte) error {
		plain, err := r.v.open(r.item.Key(), b)
		if err != nil {
			return err
		}
		return take(plain)
	})
}

func (v view) changedSince(ctx context.Context, at place, id uint64, mark byte, changed func(store.Memory, []float32)) error {
	var d vectorDecoder
	n := 0
	for r := range v.rows(unreadyKeys(at, id), nil) {
		if n++; n%looked == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		hash := tail(r)
		var m store.Memory
		if err := v.get(memoryKey(at, hash), &m); errors.Is(err, store.ErrNotFound) {
			return errBehind // an erased one takes the snapshot with it
		} else if err != nil {
			return err
		}
		var values []float32
		switch q, err := v.row(vectorKey(at, hash)); {
		case errors.Is(err, store.ErrNotFound) || err == nil && q.meta() != mark:
		case err != nil:
			return err
		default:
			if err := q.vector(&d); err != nil {
				return err
			}
			values = d.values
		}
		changed(m, values)
	}
	return nil
}

// KeepSnapshot replaces a scope's snapshot by one that shows it at version and seen.
// Parts are written one by one, so that other writers get their turn, and count from
// the moment when all are there. It refuses one that is far behind, or from which
// something was forgotten or erased meanwhile; an error leaves the old one in place.
func (s *Store) KeepSnapshot(ctx context.Context, tenant string, sc store.Scope, version, seen uint64, parts iter.Seq2[[]byte, error]) error {
	if err := s.roomToWrite(); err != nil {
		return err
	}
	k := keeper{s: s, name: scopeName{s.tenant(tenant), sc}, version: version, seen: seen, mark: s.vectors.used()}
	return wrap("keep a snapshot", s.with(func(h *handle) error {
		k.h, k.at = h, h.at(k.name.tenant, sc)
		err := k.write(ctx, parts)
		if err != nil {
			return errors.Join(err, s.wipe(h, readyParts(k.at, k.id), 0))
		}
		return k.tidy()
	}))
}

// keeper writes one snapshot.
type keeper struct {
	s             *Store
	h             *handle
	name          scopeName
	at            place
	version, seen uint64
	mark          byte
	id            uint64
	drops         uint64
	parts         int
}

func (k *keeper) write(ctx context.Context, parts iter.Seq2[[]byte, error]) error {
	err := k.s.locked(k.h, func(*tx) error {
		k.s.mu.RLock()
		k.id = max(k.s.mem.ready[k.at]+1, nanos(k.s.now()))
		k.s.mu.RUnlock()
		k.drops = k.s.readyDrops
		_, err := k.behind()
		return err
	})
	if err != nil {
		return err
	}
	for part, err := range parts {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
		err = k.s.locked(k.h, func(t *tx) error {
			if k.s.readyDrops != k.drops {
				return errBehind
			}
			key := append(readyParts(k.at, k.id), u32(uint32(k.parts))...)
			return t.putPlain(key, part, 0, 0)
		})
		if err != nil {
			return err
		}
		k.parts++
	}
	return k.s.locked(k.h, k.declare)
}

// declare makes the snapshot the good one, with what has changed since it was made.
func (k *keeper) declare(t *tx) error {
	if k.s.readyDrops != k.drops {
		return errBehind
	}
	ids, err := k.behind()
	if err != nil {
		return err
	}
	for _, id := range ids {
		hash := k.h.memory(id)
		if err := t.set(append(unreadyKeys(k.at, k.id), hash[:]...), nil, 0, 0); err != nil {
			return err
		}
	}
	t.after = append(t.after, func() {
		k.s.mirror(func(st *state) { st.ready[k.at] = k.id })
	})
	return t.put(readyKey(k.at), readyRecord{ID: k.id, Parts: k.parts, Model: k.mark}, 0, 0)
}

// behind lists the memories that have changed since; the error is errBehind where
// they are too many, can't be told any more, or one of them is gone. It needs the
// write lock: then all commits are told.
func (k *keeper) behind() ([]string, error) {
	ids, _, ok := k.s.feed.after(k.name, k.version)
	if !ok || k.version < k.s.readyDropped[k.at] {
		return nil, errBehind
	}
	if k.seen != 0 {
		more, _, ok := k.s.vectors.feed.after(k.name, k.seen)
		if !ok || k.s.vectors.used() != k.mark {
			return nil, errBehind
		}
		ids = append(ids, more...)
	} else {
		k.mark = 0
	}
	if len(ids) > mostUnready {
		return nil, errBehind
	}
	k.s.mu.RLock()
	defer k.s.mu.RUnlock()
	for _, id := range ids {
		if _, gone := k.s.mem.gone[k.h.memory(id)]; gone {
			return nil, errBehind
		}
	}
	return ids, nil
}

// tidy removes what other snapshots left.
func (k *keeper) tidy() error {
	for _, prefix := range [][]byte{join(famReadyPart, k.at[:]), join(famUnready, k.at[:])} {
		if err := k.s.wipe(k.h, prefix, k.id); err != nil {
			return err
		}
	}
	return nil
}

// wipe deletes the rows under a prefix but those of one snapshot, in as many
// transactions as it takes.
func (s *Store) wipe(h *handle, prefix []byte, but uint64) error {
	const piece = 500
	for seek := prefix; seek != nil; {
		var dead [][]byte
		err := s.locked(h, func(t *tx) error {
			from := seek
			seek = nil
			for r := range t.rows(prefix, from) {
				k := r.key()
				if len(dead) == piece {
					seek = k
					break
				}
				if binary.BigEndian.Uint64(k[1+placeLen:]) != but {
					dead = append(dead, k)
				}
			}
			for _, k := range dead {
				if err := t.del(k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("remove old snapshots: %w", err)
		}
	}
	return nil
}
