package badgerdb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"time"

	"hindsight/store"
)

func sessionKey(at conversation) []byte { return join(famSession, at[:]) }

func (v view) session(at conversation) (store.Session, error) {
	var x store.Session
	err := v.get(sessionKey(at), &x)
	return x, err
}

// session is the record as this change has left it. Records of sessions that
// aren't at rest are kept in memory.
func (t *tx) session(at conversation) (store.Session, error) {
	if x, ok := t.dirty[at]; ok {
		return x, nil
	}
	t.s.mu.RLock()
	l := t.s.mem.sessions[at]
	t.s.mu.RUnlock()
	if l != nil {
		return l.Session, nil
	}
	return t.view.session(at)
}

// sessionBytes is about what a session's record takes in a transaction.
const sessionBytes = 800

// putSession notes a session's record, which is written once with the commit; a
// fresh one enters the indices at once.
func (t *tx) putSession(at conversation, x store.Session, fresh bool) error {
	if _, ok := t.dirty[at]; !ok {
		t.grow(sessionBytes)
	}
	t.dirty[at] = x
	if !fresh {
		return nil
	}
	h := store.Hash(at[placeLen:])
	p := at.place()
	// An id that another owner has too stays theirs in the index.
	if _, err := t.raw(idKey(bySession, h)); errors.Is(err, store.ErrNotFound) {
		if err := t.set(idKey(bySession, h), p[:], 0, 0); err != nil {
			return err
		}
	}
	return t.set(join(famSessions, p.tenant(), descending(x.Started), h[:]), p.scope(), 0, 0)
}

// writeSessions writes the noted records and lets memory mirror them.
func (t *tx) writeSessions() error {
	for at, x := range t.dirty {
		plain, err := json.Marshal(x)
		if err != nil {
			return fmt.Errorf("encode a session: %w", err)
		}
		sealed, err := t.h.seal(at.place(), plain)
		if err != nil {
			return fmt.Errorf("seal a session: %w", err)
		}
		if err := t.add(sessionKey(at), sealed, sessionMark(&x), keepSession); err != nil {
			return err
		}
		t.after = append(t.after, func() {
			t.s.mirror(func(st *state) { st.session(at, x) })
		})
	}
	clear(t.dirty)
	return nil
}

// Session finds a session of an owner; the agent doesn't count. The error is
// store.ErrNotFound for another owner's too.
func (s *Store) Session(_ context.Context, o store.Owner, id string) (store.Session, error) {
	var x store.Session
	err := s.view(func(v view) (err error) {
		x, err = v.session(v.h.conversation(s.owner(o), id))
		return err
	})
	return x, wrap("find session", err)
}

// FindSession finds a session by our id alone, for those who may see all.
func (s *Store) FindSession(_ context.Context, id string) (store.Session, error) {
	var x store.Session
	err := s.view(func(v view) error {
		h := v.h.session(id)
		p, err := v.raw(idKey(bySession, h))
		if err != nil {
			return err
		}
		x, err = v.session(conversation(append(p, h[:]...)))
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
// longest idle first. At most 500 are returned; the rest come when those have
// jobs. Sessions that are idle and have nothing new are closed on the way.
func (s *Store) Due(_ context.Context, idleBefore time.Time, tokens int) ([]store.Session, error) {
	var due, rest []conversation
	s.mu.RLock()
	seen := map[conversation]time.Time{}
	for at, l := range s.mem.sessions {
		idle := l.LastSeen.Before(idleBefore)
		switch {
		case l.pending() && (idle || l.State == store.Closed || l.NewTokens >= tokens):
			due = append(due, at)
			seen[at] = l.LastSeen
		case idle && l.State == store.Open && l.LastSeq <= l.Cursor && len(rest) < dueBatch:
			rest = append(rest, at)
		}
	}
	s.mu.RUnlock()
	sort.Slice(due, func(i, j int) bool { return seen[due[i]].Before(seen[due[j]]) })
	due = due[:min(len(due), dueBatch)]
	if err := s.closeIdle(rest, idleBefore); err != nil {
		return nil, wrap("close idle sessions", err)
	}
	out := []store.Session{}
	err := s.view(func(v view) error {
		for _, at := range due {
			x, err := v.session(at)
			if errors.Is(err, store.ErrNotFound) {
				continue // erased meanwhile
			}
			if err != nil {
				return err
			}
			out = append(out, x)
		}
		return nil
	})
	return out, wrap("list due sessions", err)
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
			if err := t.putSession(at, x, false); err != nil {
				return err
			}
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
