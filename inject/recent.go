package inject

import (
	"sync"
	"time"

	"hindsight/store"
)

// recentLife is how long the same body of the same owner gets the same block,
// and recentLimit how many bodies are remembered.
const (
	recentLife  = time.Minute
	recentLimit = 4096
)

// recent remembers which block a request body got, so that a retry, or one
// question sent to several models, gets the same bytes. Bodies that got none
// aren't kept: what was learned since may answer them.
type recent struct {
	mu    sync.Mutex
	made  map[bodyKey]fresh
	order []bodyKey // by age; may name bodies that are gone
}

type bodyKey struct {
	owner store.Owner
	body  store.Hash
}

// fresh is a block that was new when it was made.
type fresh struct {
	text    string
	refs    []store.Ref
	session string
	at      time.Time
}

func newRecent() *recent { return &recent{made: make(map[bodyKey]fresh)} }

func (r *recent) get(o store.Owner, body store.Hash, now time.Time) (fresh, bool) {
	if body.IsZero() {
		return fresh{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f, ok := r.made[bodyKey{o, body}]
	return f, ok && now.Sub(f.at) < recentLife
}

// put keeps the first block of a body while it lives.
func (r *recent) put(o store.Owner, body store.Hash, f fresh) {
	if body.IsZero() {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.order) > 0 && (len(r.order) >= recentLimit || f.at.Sub(r.made[r.order[0]].at) >= recentLife) {
		delete(r.made, r.order[0])
		r.order = r.order[1:]
	}
	k := bodyKey{o, body}
	if old, ok := r.made[k]; ok && f.at.Sub(old.at) < recentLife {
		return
	}
	r.made[k] = f
	r.order = append(r.order, k)
}

// forget drops what a scope's bodies got.
func (r *recent) forget(tenant string, sc store.Scope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range r.made {
		if within(k.owner, tenant, sc) {
			delete(r.made, k)
		}
	}
}

// drop forgets what a session's bodies got.
func (r *recent) drop(o store.Owner, session string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, f := range r.made {
		if k.owner == o && f.session == session {
			delete(r.made, k)
		}
	}
}
