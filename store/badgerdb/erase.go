package badgerdb

import (
	"context"
	"errors"
	"strings"
	"time"

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
	return rec, wrap("erase scope", s.eraseUntil(ctx, tenant, sc, time.Time{}, &rec))
}

// eraseUntil is EraseScope; with a time it is one that another sidecar did then:
// what came after it stays, and a tenant that is unknown here gets the mark.
func (s *Store) eraseUntil(ctx context.Context, tenant string, sc store.Scope, until time.Time, rec *store.Receipt) error {
	if err := s.Flush(ctx); err != nil {
		return err
	}
	err := s.with(func(h *handle) error {
		s.write.Lock()
		defer s.write.Unlock()
		tenant := s.tenant(tenant)
		rec.Tenant = tenant
		scopes, err := s.below(h, tenant, sc)
		if errors.Is(err, store.ErrNotFound) && !until.IsZero() {
			scopes, err = []store.Scope{sc}, nil
		}
		if err != nil {
			return err
		}
		gone := erased{sessions: map[string]bool{}, until: until, stay: map[store.Hash]bool{}}
		going := map[place]bool{}
		for _, sc := range scopes {
			at := h.at(tenant, sc)
			going[at] = true
			if err := s.afterErasure(h, at, &gone); err != nil {
				return err
			}
		}
		err = s.apply(h, &tx{foreign: gone.foreign()}, func(t *tx) error {
			rec.Promoted, err = s.unshare(t, tenant, func(id string, at place) bool { return going[at] && !gone.stay[h.memory(id)] })
			return err
		})
		if err != nil {
			return err
		}
		for _, sc := range scopes {
			e := eraser{s: s, h: h, tenant: tenant, scope: sc, rec: rec, gone: &gone}
			if err := e.run(); err != nil {
				return err
			}
			rec.Erased = append(rec.Erased, sc)
		}
		if err := s.followErased(h, tenant, &gone, rec); err != nil {
			return err
		}
		if err := s.dropWaiting(h, tenant, scopes); err != nil {
			return err
		}
		if err := s.shipStaying(h, tenant, scopes, &gone); err != nil {
			return err
		}
		s.feed.reset()
		return s.reload(h)
	})
	if err == nil {
		s.squeezeSoon()
	}
	return err
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
	dead   map[string]bool // ids of the scope's sessions; false: it goes on
	goesOn []conversation
	gone   *erased
}

func (e *eraser) run() error {
	at := e.h.at(e.tenant, e.scope)
	err := e.s.apply(e.h, &tx{foreign: e.gone.foreign()}, func(t *tx) error {
		now := e.gone.until
		if now.IsZero() {
			now = e.s.now()
		}
		if err := t.put(join(famErased, at[:]), now, 0, 0); err != nil {
			return err
		}
		return e.s.ship(t, at, waiting{kind: outErasure, tenant: e.tenant, scope: e.scope, time: now})
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
		{famRevision, &e.rec.Revisions, e.ofMemory(func(r row) (store.Hash, error) { return store.Hash(r.item.Key()[1+placeLen:]), nil })},
		{famForgotten, &e.rec.Tombstones, e.stone},
		{famText, nil, e.ofMemory(e.saidBy)},
		{famVector, nil, e.ofMemory(func(r row) (store.Hash, error) { return tail(r), nil })},
		{famReadyPart, nil, nil},
		{famUnready, nil, nil},
		{famJob, &e.rec.Jobs, e.job},
		{famMemory, &e.rec.Memories, e.memory},
		{famScope, nil, e.record},
	} {
		if err := e.wipe(join(f.family, at[:]), f.count, f.also); err != nil {
			return err
		}
	}
	return e.s.destroyKey(e.h, at)
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
			e.gone.sessions[x.ID] = true
			if e.dead[x.ID] = !e.gone.keeps(x.LastSeen); !e.dead[x.ID] {
				e.goesOn = append(e.goesOn, conversation(r.key()[1:]))
			}
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
		{join(famLedger, at[:]), &e.rec.Ledger, ofSession(e, func(x *store.LedgerEntry) (string, time.Time) { return x.Session, x.Created }, nil)},
		{join(famWhy, at[:]), &e.rec.Why, ofSession(e, func(x *store.Why) (string, time.Time) { return x.Session, x.Time }, tailIndex(byWhy))},
		{join(famAnchor, at[:]), &e.rec.Anchors, e.anchor},
		{join(famJob, at[:]), &e.rec.Jobs, ofSession(e, func(x *store.Job) (string, time.Time) { return x.Session, time.Time{} }, tailIndex(byJob))},
		{join(famBegun, at[:]), &e.rec.Exchanges, e.begun},
		{[]byte{famReflected}, nil, e.reflected(list)},
		{join(famSession, at[:]), &e.rec.Sessions, e.session},
	} {
		if err := e.wipe(f.prefix, f.count, f.also); err != nil {
			return err
		}
	}
	return e.countAnew()
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
func ofSession[T any](e *eraser, of func(*T) (string, time.Time), index func(row) []byte) func(*tx, row) ([][]byte, error) {
	return func(_ *tx, r row) ([][]byte, error) {
		var x T
		if err := r.into(&x); err != nil {
			return nil, err
		}
		if session, made := of(&x); !e.takes(session) || e.gone.keeps(made) {
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
	_, of := e.dead[session]
	return of || !strings.Contains(string(e.scope), "/")
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
	if e.gone.keeps(x.Started) {
		return skip, nil
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
	if err != nil || e.takes(a.Session) && !e.gone.keeps(a.Time) {
		return nil, err
	}
	return skip, nil
}

func (e *eraser) begun(_ *tx, r row) ([][]byte, error) {
	b, err := r.exchange(0, nil)
	if err != nil {
		return nil, err
	}
	if b.Owner.SkillScope() != e.scope && !e.takes(b.Session) || e.gone.keeps(b.Started) {
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
	if e.gone.stay[id] {
		return skip, nil
	}
	e.gone.ids = append(e.gone.ids, m.ID)
	return [][]byte{idKey(byMemory, id), memoryIndex(at, m.CreatedAt, id)}, e.s.setGone(t, id)
}
