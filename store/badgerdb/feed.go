package badgerdb

import (
	"context"
	"errors"
	"hash/maphash"
	"sync"

	"hindsight/store"
)

// feed numbers the changes of each scope, so that an index can follow. Numbers
// grow over all scopes together and over openings; they aren't kept on disk.
type feed struct {
	mu    sync.Mutex
	last  uint64 // the last number given out
	seed  maphash.Seed
	parts [feedParts]feedPart
}

// feedPart holds some of the scopes, by their hash.
type feedPart struct {
	base   uint64 // the version of a scope whose changes aren't listed
	scopes map[scopeName]*changes
}

// What is listed is bounded: a part with too many scopes is emptied, and an index
// reads those anew, if it has any of them. Users come and go, and a process stays.
const (
	feedParts     = 256
	feedScopesMax = 64 // in a part
)

type scopeName struct {
	tenant string
	scope  store.Scope
}

// changes are the recent ones of a scope, oldest first. since is the version
// before the first of them.
type changes struct {
	since uint64
	list  []changed
}

type changed struct {
	version uint64
	id      string
}

// keptChanges is how many a scope keeps at least; at most it is twice as many.
const keptChanges = 4096

func newFeed() *feed {
	f := &feed{seed: maphash.MakeSeed()}
	f.reset()
	return f
}

func (f *feed) part(n scopeName) *feedPart {
	return &f.parts[maphash.Comparable(f.seed, n)%feedParts]
}

// empty unlists the changes of a part's scopes.
func (f *feed) empty(p *feedPart) {
	p.base, p.scopes = f.last, map[scopeName]*changes{}
}

// reset makes every index read its scopes anew.
func (f *feed) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	for i := range f.parts {
		f.empty(&f.parts[i])
	}
}

// later notes a change once t is committed.
func (f *feed) later(t *tx, tenant string, sc store.Scope, id string) {
	t.after = append(t.after, func() { f.add(scopeName{tenant, sc}, id) })
}

func (f *feed) add(n scopeName, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	c := f.list(n)
	c.list = append(c.list, changed{f.last, id})
	if over := len(c.list) - keptChanges; over > keptChanges {
		c.since = c.list[over-1].version
		c.list = append([]changed(nil), c.list[over:]...)
	}
}

// list is where a scope's changes are listed.
func (f *feed) list(n scopeName) *changes {
	p := f.part(n)
	c := p.scopes[n]
	if c != nil {
		return c
	}
	if len(p.scopes) >= feedScopesMax {
		f.empty(p)
	}
	c = &changes{since: p.base}
	p.scopes[n] = c
	return c
}

// skip gives out a number that stands for no change.
func (f *feed) skip() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	return f.last
}

func (f *feed) version(n scopeName) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.part(n)
	if c := p.scopes[n]; c != nil {
		return c.version()
	}
	return p.base
}

// version is that of the last change.
func (c *changes) version() uint64 {
	if len(c.list) == 0 {
		return c.since
	}
	return c.list[len(c.list)-1].version
}

// cut makes an index read a scope anew.
func (f *feed) cut(n scopeName) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	*f.list(n) = changes{since: f.last}
}

// after lists the ids that changed after a version, each once, and the version
// that this reaches; false where that is too far back to tell.
func (f *feed) after(n scopeName, since uint64) ([]string, uint64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p := f.part(n)
	c := p.scopes[n]
	if c == nil {
		return nil, p.base, since == p.base
	}
	now := c.version()
	if since < c.since || since > now {
		return nil, now, false
	}
	seen := map[string]bool{}
	var ids []string
	for _, ch := range c.list {
		if ch.version > since && !seen[ch.id] {
			seen[ch.id] = true
			ids = append(ids, ch.id)
		}
	}
	return ids, now, true
}

// ScopeVersion grows with every change of a scope's memories. It costs a map
// look-up.
func (s *Store) ScopeVersion(tenant string, sc store.Scope) uint64 {
	return s.feed.version(scopeName{s.tenant(tenant), sc})
}

// ScopeMemories lists all memories of a scope, whatever their state, and the
// version that they have at least.
func (s *Store) ScopeMemories(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, uint64, error) {
	tenant = s.tenant(tenant)
	version := s.feed.version(scopeName{tenant, sc})
	out := []store.Memory{}
	err := s.view(func(v view) error {
		at := v.h.at(tenant, sc)
		for r := range v.rows(join(famMemory, at[:]), nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			var m store.Memory
			if err := r.into(&m); err != nil {
				return err
			}
			out = append(out, m)
		}
		return nil
	})
	return out, version, wrap("list the memories of a scope", err)
}

// ScopeChanges lists the memories of a scope that changed after a version, as
// they are now, and the version that this reaches. An erased one comes with its
// id and scope, state Archived and no text. False: too far back, or the store
// is closed; read the scope anew.
func (s *Store) ScopeChanges(tenant string, sc store.Scope, since uint64) ([]store.Memory, uint64, bool) {
	tenant = s.tenant(tenant)
	ids, version, ok := s.feed.after(scopeName{tenant, sc}, since)
	if !ok {
		return nil, version, false
	}
	out := make([]store.Memory, 0, len(ids))
	err := s.view(func(v view) error {
		for _, id := range ids {
			m, _, err := v.memory(id)
			if errors.Is(err, store.ErrNotFound) {
				m, err = store.Memory{ID: id, Tenant: tenant, Scope: sc, State: store.Archived}, nil
			}
			if err != nil {
				return err
			}
			out = append(out, m)
		}
		return nil
	})
	return out, version, err == nil
}
