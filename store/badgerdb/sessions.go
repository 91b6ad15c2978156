package badgerdb

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"time"

	"hindsight/store"
)

func sessionKey(at conversation) []byte { return join(famSession, at[:]) }

func (v view) session(at conversation) (store.Session, error) {
	r, err := v.row(sessionKey(at))
	if err != nil {
		return store.Session{}, err
	}
	return r.session()
}

// session decodes a row of a session.
func (r row) session() (store.Session, error) {
	b, err := r.plain()
	if err != nil {
		return store.Session{}, err
	}
	x, err := readSession(b)
	x.Owner.Tenant = r.v.h.alias(x.Owner.Tenant)
	return x, err
}

// session is the record as this change has left it. Records of sessions that
// aren't at rest are kept in memory.
func (t *tx) session(at conversation) (store.Session, error) {
	if x, ok := t.inMemory(at); ok {
		return *x, nil
	}
	return t.view.session(at)
}

func (t *tx) inMemory(at conversation) (*store.Session, bool) {
	if x, ok := t.dirty[at]; ok {
		return x, true
	}
	t.s.mu.RLock()
	defer t.s.mu.RUnlock()
	if l := t.s.mem.sessions[at]; l != nil {
		return l.Session, true
	}
	return nil, false
}

// sessionBytes is about what a session's record takes in a transaction.
const sessionBytes = 400

// putSession notes a session's record, which is written once with the commit.
func (t *tx) putSession(at conversation, x store.Session) {
	if _, ok := t.dirty[at]; !ok {
		t.grow(sessionBytes)
	}
	t.dirty[at] = &x
}

// enterSession puts a fresh session into the indices: the listing, and, where
// its id doesn't lead there, that by id.
func (t *tx) enterSession(at conversation, x *store.Session) error {
	h, p := at[placeLen:], at.place()
	if _, drawn := store.DrawnAt(x.ID); !drawn {
		byID := idKey(bySession, store.Hash(h))
		// An id that another owner has too stays theirs in the index.
		_, err := t.row(byID)
		if errors.Is(err, store.ErrNotFound) {
			err = t.set(byID, p[:], 0, 0)
		}
		if err != nil {
			return err
		}
	}
	key := t.key(famSessions, p.tenant(), 8+hashLen)
	key = append(binary.BigEndian.AppendUint64(key, ^nanos(x.Started)), h...)
	return t.set(key, append(t.cut(hashLen), p.scope()...), 0, 0)
}

// locate finds where a session lies by its id alone: one that was drawn by its
// place in the tenants' listings.
func (v view) locate(id string) (conversation, error) {
	h := v.h.session(id)
	started, drawn := store.DrawnAt(id)
	if !drawn {
		p, err := v.raw(idKey(bySession, h))
		if err != nil {
			return conversation{}, err
		}
		return conversation(append(p, h[:]...)), nil
	}
	tenants, err := v.tenants()
	if err != nil {
		return conversation{}, err
	}
	for _, name := range tenants {
		t := v.h.tenant(name)
		scope, err := v.raw(join(famSessions, t[:], descending(started), h[:]))
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err != nil {
			return conversation{}, err
		}
		return conversation(join(0, t[:], scope, h[:])[1:]), nil
	}
	return conversation{}, store.ErrNotFound
}

// writeSessions writes the noted records; they stay noted until the commit.
func (t *tx) writeSessions() error {
	var plain []byte // not t.plain: room commits while an exchange is in there
	for at, x := range t.dirty {
		plain = appendSession(plain[:0], x)
		key := t.key(famSession, at[:], 0)
		sealed, err := t.sealed(key, plain)
		if err != nil {
			return err
		}
		if err := t.add(key, sealed, sessionMark(x), keepSession); err != nil {
			return err
		}
	}
	return nil
}

// Session finds a session of an owner; the agent doesn't count. The error is
// store.ErrNotFound for another owner's too.
func (s *Store) Session(ctx context.Context, o store.Owner, id string) (store.Session, error) {
	x, err := within(ctx, s, func(v view) (store.Session, error) {
		return v.session(v.h.conversation(s.owner(o), id))
	})
	return x, wrap("find session", err)
}

// FindSession finds a session by our id alone, for those who may see all.
func (s *Store) FindSession(_ context.Context, id string) (store.Session, error) {
	var x store.Session
	err := s.view(func(v view) error {
		at, err := v.locate(id)
		if err != nil {
			return err
		}
		x, err = v.session(at)
		return err
	})
	return x, wrap("find session", err)
}

// OpenSessions counts the open sessions of a tenant, all users together and
// sub-agents not counted.
func (s *Store) OpenSessions(_ context.Context, o store.Owner) (int, error) {
	n := 0
	err := s.with(func(*handle) error {
		o = s.owner(o)
		s.mu.RLock()
		defer s.mu.RUnlock()
		for _, l := range s.mem.sessions {
			if l.Owner.Tenant == o.Tenant && l.State == store.Open && l.Parent == "" {
				n++
			}
		}
		return nil
	})
	return n, wrap("count open sessions", err)
}

// dueBatch bounds what one call of Due returns or closes.
const dueBatch = 500

