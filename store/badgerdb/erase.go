package badgerdb

import (
	"context"
	"errors"
	"strings"
	"time"

	"hindsight/store"
)

// EraseScope erases all that a scope holds and counts it: memories with their
// revisions and tombstones, sessions with their exchanges, places, anchors,
// ledger, why records and jobs. A user's scope takes the parts of their agents
// with it; the sessions of `user:<id>/agent:<id>` are those that named the
// agent. A mark stays, by which nothing from before this moment is learned
// again. What was promoted from there is made anew in another author's words, or
// goes. Memories of the tenant's other scopes that rest on those sessions or were
// made of those memories lose that evidence, or go where they have none besides.
// The error is store.ErrNotFound for a tenant that has nothing.
//
// When it returns, nothing of the scope can be read any more and, in an encrypted
// directory, the key of it is destroyed; its rows leave the files in the background.
// [Store.Erasure] tells when they have.
func (s *Store) EraseScope(ctx context.Context, tenant string, sc store.Scope) (store.Receipt, error) {
	rec := store.Receipt{Tenant: tenant, Scope: sc}
	err := s.eraseUntil(ctx, tenant, sc, time.Time{}, true, &rec)
	return rec, wrap("erase scope", err)
}

// eraseUntil is EraseScope; with a time it is one that another sidecar did then:
// what came after it stays, and a tenant that is unknown here gets the mark. The fleet
// is told unless it has the erasure already.
func (s *Store) eraseUntil(ctx context.Context, tenant string, sc store.Scope, until time.Time, tell bool, rec *store.Receipt) error {
	if err := s.Flush(ctx); err != nil {
		return err
	}
	err := s.with(func(h *handle) error {
		s.write.Lock()
		defer s.write.Unlock()
		rec.Tenant = s.tenant(tenant)
		return s.erase(h, sc, until, tell, rec)
	})
	if err == nil {
		s.squeezeSoon()
	}
	return err
}

