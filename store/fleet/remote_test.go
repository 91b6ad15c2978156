package fleet

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// cloud is a shared store in memory, which may be away, hang, or lose sight of
// what it has.
type cloud struct {
	mu       sync.Mutex
	away     bool
	hung     chan struct{}              // not nil: calls wait for it, or for their context
	refuse   func(id string) error      // of a memory
	full     error                      // why nothing is taken
	memories map[string]map[string]kept // by tenant and id
	records  map[string]map[string]store.SharedRecord
	blind    map[string]bool // ids that no search finds
	calls    map[string]int
	clock    time.Time
}

type kept struct {
	store.SharedMemory
	changed time.Time
}

func newCloud() *cloud {
	return &cloud{
		memories: map[string]map[string]kept{}, records: map[string]map[string]store.SharedRecord{},
		blind: map[string]bool{}, calls: map[string]int{}, clock: time.Now(),
	}
}

// enter begins a call; its error is that of a server that is away or hangs.
func (c *cloud) enter(ctx context.Context, name string) error {
	c.mu.Lock()
	hung, away := c.hung, c.away
	c.calls[name]++
	c.mu.Unlock()
	if away {
		return &store.Off{Reason: "unplugged"}
	}
	if hung != nil {
		select {
		case <-hung:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

func (c *cloud) set(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *cloud) count(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[name]
}

func (c *cloud) State() (bool, string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.away {
		return false, "unplugged"
	}
	return true, ""
}

func (c *cloud) PutMemories(ctx context.Context, tenant string, ms []store.SharedMemory) (map[string]error, error) {
	if err := c.enter(ctx, "put"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	failed := map[string]error{}
	if c.memories[tenant] == nil {
		c.memories[tenant] = map[string]kept{}
	}
	for _, m := range ms {
		err := c.full
		if c.refuse != nil && err == nil {
			err = c.refuse(m.Memory.ID)
		}
		if err != nil {
			failed[m.Memory.ID] = err
			continue
		}
		c.clock = c.clock.Add(time.Millisecond)
		c.memories[tenant][m.Memory.ID] = kept{m, c.clock}
	}
	return failed, nil
}

func (c *cloud) DeleteMemories(ctx context.Context, tenant string, _ store.Scope, ids []string) error {
	if err := c.enter(ctx, "delete"); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		delete(c.memories[tenant], id)
		delete(c.blind, id)
	}
	return nil
}

func (c *cloud) EraseScope(ctx context.Context, tenant string, sc store.Scope) (n int, err error) {
	if err := c.enter(ctx, "erase"); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, m := range c.memories[tenant] {
		if m.Memory.Scope == sc {
			delete(c.memories[tenant], id)
			n++
		}
	}
	for id, r := range c.records[tenant] {
		if r.Scope == sc {
			delete(c.records[tenant], id)
		}
	}
	return n, nil
}

func (c *cloud) Memories(ctx context.Context, tenant string, sc store.Scope, ids []string) ([]store.SharedMemory, error) {
	if err := c.enter(ctx, "memories"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []store.SharedMemory
	for _, id := range ids {
		if m, ok := c.memories[tenant][id]; ok && m.Memory.Scope == sc {
			out = append(out, m.SharedMemory)
		}
	}
	return out, nil
}

func (c *cloud) Changed(ctx context.Context, tenant string, scopes []store.Scope, since time.Time) ([]store.Stamp, error) {
	if err := c.enter(ctx, "changed"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []store.Stamp
	for id, m := range c.memories[tenant] {
		if slices.Contains(scopes, m.Memory.Scope) && !m.changed.Before(since) {
			out = append(out, store.Stamp{ID: id, Scope: m.Memory.Scope, Revision: m.Memory.Revision, Digest: m.Memory.Digest(), Changed: m.changed})
		}
	}
	return out, nil
}

func (c *cloud) Load(ctx context.Context, tenant string, sc store.Scope, after string, limit int) ([]store.SharedMemory, string, error) {
	if err := c.enter(ctx, "load"); err != nil {
		return nil, "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []store.SharedMemory
	for id, m := range c.memories[tenant] {
		if m.Memory.Scope == sc && id > after {
			out = append(out, m.SharedMemory)
		}
	}
	slices.SortFunc(out, func(a, b store.SharedMemory) int { return strings.Compare(a.Memory.ID, b.Memory.ID) })
	if len(out) <= limit {
		return out, "", nil
	}
	return out[:limit], out[limit-1].Memory.ID, nil
}

func (c *cloud) Count(ctx context.Context, tenant string, sc store.Scope) (n int, err error) {
	if err := c.enter(ctx, "count"); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.memories[tenant] {
		if m.Memory.Scope == sc {
			n++
		}
	}
	return n, nil
}

func (c *cloud) Mend(ctx context.Context, tenant string, ms []store.SharedMemory) (n int, err error) {
	if err := c.enter(ctx, "mend"); err != nil {
		return 0, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.memories[tenant] == nil {
		c.memories[tenant] = map[string]kept{}
	}
	for _, m := range ms {
		if _, ok := c.memories[tenant][m.Memory.ID]; ok && !c.blind[m.Memory.ID] {
			continue
		}
		delete(c.blind, m.Memory.ID)
		c.clock = c.clock.Add(time.Millisecond)
		c.memories[tenant][m.Memory.ID] = kept{m, c.clock}
		n++
	}
	return n, nil
}

func (c *cloud) Search(ctx context.Context, q index.Query) (index.Result, error) {
	if err := c.enter(ctx, "search"); err != nil {
		return index.Result{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var res index.Result
	for id, m := range c.memories[q.Tenant] {
		if !slices.Contains(q.Scopes, m.Memory.Scope) {
			continue
		}
		res.Docs++
		if !c.blind[id] {
			res.Hits = append(res.Hits, index.Hit{Memory: &m.Memory, Scope: m.Memory.Scope})
		}
	}
	return res, nil
}

func (c *cloud) List(ctx context.Context, q index.Query) ([]*store.Memory, error) {
	res, err := c.Search(ctx, q)
	var out []*store.Memory
	for _, h := range res.Hits {
		if h.Memory.Standing {
			out = append(out, h.Memory)
		}
	}
	return out, err
}

func (c *cloud) PutRecords(ctx context.Context, tenant string, rs []store.SharedRecord) (map[string]error, error) {
	if err := c.enter(ctx, "put records"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.records[tenant] == nil {
		c.records[tenant] = map[string]store.SharedRecord{}
	}
	failed := map[string]error{}
	for _, r := range rs {
		if c.full != nil {
			failed[r.ID] = c.full
			continue
		}
		c.clock = c.clock.Add(time.Millisecond)
		r.Changed = c.clock
		c.records[tenant][string(r.Kind)+" "+r.ID] = r
	}
	return failed, nil
}

func (c *cloud) Records(ctx context.Context, tenant string, q store.RecordQuery) ([]store.SharedRecord, error) {
	if err := c.enter(ctx, "records"); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	any := func(list []string, has ...string) bool {
		return len(list) == 0 || slices.ContainsFunc(has, func(s string) bool { return slices.Contains(list, s) })
	}
	var out []store.SharedRecord
	for _, r := range c.records[tenant] {
		if (q.AllScopes || slices.Contains(q.Scopes, r.Scope)) && (len(q.Kinds) == 0 || slices.Contains(q.Kinds, r.Kind)) &&
			any(q.IDs, r.ID) && any(q.Sessions, r.Session) && any(q.Keys, r.Keys...) && !r.Changed.Before(q.Since) && (!q.Pending || !r.Reflected) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b store.SharedRecord) int { return a.Changed.Compare(b.Changed) })
	return out, nil
}

var _ Remote = (*cloud)(nil)
