package badgerdb

import (
	"strings"
	"time"

	"hindsight/store"
)

// What belongs to the sessions of a scope lies at the place of its user.

// find lists the scope's sessions.
func (e *eraser) find() error {
	at, ok := e.users()
	if !ok {
		return nil
	}
	e.dead = map[string]bool{}
	txn := e.h.db.NewTransaction(false)
	defer txn.Discard()
	for r := range (view{e.h, txn}).rows(join(famSession, at[:]), nil) {
		x, err := r.session()
		if err != nil {
			return err
		}
		if x.Owner.SkillScope() != e.scope {
			continue
		}
		e.gone.sessions[x.ID] = true
		if e.dead[x.ID] = !e.gone.keeps(x.LastSeen); !e.dead[x.ID] {
			e.goesOn = append(e.goesOn, conversation(r.key()[1:]))
		}
		e.talks = append(e.talks, conversation(r.key()[1:]))
	}
	return nil
}

// conversations erases the scope's sessions and what belongs to them, row by row.
func (e *eraser) conversations() error {
	at, ok := e.users()
	if !ok {
		return nil
	}
	for _, c := range e.talks {
		if err := e.wipe(join(famPlaces, c[:]), &e.rec.Places, nil); err != nil {
			return err
		}
		if err := e.wipe(join(famExchange, c[:]), &e.rec.Exchanges, e.exchange); err != nil {
			return err
		}
	}
	for _, f := range []struct {
		family byte
		also   func(*tx, row) ([][]byte, error)
	}{
		{famLedger, ofSession(e, func(x *store.LedgerEntry) (string, time.Time) { return x.Session, x.Created }, nil)},
		{famWhy, ofSession(e, func(x *store.Why) (string, time.Time) { return x.Session, x.Time }, tailIndex(byWhy))},
		{famAnchor, e.anchor},
		{famJob, ofSession(e, func(x *store.Job) (string, time.Time) { return x.Session, time.Time{} }, tailIndex(byJob))},
		{famBegun, e.begun},
		{famSession, e.session},
	} {
		if err := e.wipe(join(f.family, at[:]), countOf(e.rec, f.family), f.also); err != nil {
			return err
		}
	}
	if err := e.wipe([]byte{famReflected}, nil, e.reflected()); err != nil {
		return err
	}
	return e.countAnew()
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
	keys, err := r.partKeys(seq)
	if x.ID != "" {
		keys = append(keys, idKey(byExchange, e.h.exchange(x.ID)))
	}
	return keys, err
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

func (e *eraser) reflected() func(*tx, row) ([][]byte, error) {
	gone := map[conversation]bool{}
	for _, c := range e.talks {
		gone[c] = true
	}
	return func(_ *tx, r row) ([][]byte, error) {
		if !gone[conversation(r.item.Key()[9:])] {
			return skip, nil
		}
		return nil, nil
	}
}
