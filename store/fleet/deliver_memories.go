package fleet

import (
	"context"
	"errors"
	"slices"

	"hindsight/store"
)

// deliverMemories puts memories, each merged with the form that is there.
func (f *Fleet) deliverMemories(ctx context.Context, k scopeKey, part []store.Shipment) ([]uint64, error) {
	var ids []string
	for _, s := range part {
		ids = append(ids, s.Memory.Memory.ID)
	}
	there, gone, err := f.thereOrGone(ctx, k, ids)
	if err != nil {
		return nil, err
	}
	var put, back []store.SharedMemory
	for _, s := range part {
		m := *s.Memory
		if erased(gone, m.Memory) {
			continue // by another: it must not come back
		}
		t, ok := there[m.Memory.ID]
		if !ok {
			put = append(put, m)
			continue
		}
		both := joined(m, t)
		if both.Memory.Digest() != t.Memory.Digest() || len(t.Vector) == 0 && len(both.Vector) > 0 {
			put = append(put, both)
		}
		if both.Memory.Digest() != m.Memory.Digest() {
			back = append(back, both)
		}
	}
	var failed map[string]error
	if len(put) > 0 {
		if err := f.enter(ctx, k); err != nil {
			return nil, err
		}
		if failed, err = f.remote.PutMemories(ctx, k.tenant, put); err != nil {
			return nil, err
		}
		f.shipped.memories(k, put, f.cfg.Now())
	}
	if err := f.absorb(ctx, back, gone); err != nil {
		return nil, err
	}
	return arrived(part, func(s store.Shipment) error { return failed[s.Memory.Memory.ID] })
}

// recordScope is the kind of the record that says that a scope has memories. With
// it the scopes of a tenant can be listed.
const recordScope store.RecordKind = "scope"

// enter puts a scope on its tenant's list, once for each life of this process.
func (f *Fleet) enter(ctx context.Context, k scopeKey) error {
	if _, done := f.entered.Load(k); done {
		return nil
	}
	failed, err := f.remote.PutRecords(ctx, k.tenant, []store.SharedRecord{{
		Kind: recordScope, ID: "scope-" + hashOf(k), Tenant: k.tenant, Scope: k.scope, Time: f.cfg.Now().UTC(),
	}})
	for _, e := range failed {
		err = errors.Join(err, refused{e})
	}
	if err == nil {
		f.entered.Store(k, true)
	}
	return err
}

// joined merges two forms of a memory. The vector stays with the words that it
// was made of.
func joined(a, b store.SharedMemory) store.SharedMemory {
	out := store.SharedMemory{Memory: store.Merged(a.Memory, b.Memory)}
	for _, m := range []store.SharedMemory{a, b} {
		if len(out.Vector) == 0 && m.Memory.Text == out.Memory.Text {
			out.Vector = m.Vector
		}
	}
	return out
}

// absorb takes in what delivery has found newer in the shared memory.
func (f *Fleet) absorb(ctx context.Context, ms []store.SharedMemory, gone map[string]store.SharedRecord) error {
	if len(ms) > 0 {
		if err := f.local.AbsorbMemories(ctx, ms); err != nil {
			return err
		}
	}
	if len(gone) == 0 {
		return nil
	}
	var rs []store.SharedRecord
	for _, r := range gone {
		rs = append(rs, r)
	}
	return f.local.AbsorbRecords(ctx, rs)
}

// thereOrGone finds memories in the shared store, and which of the others were
// erased, by id.
func (f *Fleet) thereOrGone(ctx context.Context, k scopeKey, ids []string) (map[string]store.SharedMemory, map[string]store.SharedRecord, error) {
	is, err := f.remote.Memories(ctx, k.tenant, k.scope, ids)
	if err != nil {
		return nil, nil, err
	}
	there := map[string]store.SharedMemory{}
	for _, m := range is {
		there[m.Memory.ID] = m
	}
	missing := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, ok := there[id]; return ok })
	gone, err := f.goneAmong(ctx, k, missing)
	return there, gone, err
}

// goneAmong finds which memories were erased, by id.
func (f *Fleet) goneAmong(ctx context.Context, k scopeKey, ids []string) (map[string]store.SharedRecord, error) {
	out := map[string]store.SharedRecord{}
	for some := range slices.Chunk(ids, batch) {
		rs, err := f.remote.Records(ctx, k.tenant, store.RecordQuery{
			Scopes: []store.Scope{k.scope}, Kinds: []store.RecordKind{store.RecordGone}, IDs: some, Limit: len(some),
		})
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			out[r.ID] = r
		}
	}
	return out, nil
}

// erased says whether a memory was erased, and not written again since.
func erased(gone map[string]store.SharedRecord, m store.Memory) bool {
	r, ok := gone[m.ID]
	return ok && !m.CreatedAt.After(r.Time)
}

// deliverGone takes erased memories away and leaves word that they were: first
// the word, so that nobody brings one back in between.
func (f *Fleet) deliverGone(ctx context.Context, k scopeKey, part []store.Shipment) ([]uint64, error) {
	var ids []string
	var rs []store.SharedRecord
	for _, s := range part {
		ids = append(ids, s.Gone)
		if s.Record != nil { // else it only lies elsewhere now
			rs = append(rs, *s.Record)
		}
	}
	var failed map[string]error
	if len(rs) > 0 {
		var err error
		if failed, err = f.remote.PutRecords(ctx, k.tenant, rs); err != nil {
			return nil, err
		}
	}
	if err := f.remote.DeleteMemories(ctx, k.tenant, k.scope, ids); err != nil {
		return nil, err
	}
	return arrived(part, func(s store.Shipment) error { return failed[s.Gone] })
}

// deliverErasure empties a scope and leaves word of it.
func (f *Fleet) deliverErasure(ctx context.Context, k scopeKey, part []store.Shipment) ([]uint64, error) {
	if _, err := f.remote.EraseScope(ctx, k.tenant, k.scope); err != nil {
		return nil, err
	}
	f.entered.Delete(k) // its entry went with it
	var seqs []uint64
	for _, s := range part {
		failed, err := f.remote.PutRecords(ctx, k.tenant, []store.SharedRecord{*s.Record})
		if e := failed[s.Record.ID]; e != nil {
			err = errors.Join(err, refused{e})
		}
		if err != nil {
			return seqs, err
		}
		seqs = append(seqs, s.Seq)
	}
	return seqs, nil
}
