package fleet

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// verify looks for what was delivered shortly before the shared store went away,
// and mends what it has lost sight of. A server that crashed was seen to keep
// its last acknowledged batch and not to find it by vector any more; only
// deleting and inserting mended that. What isn't verified because the store goes
// away again is verified when it is back: it was delivered no longer ago then.
func (f *Fleet) verify(ctx context.Context, left time.Time) {
	by := map[scopeKey][]delivered{}
	for _, d := range f.shipped.since(left.Add(-shippedFor)) {
		by[d.key] = append(by[d.key], d)
	}
	mended := 0
	for k, ds := range by {
		n, err := f.verifyScope(ctx, k, ds)
		mended += n
		if err != nil {
			if ctx.Err() == nil {
				f.log.Warn("what was delivered last isn't verified yet", "error", err)
			}
			continue
		}
	}
	f.met.mended.Add(float64(mended))
	f.log.Info("the shared memory is back", "looked_for", len(by), "mended", mended)
}

func (f *Fleet) verifyScope(ctx context.Context, k scopeKey, ds []delivered) (mended int, err error) {
	var ids []string
	records := map[string]*store.SharedRecord{}
	for _, d := range ds {
		switch {
		case d.record != nil:
			records[string(d.record.Kind)+d.record.ID] = d.record
		case !slices.Contains(ids, d.memory):
			ids = append(ids, d.memory)
		}
	}
	if err := f.verifyRecords(ctx, k, records); err != nil {
		return 0, err
	}
	for some := range slices.Chunk(ids, batch) {
		n, err := f.verifyMemories(ctx, k, some)
		mended += n
		if err != nil {
			return mended, err
		}
	}
	return mended, nil
}

// verifyMemories sees that memories are there and found by their own vector.
func (f *Fleet) verifyMemories(ctx context.Context, k scopeKey, ids []string) (mended int, err error) {
	there, err := f.remote.Memories(ctx, k.tenant, k.scope, ids)
	if err != nil {
		return 0, fmt.Errorf("read what was delivered: %w", err)
	}
	missing := slices.Clone(ids)
	var unseen []store.SharedMemory
	for _, m := range there {
		missing = slices.DeleteFunc(missing, func(id string) bool { return id == m.Memory.ID })
		ok, err := f.found(ctx, k, m)
		if err != nil {
			return mended, fmt.Errorf("search for what was delivered: %w", err)
		}
		if !ok {
			unseen = append(unseen, m)
		}
	}
	if len(missing) > 0 { // or erased by another: delivery finds that out
		if err := f.local.Reship(ctx, k.tenant, missing); err != nil {
			return mended, err
		}
	}
	if len(unseen) == 0 {
		return len(missing), nil
	}
	var again []string
	for _, m := range unseen {
		again = append(again, m.Memory.ID)
	}
	if err := f.remote.DeleteMemories(ctx, k.tenant, k.scope, again); err != nil {
		return mended, fmt.Errorf("mend what was delivered: %w", err)
	}
	failed, err := f.remote.PutMemories(ctx, k.tenant, unseen)
	if err != nil || len(failed) > 0 {
		// They are gone from there now: the outbox brings them back.
		return mended, f.local.Reship(ctx, k.tenant, again)
	}
	return len(missing) + len(unseen), nil
}

// found says whether a memory's own vector finds it.
func (f *Fleet) found(ctx context.Context, k scopeKey, m store.SharedMemory) (bool, error) {
	if len(m.Vector) == 0 {
		return true, nil
	}
	if m.Memory.State != store.Active {
		return true, nil // recall doesn't look for it; when it is put again, it is written anew
	}
	res, err := f.remote.Search(ctx, index.Query{
		Tenant: k.tenant, Scopes: []store.Scope{k.scope}, Vector: m.Vector, Now: f.cfg.Now(), Archived: true,
	})
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(res.Hits, func(h index.Hit) bool { return h.Memory.ID == m.Memory.ID || h.Memory.Text == m.Memory.Text }), nil
}

// verifyRecords puts records again that aren't there any more.
func (f *Fleet) verifyRecords(ctx context.Context, k scopeKey, records map[string]*store.SharedRecord) error {
	var ids []string
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	there := map[string]bool{}
	for some := range slices.Chunk(ids, batch) {
		rs, err := f.remote.Records(ctx, k.tenant, store.RecordQuery{Scopes: []store.Scope{k.scope}, IDs: some, Limit: 10_000})
		if err != nil {
			return fmt.Errorf("read delivered records: %w", err)
		}
		for _, r := range rs {
			there[string(r.Kind)+r.ID] = true
		}
	}
	var lost []store.SharedRecord
	for key, r := range records {
		if !there[key] {
			lost = append(lost, *r)
		}
	}
	for some := range slices.Chunk(lost, batch) {
		if _, err := f.remote.PutRecords(ctx, k.tenant, some); err != nil {
			return fmt.Errorf("deliver records again: %w", err)
		}
	}
	return nil
}
