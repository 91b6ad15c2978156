package fleet

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hindsight/store"
)

const (
	// overlap is how much of what has been seen is looked at again: the shared
	// store's clocks may differ among its nodes, and a write becomes visible after
	// its time.
	overlap = time.Minute
	// begin is how far back the first look at a tenant goes: what was written while
	// its scopes were loaded, whatever the clocks say.
	begin = 10 * time.Minute

	looksAtOnce = 4
	loadsAtOnce = 4
	page        = 500 // memories a call of Load
	// scopesNamed is how many scopes a question names at most.
	scopesNamed = 500
)

// follow loads the scopes that are asked for and looks at what changed, until
// ctx ends.
func (f *Fleet) follow(ctx context.Context) {
	tick := time.NewTicker(f.cfg.Poll)
	defer tick.Stop()
	var work sync.WaitGroup
	defer work.Wait()
	looks, loads := make(chan struct{}, looksAtOnce), make(chan struct{}, loadsAtOnce)
	was := false // what the shared store was at the last tick
	verified := f.lately
	for {
		select {
		case <-ctx.Done():
			return
		case k := <-f.copies.wanted:
			work.Go(func() {
				loads <- struct{}{}
				defer func() { <-loads }()
				f.load(ctx, k)
			})
		case tenant := <-f.copies.hurry:
			f.lookAt(ctx, &work, looks, tenant)
		case <-tick.C:
			now := f.cfg.Now()
			switch on := f.reachable(ctx); {
			case on && !was:
				what := verified
				work.Go(func() { f.verify(ctx, what) })
				was = true
			case !on && was:
				was = false
				verified = func(context.Context) ([]delivered, error) { return f.shipped.since(now.Add(-shippedFor)), nil }
				f.health.missed()
			case !on:
				f.health.missed()
			}
			if !was {
				continue
			}
			for _, tenant := range f.due(now) {
				f.lookAt(ctx, &work, looks, tenant)
			}
			f.makeRoom(ctx)
			work.Go(func() { f.tend(ctx) })
		}
	}
}

// reachable says whether the shared store answers. Where a request has waited
// for it in vain, it is asked something small.
func (f *Fleet) reachable(ctx context.Context) bool {
	if on, _ := f.remote.State(); !on {
		return false
	}
	if f.health.up() {
		return true
	}
	f.copies.mu.Lock()
	tenant := ""
	for name := range f.copies.tenants {
		tenant = name
		break
	}
	f.copies.mu.Unlock()
	if tenant == "" {
		f.health.good() // the next request finds out
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, f.cfg.Poll)
	defer cancel()
	if _, err := f.remote.Records(ctx, tenant, store.RecordQuery{AllScopes: true, IDs: []string{"nothing"}, Limit: 1}); err != nil {
		return false
	}
	f.health.good()
	return true
}

// lookAt looks at a tenant in a goroutine of its own, unless somebody does.
func (f *Fleet) lookAt(ctx context.Context, work *sync.WaitGroup, places chan struct{}, tenant string) {
	c := &f.copies
	c.mu.Lock()
	t := c.tenants[tenant]
	if t == nil || t.looking {
		c.mu.Unlock()
		return
	}
	t.looking = true
	c.mu.Unlock()
	work.Go(func() {
		places <- struct{}{}
		defer func() { <-places }()
		err := f.look(ctx, tenant)
		c.mu.Lock()
		t.looking = false
		c.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			f.health.bad()
			f.log.Debug("the shared memory's changes can't be read", "error", err)
		}
	})
}

