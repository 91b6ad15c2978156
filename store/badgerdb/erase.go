package badgerdb

import (
	"context"
	"strings"

	"hindsight/store"
)

// EraseScope removes all that a scope holds and counts it: memories with their
// revisions and tombstones, sessions with their exchanges, places, anchors,
// ledger, why records and jobs. A user's scope takes the parts of their agents
// with it; the sessions of `user:<id>/agent:<id>` are those that named the
// agent. A mark stays, by which nothing from before this moment is learned
// again. What was promoted from there is made anew in another author's words, or
// goes. Memories of the tenant's other scopes that rest on those sessions or were
// made of those memories lose that evidence, or go where they have none besides.
// The error is store.ErrNotFound for a tenant that has nothing. It holds
// all writes up while it works.
func (s *Store) EraseScope(ctx context.Context, tenant string, sc store.Scope) (store.Receipt, error) {
	rec := store.Receipt{Tenant: tenant, Scope: sc}
	if err := s.Flush(ctx); err != nil {
		return rec, wrap("erase scope", err)
	}
	err := s.with(func(h *handle) error {
		s.write.Lock()
		defer s.write.Unlock()
		tenant := s.tenant(tenant)
		rec.Tenant = tenant
		scopes, err := s.below(h, tenant, sc)
		if err != nil {
			return err
		}
		going := map[place]bool{}
		for _, sc := range scopes {
			going[h.at(tenant, sc)] = true
		}
		err = s.apply(h, &tx{}, func(t *tx) error {
			rec.Promoted, err = s.unshare(t, tenant, func(_ string, at place) bool { return going[at] })
			return err
		})
		if err != nil {
			return err
		}
		gone := erased{sessions: map[string]bool{}}
		for _, sc := range scopes {
			e := eraser{s: s, h: h, tenant: tenant, scope: sc, rec: &rec, gone: &gone}
			if err := e.run(); err != nil {
				return err
			}
			rec.Erased = append(rec.Erased, sc)
		}
		if err := s.followErased(h, tenant, &gone, &rec); err != nil {
			return err
		}
		s.feed.reset()
		return s.reload(h)
	})
	if err == nil {
		s.squeezeSoon()
	}
	return rec, wrap("erase scope", err)
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

// eraser erases one scope, in as many transactions as it takes: the mark first,
// the scope's own record last.
type eraser struct {
	s      *Store
	h      *handle
	tenant string
	scope  store.Scope
	rec    *store.Receipt
	dead   map[string]bool // ids of the sessions that go
	gone   *erased
}

func (e *eraser) run() error {
	at := e.h.at(e.tenant, e.scope)
	err := e.s.apply(e.h, &tx{}, func(t *tx) error {
		return t.put(join(famErased, at[:]), e.s.now(), 0, 0)
	})
	if err != nil {
		return err
	}
	if err := e.s.apply(e.h, &tx{}, func(t *tx) error { return e.s.dropReady(t, at) }); err != nil {
		return err
	}
	if user, ok := e.scope.UserOf(); ok {
		if err := e.conversations(e.h.at(e.tenant, store.UserScope(user))); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		family byte
		count  *int
		also   func(*tx, row) ([][]byte, error)
	}{
		{famRevision, &e.rec.Revisions, nil},
		{famForgotten, &e.rec.Tombstones, nil},
		{famText, nil, nil},
		{famVector, nil, nil},
		{famReadyPart, nil, nil},
		{famUnready, nil, nil},
		{famJob, &e.rec.Jobs, func(_ *tx, r row) ([][]byte, error) { return [][]byte{idKey(byJob, tail(r))}, nil }},
		{famMemory, &e.rec.Memories, e.memory},
		{famScope, nil, nil},
	} {
		if err := e.wipe(join(f.family, at[:]), f.count, f.also); err != nil {
			return err
		}
	}
	return nil
}

// conversations erases the scope's sessions and what belongs to them. at is the
// place of their user.
func (e *eraser) conversations(at place) error {
	e.dead = map[string]bool{}
	var list []conversation
	txn := e.h.db.NewTransaction(false)
	defer txn.Discard()
	for r := range (view{e.h, txn}).rows(join(famSession, at[:]), nil) {
		x, err := r.session()
		if err != nil {
			return err
		}
		if x.Owner.SkillScope() == e.scope {
			e.dead[x.ID], e.gone.sessions[x.ID] = true, true
			list = append(list, conversation(r.key()[1:]))
		}
	}
	for _, c := range list {
		for _, f := range []struct {
			family byte
			count  *int
			also   func(*tx, row) ([][]byte, error)
		}{
			{famPlaces, nil, e.places},
			{famExchange, &e.rec.Exchanges, e.exchange},
		} {
			if err := e.wipe(join(f.family, c[:]), f.count, f.also); err != nil {
				return err
			}
		}
	}
	for _, f := range []struct {
		prefix []byte
		count  *int
		also   func(*tx, row) ([][]byte, error)
	}{
		{join(famLedger, at[:]), &e.rec.Ledger, ofSession(e, func(x *store.LedgerEntry) string { return x.Session }, nil)},
		{join(famWhy, at[:]), &e.rec.Why, ofSession(e, func(x *store.Why) string { return x.Session }, tailIndex(byWhy))},
		{join(famAnchor, at[:]), &e.rec.Anchors, e.anchor},
		{join(famJob, at[:]), &e.rec.Jobs, ofSession(e, func(x *store.Job) string { return x.Session }, tailIndex(byJob))},
		{join(famBegun, at[:]), &e.rec.Exchanges, e.begun},
		{[]byte{famReflected}, nil, e.reflected(list)},
		{join(famSession, at[:]), &e.rec.Sessions, e.session},
	} {
		if err := e.wipe(f.prefix, f.count, f.also); err != nil {
			return err
		}
	}
	return nil
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

// ofSession passes the rows whose value names a session that goes, or, in the
// user's own scope, one that isn't there at all.
func ofSession[T any](e *eraser, of func(*T) string, index func(row) []byte) func(*tx, row) ([][]byte, error) {
	return func(_ *tx, r row) ([][]byte, error) {
		var x T
		if err := r.into(&x); err != nil {
			return nil, err
		}
		if !e.takes(of(&x)) {
			return skip, nil
		}
		if index == nil {
			return nil, nil
		}
		return [][]byte{index(r)}, nil
	}
}

// takes says whether what belongs to a session goes. The user's own scope comes
// after the agents' and takes the rest.
func (e *eraser) takes(session string) bool {
	return e.dead[session] || !strings.Contains(string(e.scope), "/")
}

// tailIndex is the by-id key of rows whose key ends in their own hash.
func tailIndex(kind byte) func(row) []byte {
	return func(r row) []byte { return idKey(kind, tail(r)) }
}

func tail(r row) store.Hash {
	k := r.item.Key()
	return store.Hash(k[len(k)-hashLen:])
}

func (e *eraser) session(_ *tx, r row) ([][]byte, error) {
	x, err := r.session()
	if err != nil {
		return nil, err
	}
	if !e.dead[x.ID] {
		return skip, nil
	}
	at, id := place(r.item.Key()[1:]), tail(r)
	return append(byIDKeys(&x, id), join(famSessions, at.tenant(), descending(x.Started), id[:])), nil
}

// byIDKeys is the session's row of the index by id, if it has one.
func byIDKeys(x *store.Session, id store.Hash) [][]byte {
	if _, drawn := store.DrawnAt(x.ID); drawn {
		return nil
	}
	return [][]byte{idKey(bySession, id)}
}

func (e *eraser) exchange(_ *tx, r row) ([][]byte, error) {
	seq := seqOf(r.item.Key()[1:])
	x, err := r.exchange(seq, nil)
	if err != nil {
		return nil, err
	}
	e.rec.Places += len(x.Places)
	keys, err := r.partKeys(seq)
	if x.ID != "" {
		keys = append(keys, idKey(byExchange, e.h.exchange(x.ID)))
	}
	return keys, err
}

func (e *eraser) places(_ *tx, r row) ([][]byte, error) {
	places, err := r.places()
	e.rec.Places += len(places)
	return nil, err
}

func (e *eraser) anchor(_ *tx, r row) ([][]byte, error) {
	a, err := r.anchor()
	if err != nil || e.takes(a.Session) {
		return nil, err
	}
	return skip, nil
}

func (e *eraser) begun(_ *tx, r row) ([][]byte, error) {
	b, err := r.exchange(0, nil)
	if err != nil {
		return nil, err
	}
	if b.Owner.SkillScope() != e.scope && !e.takes(b.Session) {
		return skip, nil
	}
	return r.partKeys(0)
}

func (e *eraser) reflected(list []conversation) func(*tx, row) ([][]byte, error) {
	gone := map[conversation]bool{}
	for _, c := range list {
		gone[c] = true
	}
	return func(_ *tx, r row) ([][]byte, error) {
		if !gone[conversation(r.item.Key()[9:])] {
			return skip, nil
		}
		return nil, nil
	}
}

func (e *eraser) memory(t *tx, r row) ([][]byte, error) {
	var m store.Memory
	if err := r.into(&m); err != nil {
		return nil, err
	}
	at, id := place(r.item.Key()[1:]), tail(r)
	e.gone.ids = append(e.gone.ids, m.ID)
	return [][]byte{idKey(byMemory, id), memoryIndex(at, m.CreatedAt, id)}, e.s.setGone(t, id)
}
