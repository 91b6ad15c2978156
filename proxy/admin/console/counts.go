package console

import (
	"context"
	"sync"
	"time"

	"hindsight/proxy/admin"
	"hindsight/store"
)

const (
	countFresh = 20 * time.Second       // a count is shown this long without another
	countQuick = 100 * time.Millisecond // a count that takes longer isn't waited for twice
)

// counts keeps the figures of a tenant, which cost a walk through all of its
// memories. The first is waited for. Later ones are made anew at once where that
// is quick; else the page shows those that are there, and Run makes new ones.
type counts struct {
	make   func(ctx context.Context, tenant string) (counted, error)
	now    func() time.Time
	wanted chan string

	mu  sync.Mutex
	all map[string]counted
}

// counted are the slow parts of the overview.
type counted struct {
	Tenants  []store.Tenant
	Stats    *admin.Stats // nil: several tenants are there, and none is chosen
	Embedded *store.EmbeddingProgress

	at      time.Time
	took    time.Duration
	changed bool // something was done since
}

func newCounts(f func(context.Context, string) (counted, error), now func() time.Time) *counts {
	return &counts{make: f, now: now, wanted: make(chan string, 1), all: map[string]counted{}}
}

// of returns a tenant's figures.
func (c *counts) of(ctx context.Context, tenant string) (counted, error) {
	c.mu.Lock()
	have, ok := c.all[tenant]
	c.mu.Unlock()
	if ok && !have.changed && c.now().Sub(have.at) < countFresh {
		return have, nil
	}
	if !ok || have.took < countQuick {
		return c.count(ctx, tenant)
	}
	select {
	case c.wanted <- tenant:
	default: // one is being made
	}
	return have, nil
}

// count makes the figures of a tenant anew.
func (c *counts) count(ctx context.Context, tenant string) (counted, error) {
	start := c.now()
	made, err := c.make(ctx, tenant)
	if err != nil {
		return made, err
	}
	made.at, made.took = c.now(), c.now().Sub(start)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.all) >= 32 { // tenants that somebody has looked at
		clear(c.all)
	}
	c.all[tenant] = made
	return made, nil
}

// changed says that what was counted may have changed.
func (c *counts) changed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for tenant, have := range c.all {
		have.changed = true
		c.all[tenant] = have
	}
}
