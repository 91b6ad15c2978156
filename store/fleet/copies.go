package fleet

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"hindsight/store"
)

// copies are the scopes that this sidecar works with, and the tenants that it
// follows for them.
type copies struct {
	mu      sync.Mutex
	scopes  map[scopeKey]*copied
	tenants map[string]*followed
	counted bool          // what an earlier life of the process has left is among scopes
	wanted  chan scopeKey // to be loaded
	hurry   chan string   // tenants to be looked at now
}

// copied is one scope as it is held here.
type copied struct {
	used   time.Time
	whole  bool          // it was loaded, and is followed since
	direct bool          // it is too large to be held
	bytes  int64         // about
	load   chan struct{} // closed when the load that is under way has ended; nil: none is
}

// followed is a tenant some of whose scopes are held.
type followed struct {
	used    time.Time
	good    time.Time // when the last look that succeeded began
	cursor  time.Time // changes up to here have been seen, by the shared store's clock
	records time.Time // the same for records
	looking bool
	seen    map[string]seen // forms that have been compared lately, by memory
}

// seen is a form of a memory that was compared with the one here.
type seen struct {
	digest string
	at     time.Time
}

func newCopies() copies {
	return copies{
		scopes: map[scopeKey]*copied{}, tenants: map[string]*followed{},
		wanted: make(chan scopeKey, 1024), hurry: make(chan string, 64),
	}
}

// touch notes that scopes are used, has those loaded that aren't held, and says
// whether all of them are held and fresh.
func (f *Fleet) touch(tenant string, scopes []store.Scope) (fresh bool) {
	now := f.cfg.Now()
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenants[tenant]
	if t == nil {
		t = &followed{seen: map[string]seen{}}
		c.tenants[tenant] = t
	}
	t.used = now
	fresh = now.Sub(t.good) < f.cfg.Fresh
	stale := !fresh
	for _, sc := range scopes {
		k := scopeKey{tenant, sc}
		s := c.scopes[k]
		if s == nil {
			s = &copied{}
			c.scopes[k] = s
		}
		s.used = now
		f.local.UseCopy(tenant, sc)
		if s.whole {
			continue
		}
		fresh = false
		if s.load != nil || s.direct {
			continue
		}
		s.load = make(chan struct{})
		select {
		case c.wanted <- k:
		default: // so many are waiting that this one can ask again
			s.load = nil
		}
	}
	if stale && t.good != (time.Time{}) && !t.looking {
		select {
		case c.hurry <- tenant:
		default: // the next look is near
		}
	}
	return fresh
}

// loading is the end of the load of a scope that is under way, nil if none is.
func (c *copies) loading(k scopeKey) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s := c.scopes[k]; s != nil {
		return s.load
	}
	return nil
}

// due lists the tenants to be looked at, and lets go of the tenants and scopes that
// nobody has asked about for long: they aren't followed any more, and a scope is
// brought up to date when somebody does ask.
func (f *Fleet) due(now time.Time) []string {
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	for k, s := range c.scopes { // a tenant is used whenever a scope of it is
		if s.load != nil || now.Sub(s.used) <= f.cfg.Idle {
			continue
		}
		s.whole = false
		if s.bytes == 0 {
			delete(c.scopes, k)
		}
	}
	var out []string
	for name, t := range c.tenants {
		if now.Sub(t.used) > f.cfg.Idle && !t.looking {
			delete(c.tenants, name)
			continue
		}
		if !t.looking && now.Sub(t.good) >= f.cfg.Poll {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// held lists the scopes of a tenant that are followed.
func (c *copies) held(tenant string) []store.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []store.Scope
	for k, s := range c.scopes {
		if k.tenant == tenant && s.whole {
			out = append(out, k.scope)
		}
	}
	slices.Sort(out)
	return out
}

// countLeft takes up the scopes that an earlier life of the process has left in
// the directory: they count, and can be dropped.
func (f *Fleet) countLeft(ctx context.Context) {
	c := &f.copies
	c.mu.Lock()
	counted := c.counted
	c.mu.Unlock()
	if counted {
		return
	}
	left, err := f.local.Copies(ctx)
	if err != nil {
		return // not open yet: at the next tick
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counted = true
	for _, x := range left {
		if k := (scopeKey{x.Tenant, x.Scope}); c.scopes[k] == nil {
			c.scopes[k] = &copied{used: x.Used, bytes: x.Bytes}
		}
	}
}

// inUse is how long a scope stays in any case: whoever asked for it, and perhaps
// for more than there is room for, wants to read it. It is longer than the
// directory's own rest.
const inUse = 70 * time.Second

// makeRoom drops the scopes that were used longest ago until the copy is within
// its bound. One with changes that aren't delivered stays.
func (f *Fleet) makeRoom(ctx context.Context) {
	f.countLeft(ctx)
	type one struct {
		key   scopeKey
		used  time.Time
		bytes int64
	}
	c := &f.copies
	c.mu.Lock()
	var all []one
	var total int64
	whole := 0
	for k, s := range c.scopes {
		if s.whole {
			whole++
		}
		if s.bytes > 0 && s.load == nil {
			total += s.bytes
			all = append(all, one{k, s.used, s.bytes})
		}
	}
	c.mu.Unlock()
	slices.SortFunc(all, func(a, b one) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.key.scope, b.key.scope)) })
	for _, o := range all {
		if total <= f.cfg.Copy || f.cfg.Now().Sub(o.used) < inUse {
			break
		}
		c.mu.Lock()
		s := c.scopes[o.key]
		taken := s != nil && s.load == nil && s.used.Equal(o.used)
		was := taken && s.whole
		if taken {
			s.whole = false
		}
		c.mu.Unlock()
		if !taken {
			continue
		}
		if _, err := f.local.DropCopy(ctx, o.key.tenant, o.key.scope); err != nil {
			f.log.Debug("a scope stays in the local copy", "error", err)
			c.mu.Lock()
			s.whole = was
			c.mu.Unlock()
			continue
		}
		f.met.dropped.Inc()
		total -= o.bytes
		whole--
		c.mu.Lock()
		if s := c.scopes[o.key]; s != nil && !s.whole && s.load == nil {
			delete(c.scopes, o.key)
		}
		c.mu.Unlock()
	}
	f.met.mirrored.Set(float64(whole))
	f.met.bytes.Set(float64(total))
}
