package index

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"hindsight/store"
)

// Snapshots keeps scopes in the form in which they are searched, so that opening
// one is reading, not analysing. A snapshot is a list of parts that only this
// package understands; its source notes what changes after it.
type Snapshots interface {
	// ReadSnapshot gives the parts of a scope's snapshot to take, in order, and then
	// every memory that has changed since to changed, with the vector that it has
	// now, nil for none. The versions are those that all of this shows at least.
	// False: there is none. The error may be that of take.
	ReadSnapshot(ctx context.Context, tenant string, sc store.Scope, take func(part []byte) error, changed func(m store.Memory, vector []float32)) (version, seen uint64, ok bool, err error)
	// KeepSnapshot replaces a scope's snapshot by one that shows these versions of its
	// memories and vectors. An error leaves the one that was there, if any.
	KeepSnapshot(ctx context.Context, tenant string, sc store.Scope, version, seen uint64, parts iter.Seq2[[]byte, error]) error
	// HasSnapshot says whether there is one. It answers from memory.
	HasSnapshot(tenant string, sc store.Scope) bool
}

// Which scopes get a snapshot, and when a new one. Fewer memories are loaded in
// about 10 ms. A change costs as much at each opening as loading a memory does, so
// the work of an opening stays within a twentieth of that of loading all; and a
// memory is written to snapshots about twenty times, however much is learned.
const (
	leastKept   = 500
	leastChange = 250
	changeShare = 20
)

// moment is how a scope's sources stand.
type moment struct{ version, seen uint64 }

func (x *Index) moment(key slotKey) moment {
	m := moment{version: x.src.ScopeVersion(key.tenant, key.scope)}
	if x.vectors != nil {
		m.seen = x.vectors.VectorVersion(key.tenant, key.scope)
	}
	return m
}

// keep writes snapshots of scopes that have been at rest from one tick to the next,
// until the index is closed, and at once of one that is evicted without.
func (x *Index) keep(rest time.Duration) {
	tick := time.NewTicker(rest)
	defer tick.Stop()
	last := map[*slot]moment{}
	for {
		select {
		case <-tick.C:
			x.mu.Lock()
			slots := make([]*slot, 0, len(x.changed))
			for s := range x.changed {
				slots = append(slots, s)
			}
			x.mu.Unlock()
			now := make(map[*slot]moment, len(slots))
			for _, s := range slots {
				at := x.moment(s.key)
				if was, ok := last[s]; ok && was == at && x.ctx.Err() == nil {
					x.rested(s)
					continue
				}
				now[s] = at
			}
			last = now
		case s := <-x.evicted:
			x.rested(s)
		case <-x.ctx.Done():
			return
		}
	}
}

// rested writes the snapshot of a slot if it is due. Whatever comes of it, the slot
// waits for its next change.
func (x *Index) rested(s *slot) {
	x.mu.Lock()
	delete(x.changed, s)
	x.mu.Unlock()
	if !s.scope.due(x.snapshots.HasSnapshot(s.key.tenant, s.key.scope)) {
		return
	}
	err := x.snapshot(s)
	if err != nil && x.ctx.Err() == nil && !errors.Is(err, errMoved) {
		x.log.Warn("a scope isn't kept ready: it will be slow to open", "err", err)
	}
}

func (x *Index) snapshot(s *slot) error {
	if !s.scope.refresh(x.src, x.vectors, s.key) {
		return nil // the next search loads it again
	}
	s.scope.mu.RLock()
	at := moment{s.scope.version, s.scope.seen}
	s.scope.mu.RUnlock()
	if x.vectors != nil && at.seen == 0 {
		return nil // the vectors are still to come
	}
	err := x.snapshots.KeepSnapshot(x.ctx, s.key.tenant, s.key.scope, at.version, at.seen, s.scope.snapshot(at.version, at.seen))
	if err != nil {
		return fmt.Errorf("keep a snapshot: %w", err)
	}
	s.scope.mu.Lock()
	s.scope.unsaved = 0
	s.scope.mu.Unlock()
	return nil
}

// due says whether a new snapshot is worth its cost.
func (s *scope) due(has bool) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	live := len(s.docs) - s.dead
	return live >= leastKept && (!has || s.unsaved >= max(leastChange, live/changeShare))
}

// restore makes a scope of its snapshot and what changed since; false where there
// is none that can be used.
func (x *Index) restore(key slotKey) (*scope, bool) {
	if x.snapshots == nil {
		return nil, false
	}
	r := restorer{vectors: x.vectors != nil && x.vectors.VectorVersion(key.tenant, key.scope) != 0}
	var whole *scope
	var failed error
	a := new(analyser)
	version, seen, ok, err := x.snapshots.ReadSnapshot(x.ctx, key.tenant, key.scope, r.take, func(m store.Memory, vector []float32) {
		if whole == nil && failed == nil {
			whole, failed = r.done()
		}
		if failed != nil {
			return
		}
		whole.put(a, m)
		if r.vectors {
			whole.embed(m.ID, vector)
		}
		whole.unsaved++
	})
	if err == nil && ok && whole == nil && failed == nil {
		whole, failed = r.done()
	}
	if err = errors.Join(err, failed); err != nil || !ok {
		if err != nil && x.ctx.Err() == nil {
			x.log.Warn("a snapshot is of no use: the scope is analysed anew", "err", err)
		}
		return nil, false
	}
	whole.version, whole.seen = version, seen
	return whole, true
}