// Due lists sessions that have something new which no job covers, and that are
// closed, idle since before idleBefore, or have at least so many new tokens; the
// longest idle first. An idle one waits, for so long at most, for others of its
// owner that will be idle by then: small ones share a call. At most 500 are
// returned; the rest come when those have jobs. Sessions that are idle and have
// nothing new are closed on the way.
func (s *Store) Due(_ context.Context, idleBefore time.Time, wait time.Duration, tokens int) ([]store.Session, error) {
	due, rest := s.idle(idleBefore, wait, tokens)
	if err := s.closeIdle(rest, idleBefore); err != nil {
		return nil, wrap("close idle sessions", err)
	}
	list := make([]conversation, len(due))
	for i, d := range due {
		list[i] = d.at
	}
	out, err := s.sessionsAt(list)
	return out, wrap("list due sessions", err)
}

// sessionsAt reads sessions, but for those that have been erased meanwhile.
func (s *Store) sessionsAt(list []conversation) ([]store.Session, error) {
	out := []store.Session{}
	err := s.view(func(v view) error {
		for i, at := range list {
			if i%16 == 15 {
				runtime.Gosched() // requests go first
			}
			x, err := v.session(at)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			out = append(out, x)
		}
		return nil
	})
	return out, err
}

// lookedAt is how many sessions are looked at before the lock is given up for a
// moment: a commit that waits to tell of its sessions holds up every request
// behind it.
const lookedAt = 256

// waits is a session that is due.
type waits struct {
	at    conversation
	seen  time.Time
	owner *store.Owner // not nil: it may wait for others of the owner
}

// idle finds the sessions that have been due for longest, and some that are idle
// with nothing new. One that comes or goes meanwhile may be missed until the
// next time.
func (s *Store) idle(before time.Time, wait time.Duration, tokens int) (due []waits, rest []conversation) {
	longest := func(a, b waits) int { return a.seen.Compare(b.seen) }
	soon := map[store.Owner]bool{} // who has one that will be idle
	var last time.Time             // of those that are kept, where there are more
	s.mu.RLock()
	defer s.mu.RUnlock()
	n := 0
	for at, l := range s.mem.sessions {
		if n++; n%lookedAt == 0 {
			s.mu.RUnlock()
			runtime.Gosched()
			s.mu.RLock()
		}
		idle := l.LastSeen.Before(before)
		ended := l.State == store.Closed || l.NewTokens >= tokens
		switch pending := l.pending(); {
		case pending && (idle || ended):
			if !last.IsZero() && !l.LastSeen.Before(last) {
				continue // enough have waited longer
			}
			w := waits{at: at, seen: l.LastSeen}
			if !ended && !l.LastSeen.Before(before.Add(-wait)) {
				w.owner = &l.Owner
			}
			if due = append(due, w); len(due) == 2*dueBatch {
				slices.SortFunc(due, longest)
				due = due[:dueBatch]
				last = due[dueBatch-1].seen
			}
		case pending && l.LastSeen.Before(before.Add(wait)):
			soon[l.Owner] = true
		case idle && l.State == store.Open && l.LastSeq <= l.Cursor && len(rest) < dueBatch:
			rest = append(rest, at)
		}
	}
	due = slices.DeleteFunc(due, func(w waits) bool { return w.owner != nil && soon[*w.owner] })
	slices.SortFunc(due, longest)
	return due[:min(len(due), dueBatch)], rest
}

func (s *Store) closeIdle(rest []conversation, idleBefore time.Time) error {
	if len(rest) == 0 {
		return nil
	}
	return s.change(func(t *tx) error {
		for _, at := range rest {
			x, err := t.session(at)
			if errors.Is(err, store.ErrNotFound) || err == nil && (!x.LastSeen.Before(idleBefore) || x.LastSeq > x.Cursor) {
				continue
			}
			if err != nil {
				return err
			}
			x.State = store.Closed
			t.putSession(at, x)
		}
		return nil
	})
}

// Sessions lists sessions, the last started first, and the cursor of the next
// page, empty at the end.
func (s *Store) Sessions(ctx context.Context, f store.SessionFilter) ([]store.Session, string, error) {
	f.Tenant = s.tenant(f.Tenant)
	list := listing[store.Session]{
		family: famSessions,
		limit:  f.Limit,
		cursor: f.Cursor,
		read: func(v view, p place, id store.Hash) (store.Session, bool, error) {
			x, err := v.session(conversation(append(p[:], id[:]...)))
			return x, err == nil && matchSession(f, &x), err
		},
		made: func(x *store.Session) (time.Time, string) { return x.Started, x.ID },
		hash: func(h *handle, id string) store.Hash { return h.session(id) },
	}
	out, next, err := run(ctx, s, f.Tenant, list)
	return out, next, wrap("list sessions", err)
}

func matchSession(f store.SessionFilter, x *store.Session) bool {
	return (f.Scope == "" || x.Owner.SkillScope() == f.Scope) &&
		(f.User == "" || x.Owner.User == f.User) &&
		(f.External == "" || x.ExternalID == f.External) &&
		(f.Parent == "" || x.Parent == f.Parent) &&
		(f.State == "" || x.State == f.State)
}
