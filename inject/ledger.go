package inject

import (
	"container/list"
	"context"
	"slices"
	"sync"
	"time"

	"hindsight/store"
)

// ledgerLife is how long a block is replayed after it was used last, and
// ledgerTouch how much of that may pass before a use is written down again.
const (
	ledgerLife  = 24 * time.Hour
	ledgerTouch = time.Hour
)

// ledger holds the blocks of the sessions that were used last. Every session is
// read from the store once; from then on memory is ahead of the disk.
type ledger struct {
	store Ledger
	limit int

	mu       sync.Mutex // never held together with a session's lock
	sessions map[sessionKey]*list.Element
	recent   *list.List // of *sessionLedger, the last used in front
}

type sessionKey struct {
	owner   store.Owner
	session string
}

// sessionLedger is one session's blocks by place.
type sessionLedger struct {
	key  sessionKey
	load chan struct{} // holds one token: who has it may load

	mu        sync.Mutex
	loaded    bool
	withdrawn bool
	entries   map[store.Hash]store.LedgerEntry
}

func newLedger(s Ledger, limit int) *ledger {
	return &ledger{store: s, limit: limit, sessions: make(map[sessionKey]*list.Element), recent: list.New()}
}

func (l *ledger) session(o store.Owner, session string) *sessionLedger {
	k := sessionKey{o, session}
	l.mu.Lock()
	defer l.mu.Unlock()
	if e, ok := l.sessions[k]; ok {
		l.recent.MoveToFront(e)
		return e.Value.(*sessionLedger)
	}
	s := &sessionLedger{key: k, load: make(chan struct{}, 1), entries: make(map[store.Hash]store.LedgerEntry)}
	l.sessions[k] = l.recent.PushFront(s)
	for l.recent.Len() > l.limit {
		last := l.recent.Back()
		delete(l.sessions, last.Value.(*sessionLedger).key)
		l.recent.Remove(last)
	}
	return s
}

// loaded returns a session's blocks if they are in memory. Of a session that begins
// now the store has none.
func (l *ledger) loaded(o store.Owner, session string, begins bool) (*sessionLedger, bool) {
	s := l.session(o, session)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = s.loaded || begins
	return s, s.loaded
}

// open returns a session's blocks, read from the store if this is the first time.
func (l *ledger) open(ctx context.Context, o store.Owner, session string, begins bool) (*sessionLedger, error) {
	s, ok := l.loaded(o, session, begins)
	if ok {
		return s, nil
	}
	select {
	case s.load <- struct{}{}:
		defer func() { <-s.load }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if s.isLoaded() {
		return s, nil
	}
	entries, err := l.store.LoadLedger(ctx, o, session)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range entries {
		if _, ok := s.entries[e.Key]; !ok { // what is in memory is newer
			s.entries[e.Key] = e
		}
		s.withdrawn = s.withdrawn || e.Withdrawn
	}
	s.loaded = true
	return s, nil
}

// Renew has a session's blocks read again at their next use: another process has
// served it, and what it put there is in the store now. Blocks that are known
// stay as they are.
func (e *Engine) Renew(o store.Owner, session string) {
	e.ledger.mu.Lock()
	elem, ok := e.ledger.sessions[sessionKey{o, session}]
	e.ledger.mu.Unlock()
	if !ok {
		return
	}
	s := elem.Value.(*sessionLedger)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loaded = false
}

func (s *sessionLedger) isLoaded() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loaded
}

func (s *sessionLedger) isWithdrawn() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.withdrawn
}

// entry returns what was put at a place, however long ago.
func (s *sessionLedger) entry(k store.Hash) (store.LedgerEntry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[k]
	return e, ok
}

// block returns what stands at a place, if it is still to be replayed.
func (s *sessionLedger) block(k store.Hash, now time.Time) (store.LedgerEntry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.entries[k]
	return e, ok && e.Text != "" && now.Sub(e.LastUsed) < ledgerLife
}

// said are the ids that blocks of the session have named, whether or not they
// stand in a request.
func (s *sessionLedger) said() map[string]struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make(map[string]struct{})
	for _, e := range s.entries {
		for _, r := range e.Refs {
			out[r.ID] = struct{}{}
		}
	}
	return out
}

// put makes entries real. The first block of a place stays while it lives.
func (l *ledger) put(entries []store.LedgerEntry) {
	if len(entries) == 0 {
		return
	}
	s := l.session(entries[0].Owner, entries[0].Session)
	s.mu.Lock()
	if s.withdrawn {
		s.mu.Unlock()
		return
	}
	kept := entries[:0:0]
	for _, e := range entries {
		if old, ok := s.entries[e.Key]; ok && old.Text != "" && old.Text != e.Text && e.Created.Sub(old.LastUsed) < ledgerLife {
			continue
		}
		s.entries[e.Key] = e
		kept = append(kept, e)
	}
	s.mu.Unlock()
	if len(kept) > 0 {
		l.store.SaveLedger(kept)
	}
}

// withdraw empties a session's blocks for good.
func (l *ledger) withdraw(o store.Owner, session string, now time.Time) {
	s := l.session(o, session)
	s.mu.Lock()
	s.withdrawn = true
	// The entry without a key says it even where no block was ever kept.
	if _, ok := s.entries[store.Hash{}]; !ok {
		s.entries[store.Hash{}] = store.LedgerEntry{Created: now}
	}
	var out []store.LedgerEntry
	for k, e := range s.entries {
		e.Owner, e.Session, e.Key, e.Text, e.Refs, e.Checks, e.LastUsed, e.Withdrawn = o, session, k, "", nil, nil, now, true
		s.entries[k] = e
		out = append(out, e)
	}
	s.mu.Unlock()
	slices.SortFunc(out, func(a, b store.LedgerEntry) int { return slices.Compare(a.Key[:], b.Key[:]) })
	l.store.SaveLedger(out)
}

// forget takes the blocks of a scope's conversations out of memory.
func (l *ledger) forget(tenant string, sc store.Scope) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, e := range l.sessions {
		if within(k.owner, tenant, sc) {
			delete(l.sessions, k)
			l.recent.Remove(e)
		}
	}
}

// within says whether an owner's conversations go with a scope.
func within(o store.Owner, tenant string, sc store.Scope) bool {
	return o.Tenant == tenant && slices.Contains(o.OwnScopes(), sc)
}

// gone says whether one of a block's memories must not be said any more.
func (l *ledger) gone(refs []store.Ref) bool {
	return slices.ContainsFunc(refs, func(r store.Ref) bool { return l.store.Gone(r.ID) })
}
