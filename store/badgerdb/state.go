package badgerdb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"time"

	"hindsight/store"
)

// state is what is kept in memory of the directory, so that the request path,
// Due and Claim read no disk. It is rebuilt at each opening and changed only
// under the write lock, after the commit that it mirrors.
type state struct {
	sessions map[conversation]*live
	jobs     map[string]*store.Job    // those that aren't done
	begun    map[store.Hash]place     // exchanges written as begun
	gone     map[store.Hash]time.Time // when it was erased; zero: it may be there still
	offered  map[store.Hash]time.Time // memories that a block asked to check
	alias    map[string]string        // linked tenants
	scopes   map[place]struct{}       // that have a record
	erased   map[place]time.Time      // scopes, and until when nothing of them is learned
	ready    map[place]uint64         // scopes that have a snapshot, and which
	copies   map[place]copyRecord     // scopes of a fleet, and when they were used
}

// live is a session that is open, has something to reflect, or has a job.
type live struct {
	*store.Session
	jobs map[string]*store.Job
}

func newState() state {
	return state{
		sessions: map[conversation]*live{},
		jobs:     map[string]*store.Job{},
		begun:    map[store.Hash]place{},
		gone:     map[store.Hash]time.Time{},
		offered:  map[store.Hash]time.Time{},
		alias:    map[string]string{},
		scopes:   map[place]struct{}{},
		erased:   map[place]time.Time{},
		ready:    map[place]uint64{},
		copies:   map[place]copyRecord{},
	}
}

// The marks beside a session's record, which spare reading those at rest.
const (
	markOpen    = 1 << 0
	markPending = 1 << 1
)

func sessionMark(x *store.Session) byte {
	var m byte
	if x.State == store.Open {
		m |= markOpen
	}
	if x.LastSeq > x.Cursor {
		m |= markPending
	}
	return m
}

// load reads the state from the directory. Links come first: reading the rest
// follows them.
func (s *Store) load(v view) (state, error) {
	st := newState()
	for r := range v.rows([]byte{famTenant}, nil) {
		var rec tenantRecord
		if err := r.into(&rec); err != nil {
			return st, fmt.Errorf("read tenants: %w", err)
		}
		if rec.Alias != "" {
			st.alias[rec.ID] = rec.Alias
		}
	}
	s.mirror(func(was *state) { was.alias = st.alias })
	for r := range v.rows([]byte{famScope}, nil) {
		st.scopes[place(r.key()[1:])] = struct{}{}
	}
	for r := range v.rows([]byte{famErased}, nil) {
		var at time.Time
		if err := r.into(&at); err != nil {
			return st, fmt.Errorf("read erased scopes: %w", err)
		}
		st.erased[place(r.key()[1:])] = at
	}
	for r := range v.rows([]byte{famReady}, nil) {
		var rec readyRecord
		if err := r.into(&rec); err != nil {
			return st, fmt.Errorf("read snapshots: %w", err)
		}
		st.ready[place(r.key()[1:])] = rec.ID
	}
	for r := range v.rows([]byte{famCopy}, nil) {
		var c copyRecord
		if err := r.into(&c); err != nil {
			return st, fmt.Errorf("read what copies there are: %w", err)
		}
		st.copies[place(r.key()[1:])] = c
	}
	for r := range v.rows([]byte{famGone}, nil) {
		at, err := r.moment()
		if err != nil {
			return st, fmt.Errorf("read what is gone: %w", err)
		}
		st.gone[store.Hash(r.key()[1:])] = at
	}
	if hidden := v.h.hidden.Load(); hidden != nil {
		for at := range *hidden { // the sweep notes them on disk as it deletes them
			for r := range v.all(join(famMemory, at[:]), nil) {
				if v.h.hides(r.item) {
					st.gone[tail(r)] = time.Time{}
				}
			}
		}
	}
	for r := range v.rows([]byte{famOffered}, nil) {
		at, err := r.moment()
		if err != nil {
			return st, fmt.Errorf("read what was to be checked: %w", err)
		}
		if !at.IsZero() {
			st.offered[store.Hash(r.key()[1:])] = at
		}
	}
	for r := range v.rows([]byte{famBegun}, nil) {
		k := r.key()
		st.begun[store.Hash(k[1+placeLen:])] = place(k[1:])
	}
	for r := range v.rows([]byte{famSession}, nil) {
		if r.meta() == 0 {
			continue
		}
		x, err := r.session()
		if err != nil {
			return st, fmt.Errorf("read sessions: %w", err)
		}
		st.session(conversation(r.key()[1:]), &x)
	}
	for r := range v.rows([]byte{famJob}, nil) {
		if r.meta() == jobDone {
			continue
		}
		var j store.Job
		if err := r.into(&j); err != nil {
			return st, fmt.Errorf("read jobs: %w", err)
		}
		// Whoever held a lease had this directory open, and has gone: nobody is
		// waited for. Should it live in this very process, Apply knows by the
		// claim who may write.
		j.Lease = time.Time{}
		at := v.h.conversation(j.Owner, j.Session)
		if !j.Consolidates() && st.sessions[at] == nil { // at rest, but for the job
			x, err := v.session(at)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return st, fmt.Errorf("read sessions: %w", err)
			}
			st.sessions[at] = &live{Session: &x}
		}
		st.job(at, &j)
	}
	return st, nil
}

