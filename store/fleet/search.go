package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// Finder is the embedded index over the directory. *index.Index is one.
type Finder interface {
	Search(ctx context.Context, q index.Query) (index.Result, error)
	List(ctx context.Context, q index.Query) ([]*store.Memory, error)
	Empty(tenant string, scopes []store.Scope) bool
}

// Searcher answers recall. Its methods are those of [Finder].
type Searcher struct {
	f    *Fleet
	here Finder
}

// Searcher is recall over the shared memory; here is the embedded index.
func (f *Fleet) Searcher(here Finder) *Searcher { return &Searcher{f, here} }

// keptBack is the share of a request's time that is left for the local copy when
// the shared store is asked.
const keptBack = 0.3

// Cache is what a result is degraded to that comes from a copy nobody has
// compared lately.
const Cache = "cache"

// errNothingHere is the error of a search while the shared store is away and
// nothing of the scopes is held here.
var errNothingHere = errors.New("the shared memory is away, and nothing of it is held here")

// Search looks into the local copy where that is fresh, else into the shared
// store, and into whatever copy there is where that can't be had in time. Such a
// result says so; without any copy, it is an error.
func (s *Searcher) Search(ctx context.Context, q index.Query) (index.Result, error) {
	if s.f.touch(q.Tenant, q.Scopes) {
		s.f.met.searched.WithLabelValues("copy").Inc()
		return s.here.Search(ctx, q)
	}
	if s.f.up() {
		res, err := s.shared(ctx, q)
		if err == nil {
			s.f.met.searched.WithLabelValues("shared").Inc()
			return res, nil
		}
		if ctx.Err() != nil {
			return index.Result{}, fmt.Errorf("search the shared memory: %w", ctx.Err())
		}
		s.f.log.Debug("recall from the local copy", "error", err)
	}
	s.f.met.searched.WithLabelValues("old").Inc()
	res, err := s.here.Search(ctx, q)
	if err != nil {
		return res, err
	}
	if res.Docs == 0 {
		return res, errNothingHere
	}
	res.Degraded = Cache
	return res, nil
}

// shared asks the shared store within most of the time that there is.
func (s *Searcher) shared(ctx context.Context, q index.Query) (index.Result, error) {
	most, cancel := part(ctx, 1-keptBack)
	defer cancel()
	res, err := s.f.remote.Search(most, q)
	if err != nil {
		s.f.health.missed()
	}
	return res, err
}

// part is a share of the time that a context leaves.
func part(ctx context.Context, share float64) (context.Context, context.CancelFunc) {
	until, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(share*float64(time.Until(until))))
}

// List returns every memory that the query allows, from where Search would look.
func (s *Searcher) List(ctx context.Context, q index.Query) ([]*store.Memory, error) {
	if !s.f.touch(q.Tenant, q.Scopes) && s.f.up() {
		most, cancel := part(ctx, listTakes)
		defer cancel()
		list, err := s.f.remote.List(most, q)
		if err == nil {
			return list, nil
		}
		s.f.health.missed()
		s.f.log.Debug("standing memories from the local copy", "error", err)
	}
	return s.here.List(ctx, q)
}

// Empty says that a fresh local copy has no active memory.
func (s *Searcher) Empty(tenant string, scopes []store.Scope) bool {
	return s.f.touch(tenant, scopes) && s.here.Empty(tenant, scopes)
}

// listTakes is the share of a request's time that List may take: Search comes
// after it.
const listTakes = 0.4

// loaded waits until no load of these scopes is under way.
func (f *Fleet) loaded(ctx context.Context, tenant string, scopes []store.Scope) {
	for _, sc := range scopes {
		if load := f.copies.loading(scopeKey{tenant, sc}); load != nil {
			select {
			case <-load:
			case <-ctx.Done():
				return
			}
		}
	}
}

// refreshTime is how long a person waits for the shared memory.
const refreshTime = 2 * time.Second

// Refresh brings scopes here as the shared memory has them, before somebody
// lists or changes them. No scopes means all that the tenant's memories are in.
// False says that this couldn't be done in time: what is here may be old or
// lack something.
func (f *Fleet) Refresh(ctx context.Context, tenant string, scopes ...store.Scope) bool {
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	if !f.up() {
		return false
	}
	if len(scopes) == 0 {
		var err error
		if scopes, err = f.scopesOf(ctx, tenant); err != nil {
			return false
		}
	}
	return f.bring(ctx, tenant, scopes)
}

// bring loads what isn't held of scopes and looks at what has changed.
func (f *Fleet) bring(ctx context.Context, tenant string, scopes []store.Scope) bool {
	for {
		f.touch(tenant, scopes)
		f.loaded(ctx, tenant, scopes)
		if ctx.Err() != nil {
			return false
		}
		whole, direct := f.wholly(tenant, scopes)
		if direct {
			return false
		}
		if whole {
			break
		}
		if !f.up() {
			return false
		}
		select {
		case <-time.After(20 * time.Millisecond): // the load failed, or there was no room to ask for it
		case <-ctx.Done():
			return false
		}
	}
	return f.look(ctx, tenant) == nil
}

// wholly says whether all scopes are held, and whether one is too large to be.
func (f *Fleet) wholly(tenant string, scopes []store.Scope) (whole, direct bool) {
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	whole = true
	for _, sc := range scopes {
		s := c.scopes[scopeKey{tenant, sc}]
		whole = whole && s != nil && s.whole
		direct = direct || s != nil && s.direct
	}
	return whole, direct
}

// scopesOf lists the scopes in which a tenant has memories.
func (f *Fleet) scopesOf(ctx context.Context, tenant string) ([]store.Scope, error) {
	rs, err := f.remote.Records(ctx, tenant, store.RecordQuery{AllScopes: true, Kinds: []store.RecordKind{recordScope}, Limit: 10_000})
	if err != nil {
		return nil, err
	}
	var out []store.Scope
	for _, r := range rs {
		out = append(out, r.Scope)
	}
	return out, nil
}
