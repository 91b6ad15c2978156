// Package index finds memories inside this process, by words and, where it has
// vectors, by meaning. One [Index]
// serves all tenants: it loads a scope when it is first searched, follows it
// from then on (every search asks the source for the scope's version and takes
// over what changed), and drops the scopes that were searched longest ago when
// all together exceed its byte budget. Of a large scope at rest it keeps a snapshot
// (see [Snapshots]), so that loading it again is one read. It is exact: every memory that shares a
// term with the query is scored, and with a vector in the query every memory. One
// without a vector is found by its words.
//
// Search returns candidates with the parts of their score and what of the
// query each of them holds. It decides nothing: whether a memory is good enough
// to be shown is the business of package inject.
//
// [Terms] is the tokeniser that everything in Hindsight shares.
package index

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// Source is where memories come from. The index asks it during a search, so
// ScopeVersion and ScopeChanges must answer from memory. All three are called
// concurrently.
type Source interface {
	// ScopeVersion is a number that grows with every change in the scope.
	ScopeVersion(tenant string, sc store.Scope) uint64
	// ScopeMemories are all memories of a scope, in any state, and the version
	// that they show.
	ScopeMemories(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, uint64, error)
	// ScopeChanges are the memories that changed after version since, as they
	// are now; one that was erased comes with its ID and a State that isn't
	// active. False means that the source no longer knows: load again.
	ScopeChanges(tenant string, sc store.Scope, since uint64) ([]store.Memory, uint64, bool)
}

// DefaultBudget is the estimated size of all loaded scopes in bytes.
const DefaultBudget = 64 << 20

// Config of an Index. The zero value is good.
type Config struct {
	// Budget bounds the estimated bytes of all loaded scopes; 0 means
	// [DefaultBudget]. A scope that is larger alone is held alone.
	Budget int
	// Vectors gives the memories' vectors; nil: words alone.
	Vectors Vectors
	// Snapshots keeps scopes ready to be searched; nil: they are analysed whenever
	// they are loaded.
	Snapshots Snapshots
	// Rest is how long a scope must not have changed before a snapshot of it is
	// written; 0 means 2 s.
	Rest time.Duration
	Log  *slog.Logger          // nil: discard
	Reg  prometheus.Registerer // nil: no metrics
}

// Index is safe for concurrent use.
type Index struct {
	budget    int
	src       Source
	vectors   Vectors
	snapshots Snapshots
	log       *slog.Logger
	metrics   *metrics
	evicted   chan *slot // without a snapshot that is due

	ctx    context.Context // of loads: a load outlives the request that began it, not the index
	cancel context.CancelFunc
	work   sync.WaitGroup // loads and the keeping of snapshots

	mu     sync.Mutex // guards what follows; never held together with a scope's lock
	closed bool
	slots  map[slotKey]*slot
	recent *list.List // of *slot, the last searched in front
	used   int        // bytes of all slots
	// changed are the slots to be looked at for a snapshot.
	changed map[*slot]struct{}

	scratch sync.Pool // of *scratch
}

type slotKey struct {
	tenant string
	scope  store.Scope
}

// slot holds one scope, or the load of it that is under way.
type slot struct {
	key   slotKey
	elem  *list.Element
	ready chan struct{} // closed when scope and err are set
	scope *scope
	err   error
	bytes int // what it counts in Index.used
	noted int // its scope's unsaved changes when it was last settled
}

// errClosed is the error of a search after Close.
var errClosed = errors.New("search memories: index is closed")

// New returns an empty index over src. Close it before src is closed.
func New(cfg Config, src Source) *Index {
	if cfg.Budget <= 0 {
		cfg.Budget = DefaultBudget
	}
	if cfg.Rest <= 0 {
		cfg.Rest = 2 * time.Second
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	ctx, cancel := context.WithCancel(context.Background())
	x := &Index{
		budget: cfg.Budget, src: src, vectors: cfg.Vectors, snapshots: cfg.Snapshots, log: cfg.Log, evicted: make(chan *slot, 1),
		ctx: ctx, cancel: cancel,
		slots: make(map[slotKey]*slot), recent: list.New(), changed: make(map[*slot]struct{}),
		scratch: sync.Pool{New: func() any { return new(scratch) }},
	}
	x.metrics = newMetrics(cfg.Reg, x)
	if x.snapshots != nil {
		x.work.Go(func() { x.keep(cfg.Rest) })
	}
	return x
}

// Close ends loads and snapshots that are under way and waits for them.
func (x *Index) Close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.cancel()
	x.work.Wait()
}