// erase is eraseUntil under the write lock. What rests on the scope elsewhere goes
// first: killed in between, the scope is still there to be erased again.
func (s *Store) erase(h *handle, sc store.Scope, until time.Time, tell bool, rec *store.Receipt) error {
	tenant := rec.Tenant
	scopes, err := s.below(h, tenant, sc)
	if errors.Is(err, store.ErrNotFound) && !until.IsZero() {
		scopes, err = []store.Scope{sc}, nil
	}
	if err != nil {
		return err
	}
	rec.Erased = scopes
	gone := &erased{going: map[place]bool{}, sessions: map[string]bool{}, until: until, tell: tell, stay: map[store.Hash]bool{}}
	all := make([]*eraser, len(scopes))
	for i, sc := range scopes {
		e := &eraser{s: s, h: h, tenant: tenant, scope: sc, rec: rec, gone: gone}
		all[i] = e
		gone.going[e.at()] = true
		if err := s.afterErasure(h, e.at(), gone); err != nil {
			return err
		}
		if err := e.find(); err != nil {
			return err
		}
	}
	err = s.apply(h, &tx{foreign: !gone.tell}, func(t *tx) error {
		rec.Promoted, err = s.unshare(t, tenant, gone.going, func(id string, at place) bool { return gone.takes(h, id, at) })
		rec.Outbox += len(t.shipped)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.followErased(h, tenant, gone, rec); err != nil {
		return err
	}
	if gone.foreign() {
		return s.wipeScopes(h, all)
	}
	return s.hideScopes(h, all)
}

// wipeScopes erases scopes row by row, because some of it came after the erasure
// and stays.
func (s *Store) wipeScopes(h *handle, all []*eraser) error {
	gone, tenant, rec := all[0].gone, all[0].tenant, all[0].rec
	for _, e := range all {
		if err := e.run(); err != nil {
			return err
		}
	}
	rec.ErasedAt, rec.State, rec.OutOfReach = gone.until, store.ErasureSweeping, store.BeyondErasure(h.keys != nil, s.cfg.Share)
	if err := s.apply(h, &tx{}, func(t *tx) error { return s.putReceipt(t, receipt{Receipt: *rec}) }); err != nil {
		return err
	}
	if err := s.dropWaiting(h, tenant, rec.Erased); err != nil {
		return err
	}
	if err := s.shipStaying(h, tenant, rec.Erased, gone); err != nil {
		return err
	}
	s.feed.reset()
	s.tellErased(all)
	return s.reload(h)
}

// below lists a scope and, of a user, the parts of their agents, those first.
func (s *Store) below(h *handle, tenant string, sc store.Scope) ([]store.Scope, error) {
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	v := view{h, txn}
	if _, err := v.row(tenantKey(h, tenant)); err != nil {
		return nil, err
	}
	all, err := v.scopes(tenant)
	if err != nil {
		return nil, err
	}
	var out []store.Scope
	for _, x := range all {
		if strings.HasPrefix(string(x), string(sc)+"/agent:") {
			out = append(out, x)
		}
	}
	return append(out, sc), nil
}

// eraser erases one scope.
type eraser struct {
	s      *Store
	h      *handle
	tenant string
	scope  store.Scope
	rec    *store.Receipt
	dead   map[string]bool // ids of the scope's sessions; false: it goes on
	talks  []conversation  // where they lie
	goesOn []conversation  // those that go on
	gone   *erased
}

func (e *eraser) at() place { return e.h.at(e.tenant, e.scope) }

// users is the place of the scope's user, where their sessions lie.
func (e *eraser) users() (place, bool) {
	user, ok := e.scope.UserOf()
	return e.h.at(e.tenant, store.UserScope(user)), ok
}

// run erases row by row, in as many transactions as it takes: the mark first, the
// scope's own record last.
func (e *eraser) run() error {
	at := e.at()
	err := e.s.apply(e.h, &tx{foreign: !e.gone.tell}, func(t *tx) error { return e.mark(t, e.gone.until) })
	if err != nil {
		return err
	}
	if err := e.s.apply(e.h, &tx{}, func(t *tx) error { return e.s.dropReady(t, at) }); err != nil {
		return err
	}
	if err := e.conversations(); err != nil {
		return err
	}
	for _, f := range []struct {
		family byte
		also   func(*tx, row) ([][]byte, error)
	}{
		{famRevision, e.ofMemory(func(r row) (store.Hash, error) { return store.Hash(r.item.Key()[1+placeLen:]), nil })},
		{famForgotten, e.stone},
		{famText, e.ofMemory(e.saidBy)},
		{famVector, e.ofMemory(func(r row) (store.Hash, error) { return tail(r), nil })},
		{famReadyPart, nil},
		{famUnready, nil},
		{famJob, e.job},
		{famMemory, e.memory},
		{famScope, e.record},
	} {
		if err := e.wipe(join(f.family, at[:]), countOf(e.rec, f.family), f.also); err != nil {
			return err
		}
	}
	return e.s.destroyKey(e.h, at)
}

// mark says that nothing from before a moment is learned again, and tells the
// fleet.
func (e *eraser) mark(t *tx, now time.Time) error {
	at := e.at()
	if err := t.put(join(famErased, at[:]), now, 0, 0); err != nil {
		return err
	}
	return e.s.ship(t, at, waiting{kind: outErasure, tenant: e.tenant, scope: e.scope, time: now})
}

// skip, as the first key, leaves a row alone.
var skip = [][]byte{nil}

// wipe deletes the rows that begin with prefix, and the keys that also names
// for them, and counts them.
func (e *eraser) wipe(prefix []byte, count *int, also func(*tx, row) ([][]byte, error)) error {
	const piece = 500
	seek := prefix
	for seek != nil {
		var next []byte
		err := e.s.apply(e.h, &tx{}, func(t *tx) error {
			var dead [][]byte
			n := 0
			for r := range t.rows(prefix, seek) {
				if n++; n > piece {
					next = r.key()
					break
				}
				keys := [][]byte(nil)
				if also != nil {
					var err error
					if keys, err = also(t, r); err != nil {
						return err
					}
					if len(keys) > 0 && keys[0] == nil {
						continue
					}
				}
				dead = append(append(dead, r.key()), keys...)
				if count != nil {
					*count++
				}
			}
			for _, k := range dead {
				if err := t.room(len(k), 1); err != nil {
					return err
				}
				if err := t.del(k); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		seek = next
	}
	return nil
}

// tailIndex is the by-id key of rows whose key ends in their own hash.
func tailIndex(kind byte) func(row) []byte {
	return func(r row) []byte { return idKey(kind, tail(r)) }
}

func tail(r row) store.Hash {
	k := r.item.Key()
	return store.Hash(k[len(k)-hashLen:])
}

func (e *eraser) memory(t *tx, r row) ([][]byte, error) {
	var m store.Memory
	if err := r.into(&m); err != nil {
		return nil, err
	}
	at, id := place(r.item.Key()[1:]), tail(r)
	if e.gone.stay[id] {
		return skip, nil
	}
	return [][]byte{idKey(byMemory, id), memoryIndex(at, m.CreatedAt, id)}, e.s.setGone(t, id)
}
