package weaviatedb

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weaviate/weaviate/entities/models"
)

// usage remembers which tenants of Weaviate this process has used and when.
type usage struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newUsage() *usage { return &usage{at: map[string]time.Time{}} }

func (u *usage) touch(tenant string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at[tenant] = time.Now()
}

func (u *usage) forget(tenant string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.at, tenant)
}

// rest takes out the tenants that weren't used since a moment, and of more than so
// many those used longest ago.
func (u *usage) rest(since time.Time, most int) (out []string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	byUse := slices.SortedFunc(maps.Keys(u.at), func(a, b string) int { return u.at[a].Compare(u.at[b]) })
	for i, t := range byUse {
		if !u.at[t].Before(since) && i >= len(byUse)-most {
			break
		}
		out = append(out, t)
		delete(u.at, t)
	}
	return out
}

func (u *usage) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.at)
}

// coldAtOnce is how many tenants one call sets cold.
const coldAtOnce = 100

// cool sets the tenants of scopes cold that nobody here has used for a while, or
// that are too many: an open one costs the server files and memory. Whoever asks
// for one next, here or elsewhere, opens it by asking (autoTenantActivation).
func (d *DB) cool(ctx context.Context) {
	client, err := d.ready()
	if err != nil {
		return
	}
	idle := d.used.rest(time.Now().Add(-d.cfg.Idle), d.cfg.Open)
	for len(idle) > 0 && ctx.Err() == nil {
		part := idle[:min(coldAtOnce, len(idle))]
		idle = idle[len(part):]
		tenants := make([]models.Tenant, len(part))
		for i, name := range part {
			tenants[i] = models.Tenant{Name: name, ActivityStatus: models.TenantActivityStatusCOLD}
		}
		call, cancel := context.WithTimeout(ctx, 10*d.cfg.Timeout)
		err := client.Schema().TenantsUpdater().WithClassName(d.memories()).WithTenants(tenants...).Do(call)
		cancel()
		if err != nil {
			d.cfg.Log.Warn("idle scopes stay open", "error", plain(err))
		}
	}
}