// open returns the scope as it is now, loaded if it wasn't. When ctx ends
// first the load goes on: the next search finds it done.
func (x *Index) open(ctx context.Context, key slotKey) (*scope, error) {
	s, err := x.slot(key)
	if err != nil {
		return nil, err
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("load memories: %w", ctx.Err())
	}
	if s.err != nil {
		return nil, s.err
	}
	if !s.scope.refresh(x.src, x.vectors, key) {
		x.drop(s)
		return x.open(ctx, key)
	}
	x.settle(s)
	return s.scope, nil
}

// Empty says, without waiting, that no scope has an active memory. It is false
// too where that isn't known at once: a scope isn't loaded, or has changed.
func (x *Index) Empty(tenant string, scopes []store.Scope) bool {
	for _, sc := range scopes {
		key := slotKey{tenant, sc}
		s, err := x.slot(key)
		if err != nil {
			return false
		}
		select {
		case <-s.ready:
		default:
			return false
		}
		if s.err != nil || !s.scope.empty(x.src.ScopeVersion(tenant, sc)) {
			return false
		}
	}
	return true
}

// slot returns the key's slot and starts its load if it is new.
func (x *Index) slot(key slotKey) (*slot, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, errClosed
	}
	if s := x.slots[key]; s != nil {
		x.recent.MoveToFront(s.elem)
		return s, nil
	}
	s := &slot{key: key, ready: make(chan struct{})}
	s.elem = x.recent.PushFront(s)
	x.slots[key] = s
	x.work.Go(func() { x.load(s) })
	return s, nil
}

func (x *Index) load(s *slot) {
	defer close(s.ready)
	if sc, ok := x.restore(s.key); ok {
		s.scope = sc
		x.metrics.loads.WithLabelValues("snapshot").Inc()
		return
	}
	x.metrics.loads.WithLabelValues("memories").Inc()
	// A vector that comes after this is a change; its memory may be one too.
	seen := uint64(0)
	if x.vectors != nil {
		seen = x.vectors.VectorVersion(s.key.tenant, s.key.scope)
	}
	mems, version, err := x.src.ScopeMemories(x.ctx, s.key.tenant, s.key.scope)
	if err == nil {
		s.scope = newScope(mems, version)
		s.scope.seen, s.scope.unsaved = seen, len(mems)
		if x.vectors != nil {
			_, err = x.vectors.ScopeVectors(x.ctx, s.key.tenant, s.key.scope, s.scope.embed)
		}
	}
	if err != nil {
		s.err = fmt.Errorf("load memories: %w", err)
		x.drop(s)
	}
}

func (x *Index) drop(s *slot) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.remove(s)
}

// Forget takes an erased scope out of memory. Searches that hold it finish on it.
func (x *Index) Forget(tenant string, sc store.Scope) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if s := x.slots[slotKey{tenant, sc}]; s != nil {
		x.remove(s)
	}
}

func (x *Index) remove(s *slot) {
	if x.slots[s.key] != s {
		return
	}
	delete(x.slots, s.key)
	delete(x.changed, s)
	x.recent.Remove(s.elem)
	x.used -= s.bytes
}

// settle books the scope's size and evicts others until all fit. Searches that
// still hold an evicted scope finish on it.
func (x *Index) settle(s *slot) {
	bytes, docs, unsaved := s.scope.size()
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.slots[s.key] != s {
		return
	}
	if x.snapshots != nil && docs >= leastKept && unsaved != s.noted {
		x.changed[s] = struct{}{}
	}
	s.noted = unsaved
	x.used += bytes - s.bytes
	s.bytes = bytes
	for x.used > x.budget {
		last := x.recent.Back().Value.(*slot)
		if last == s {
			return
		}
		if _, ok := x.changed[last]; ok {
			select {
			case x.evicted <- last: // or it would be analysed at each opening
			default: // one at a time: it is in memory until then
			}
		}
		x.remove(last)
	}
}