// session mirrors a session's record; x isn't changed any more.
func (st *state) session(at conversation, x *store.Session) {
	l := st.sessions[at]
	if l == nil {
		l = &live{}
		st.sessions[at] = l
	}
	l.Session = x
	st.settle(at, l)
}

// job mirrors a job's record; one that is done is let go.
func (st *state) job(at conversation, j *store.Job) {
	l := st.sessions[at]
	if j.Consolidates() {
		l = nil // no session waits for it
	}
	if j.State == store.Done {
		delete(st.jobs, j.ID)
		if l != nil {
			delete(l.jobs, j.ID)
			st.settle(at, l)
		}
		return
	}
	own := *j
	st.jobs[j.ID] = &own
	if l != nil {
		if l.jobs == nil {
			l.jobs = map[string]*store.Job{}
		}
		l.jobs[j.ID] = &own
	}
}

// settle lets a session go that is at rest.
func (st *state) settle(at conversation, l *live) {
	if l.State == store.Closed && l.LastSeq <= l.Cursor && len(l.jobs) == 0 {
		delete(st.sessions, at)
	}
}

// leave lets go of what was at erased places; of tells where a job lies.
func (st *state) leave(going map[place]bool, of func(*store.Job) place) {
	maps.DeleteFunc(st.sessions, func(at conversation, _ *live) bool { return going[at.place()] })
	maps.DeleteFunc(st.jobs, func(_ string, j *store.Job) bool { return going[of(j)] })
	maps.DeleteFunc(st.begun, func(_ store.Hash, at place) bool { return going[at] })
	for at := range going {
		delete(st.scopes, at)
		delete(st.ready, at)
	}
}

// pending says whether a session has something that no job covers.
func (l *live) pending() bool {
	if l.LastSeq <= l.Cursor {
		return false
	}
	for _, j := range l.jobs {
		if j.To >= l.LastSeq {
			return false
		}
	}
	return true
}

// mirror changes the state in memory.
func (s *Store) mirror(fn func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fn(&s.mem)
}

// owner follows a linked tenant.
func (s *Store) owner(o store.Owner) store.Owner {
	o.Tenant = s.tenant(o.Tenant)
	return o
}

func (s *Store) tenant(t string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if to, ok := s.mem.alias[t]; ok {
		return to
	}
	return t
}

// moment is the time that a value is, zero where it is none.
func (r row) moment() (time.Time, error) {
	b, err := r.raw()
	if err != nil || len(b) != 8 {
		return time.Time{}, err
	}
	return time.Unix(0, int64(binary.BigEndian.Uint64(b))).UTC(), nil
}
