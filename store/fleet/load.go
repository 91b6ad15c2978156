package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
)

// loadTime bounds one attempt to load a scope.
const loadTime = 2 * time.Minute

// load brings a whole scope here and has it followed from then on.
func (f *Fleet) load(ctx context.Context, k scopeKey) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	start := f.cfg.Now()
	c := &f.copies
	c.mu.Lock()
	had := int64(0)
	if s := c.scopes[k]; s != nil {
		had = s.bytes
	}
	c.mu.Unlock()
	bytes, direct, err := f.copyScope(ctx, k, had)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.scopes[k]
	if s == nil {
		return
	}
	s.direct = direct
	if err == nil && !direct {
		s.whole, s.bytes = true, bytes
		// The tenant's changes are looked at from before this load on.
		if t := c.tenants[k.tenant]; t != nil {
			if from := start.Add(-begin); t.cursor.IsZero() || from.Before(t.cursor) && t.good.IsZero() {
				t.cursor = from
			}
			if t.good.IsZero() {
				t.good = start
			}
		}
	}
	if err != nil && ctx.Err() == nil {
		f.log.Debug("a scope can't be loaded from the shared memory", "error", err)
	}
	close(s.load)
	s.load = nil
}

// copyScope takes over what was forgotten in a scope, then its memories, then sees to
// those that only this sidecar has. had is what the copy held when it was followed
// last; of such a one only what has changed meanwhile is fetched.
func (f *Fleet) copyScope(ctx context.Context, k scopeKey, had int64) (bytes int64, direct bool, err error) {
	if on, _ := f.remote.State(); !on {
		return 0, false, errAway
	}
	n, err := f.remote.Count(ctx, k.tenant, k.scope)
	if err != nil || n > f.cfg.Most {
		return 0, err == nil, err
	}
	_, err = f.takeIn(ctx, k.tenant, store.RecordQuery{
		Scopes: []store.Scope{k.scope}, Kinds: []store.RecordKind{store.RecordGone, store.RecordErasure, store.RecordTombstone},
	})
	if err != nil {
		return 0, false, fmt.Errorf("read what was forgotten: %w", err)
	}
	there := map[string]bool{}
	take := func(ms []store.SharedMemory) error {
		for _, m := range ms {
			there[m.Memory.ID] = true
			bytes += size(m)
		}
		if len(ms) == 0 {
			return nil
		}
		return f.local.AbsorbMemories(ctx, ms)
	}
	if had > 0 {
		bytes = had
		err = f.fetchChanged(ctx, k, there, take)
	} else {
		err = f.fetchAll(ctx, k, take)
	}
	if err != nil {
		return 0, false, fmt.Errorf("load a scope: %w", err)
	}
	return bytes, false, f.shipMissing(ctx, k, there)
}

func (f *Fleet) fetchAll(ctx context.Context, k scopeKey, take func([]store.SharedMemory) error) error {
	for after := ""; ; {
		ms, next, err := f.remote.Load(ctx, k.tenant, k.scope, after, page)
		if err != nil {
			return err
		}
		if err := take(ms); err != nil || next == "" {
			return err
		}
		after = next
	}
}

// fetchChanged fetches what differs from what is here, and notes in there what the
// shared store has.
func (f *Fleet) fetchChanged(ctx context.Context, k scopeKey, there map[string]bool, take func([]store.SharedMemory) error) error {
	stamps, err := f.remote.Changed(ctx, k.tenant, []store.Scope{k.scope}, time.Time{})
	if err != nil {
		return err
	}
	var differ []string
	for _, s := range stamps {
		there[s.ID] = true
		same, err := f.isHere(ctx, s)
		if err != nil {
			return err
		}
		if !same {
			differ = append(differ, s.ID)
		}
	}
	return f.fetchByID(ctx, k, differ, take)
}

// isHere says whether a memory is here in the form of its stamp.
func (f *Fleet) isHere(ctx context.Context, s store.Stamp) (bool, error) {
	m, err := f.local.Memory(ctx, s.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && m.Digest() == s.Digest, err
}

// fetchByID hands over memories of a scope, some at a time.
func (f *Fleet) fetchByID(ctx context.Context, k scopeKey, ids []string, take func([]store.SharedMemory) error) error {
	for some := range slices.Chunk(ids, batch) {
		ms, err := f.remote.Memories(ctx, k.tenant, k.scope, some)
		if err != nil {
			return err
		}
		if err := take(ms); err != nil {
			return err
		}
	}
	return nil
}

// shipMissing enqueues again what is here and not there: it was lost on the way,
// unless it was erased.
func (f *Fleet) shipMissing(ctx context.Context, k scopeKey, there map[string]bool) error {
	here, _, err := f.local.ScopeMemories(ctx, k.tenant, k.scope)
	if err != nil {
		return err
	}
	var ids []string
	by := map[string]store.Memory{}
	for _, m := range here {
		if !there[m.ID] {
			ids = append(ids, m.ID)
			by[m.ID] = m
		}
	}
	if len(ids) == 0 {
		return nil
	}
	gone, err := f.goneAmong(ctx, k, ids)
	if err != nil {
		return err
	}
	var lost []string
	for _, id := range ids {
		if !erased(gone, by[id]) {
			lost = append(lost, id)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	return f.local.Reship(ctx, k.tenant, lost)
}

// size is about what a memory takes in the directory: its texts, its vector at
// two bytes a value, and what lies around them.
func size(m store.SharedMemory) int64 {
	n := 600 + len(m.Memory.Text) + len(m.Memory.Subject) + len(m.Memory.Scenario) + 2*len(m.Vector)
	for _, e := range m.Memory.Evidence {
		n += 100 + len(e.Quote) + len(e.Context)
	}
	return int64(n)
}
