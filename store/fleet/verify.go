package fleet

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"hindsight/store"
)

// verifyAgain is the wait after a verification that couldn't be ended.
const verifyAgain = 2 * time.Second

// verify looks for what was delivered shortly before the shared store went away,
// and mends what it has lost sight of: a server that crashed was seen to keep its
// last acknowledged batch and not to find it by vector any more. It goes on until
// that is done or the store is away again; then what is left is verified when it
// is back.
func (f *Fleet) verify(ctx context.Context, what func(context.Context) ([]delivered, error)) {
	begun := false
	for ctx.Err() == nil {
		if on, _ := f.remote.State(); !on && begun {
			return
		}
		begun = true
		all, err := what(ctx)
		if err == nil {
			var mended int
			if mended, err = f.verifyAll(ctx, all); err == nil {
				f.met.mended.Add(float64(mended))
				f.log.Info("the shared memory is back", "looked_for", len(all), "mended", mended)
				return
			}
		}
		f.log.Debug("what was delivered last isn't verified yet", "error", err)
		select {
		case <-time.After(verifyAgain):
		case <-ctx.Done():
		}
	}
}

// lately is what this directory holds of the last minutes: what was delivered by
// an earlier life of this process is among it, and is remembered for the next time
// that the shared store goes away.
func (f *Fleet) lately(ctx context.Context) ([]delivered, error) {
	tenants, err := f.local.Tenants(ctx)
	if err != nil {
		return nil, err
	}
	var out []delivered
	for _, t := range tenants {
		ms, _, err := f.local.Memories(ctx, store.MemoryFilter{Tenant: t.ID, Since: f.cfg.Now().Add(-2 * shippedFor), Limit: shippedMost})
		if err != nil {
			return nil, err
		}
		for i := range ms {
			out = append(out, delivered{key: scopeKey{t.ID, ms[i].Scope}, at: f.cfg.Now(), memory: &store.SharedMemory{Memory: ms[i]}})
		}
	}
	f.shipped.add(f.cfg.Now(), out...)
	return out, nil
}

func (f *Fleet) verifyAll(ctx context.Context, all []delivered) (mended int, err error) {
	by := map[scopeKey][]delivered{}
	for _, d := range all {
		by[d.key] = append(by[d.key], d)
	}
	for k, ds := range by {
		n, err := f.verifyScope(ctx, k, ds)
		mended += n
		if err != nil {
			return mended, err
		}
	}
	return mended, nil
}

func (f *Fleet) verifyScope(ctx context.Context, k scopeKey, ds []delivered) (mended int, err error) {
	memories := map[string]store.SharedMemory{} // the last form of each
	records := map[string]*store.SharedRecord{}
	for _, d := range ds {
		if d.record != nil {
			records[string(d.record.Kind)+d.record.ID] = d.record
		} else {
			memories[d.memory.Memory.ID] = *d.memory
		}
	}
	if err := f.verifyRecords(ctx, k, records); err != nil {
		return 0, err
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(memories)), batch) {
		n, err := f.verifyMemories(ctx, k, some, memories)
		mended += n
		if err != nil {
			return mended, err
		}
	}
	return mended, nil
}

// verifyMemories sees that memories are there and found, as they were delivered: a
// crash may have taken the last change of one alone, such as its vector. Another may
// have changed or erased them since.
func (f *Fleet) verifyMemories(ctx context.Context, k scopeKey, ids []string, forms map[string]store.SharedMemory) (mended int, err error) {
	there, gone, err := f.thereOrGone(ctx, k, ids)
	if err != nil {
		return 0, fmt.Errorf("read what was delivered: %w", err)
	}
	var look []store.SharedMemory
	var again []string
	for _, id := range ids {
		was := forms[id]
		m, ok := there[id]
		if !ok {
			if m = was; erased(gone, m.Memory) {
				continue
			}
		}
		if len(m.Vector) == 0 || m.Memory.Digest() != was.Memory.Digest() {
			again = append(again, id)
		}
		if ok || len(m.Vector) > 0 {
			look = append(look, m)
		}
	}
	if mended, err = f.remote.Mend(ctx, k.tenant, look); err != nil {
		return mended, fmt.Errorf("look for what was delivered: %w", err)
	}
	if len(again) > 0 { // the outbox brings them with their vectors
		err = f.local.Reship(ctx, k.tenant, again)
	}
	return mended, err
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