// look takes over what has changed in a tenant.
func (f *Fleet) look(ctx context.Context, tenant string) error {
	start := f.cfg.Now()
	c := &f.copies
	c.mu.Lock()
	t := c.tenants[tenant]
	if t == nil {
		c.mu.Unlock()
		return nil
	}
	if t.cursor.IsZero() {
		t.cursor = start.Add(-begin)
	}
	if t.records.IsZero() {
		t.records = start.Add(-begin)
	}
	since, records := t.cursor.Add(-overlap), t.records.Add(-overlap)
	c.mu.Unlock()
	scopes := c.held(tenant)
	if err := f.lookAtRecords(ctx, tenant, scopes, records); err != nil {
		return fmt.Errorf("read what was forgotten: %w", err)
	}
	if len(scopes) > 0 {
		if err := f.lookAtMemories(ctx, tenant, scopes, since); err != nil {
			return fmt.Errorf("read what has changed: %w", err)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	t.good = start
	f.health.good()
	for id, s := range t.seen {
		if start.Sub(s.at) > 2*(overlap+begin) {
			delete(t.seen, id)
		}
	}
	return nil
}

// lookAtRecords takes over erasures, tombstones and sessions that another
// sidecar has left.
func (f *Fleet) lookAtRecords(ctx context.Context, tenant string, scopes []store.Scope, since time.Time) error {
	q := store.RecordQuery{
		Scopes: scopes, Kinds: []store.RecordKind{store.RecordGone, store.RecordErasure, store.RecordTombstone, store.RecordSession},
		Since: since, Limit: 10_000,
	}
	if len(scopes) == 0 || len(scopes) > scopesNamed {
		q.Scopes, q.AllScopes = nil, true
	}
	rs, err := f.remote.Records(ctx, tenant, q)
	if err != nil {
		return err
	}
	var newest time.Time
	var mine []store.SharedRecord
	for _, r := range rs {
		if r.Changed.After(newest) {
			newest = r.Changed
		}
		if r.Kind == store.RecordErasure {
			f.entered.Delete(scopeKey{tenant, r.Scope}) // its entry went with it
		}
		if r.Kind == store.RecordSession {
			if left(r) {
				f.adopt(ctx, tenant, r)
			}
			continue
		}
		if f.news(tenant, string(r.Kind)+r.ID, r.Time.String()) {
			mine = append(mine, r)
		}
	}
	if len(mine) > 0 {
		if err := f.local.AbsorbRecords(ctx, mine); err != nil {
			for _, r := range mine {
				f.forget(tenant, []string{string(r.Kind) + r.ID})
			}
			return err
		}
	}
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tenants[tenant]; t != nil && newest.After(t.records) {
		t.records = newest
	}
	return nil
}

// news says whether a form hasn't been seen yet, and notes it.
func (f *Fleet) news(tenant, id, digest string) bool {
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.tenants[tenant]
	if t == nil || t.seen[id].digest == digest {
		return false
	}
	t.seen[id] = seen{digest, f.cfg.Now()}
	return true
}

// forget makes forms unseen: they couldn't be taken over after all.
func (f *Fleet) forget(tenant string, ids []string) {
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tenants[tenant]; t != nil {
		for _, id := range ids {
			delete(t.seen, id)
		}
	}
}

// lookAtMemories takes over the memories that are newer there. One that is newer
// here goes into the outbox again by being absorbed.
func (f *Fleet) lookAtMemories(ctx context.Context, tenant string, scopes []store.Scope, since time.Time) error {
	var stamps []store.Stamp
	for some := range slices.Chunk(scopes, scopesNamed) {
		part, err := f.remote.Changed(ctx, tenant, some, since)
		if err != nil {
			return err
		}
		stamps = append(stamps, part...)
	}
	var newest time.Time
	mine := make(map[store.Scope]bool, len(scopes))
	for _, sc := range scopes {
		mine[sc] = true
	}
	by := map[store.Scope][]string{}
	for _, s := range stamps {
		if s.Changed.After(newest) {
			newest = s.Changed
		}
		if !mine[s.Scope] || !f.news(tenant, s.ID, s.Digest) {
			continue
		}
		same, err := f.isHere(ctx, s)
		if err != nil {
			f.forget(tenant, []string{s.ID})
			return err
		}
		if !same {
			by[s.Scope] = append(by[s.Scope], s.ID)
		}
	}
	for sc, ids := range by {
		err := f.fetchByID(ctx, scopeKey{tenant, sc}, ids, func(ms []store.SharedMemory) error { return f.local.AbsorbMemories(ctx, ms) })
		if err != nil {
			f.forget(tenant, ids)
			return err
		}
	}
	c := &f.copies
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.tenants[tenant]; t != nil && newest.After(t.cursor) {
		t.cursor = newest
	}
	return nil
}
