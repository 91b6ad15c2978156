package fleet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"hindsight/store"
)

// How delivery works: so many changes are read at a time, and the scopes among
// them are worked side by side.
const (
	shipAtOnce   = 1024
	scopesAtOnce = 4
	batch        = 100         // objects a call
	heldBack     = time.Second // between two looks at scopes whose delivery failed
)

// The wait after a delivery that failed: it doubles, from a quarter of a second
// to ten.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 10 * time.Second
)

// deliver empties the outbox until ctx ends.
func (f *Fleet) deliver(ctx context.Context) {
	idle := time.NewTicker(heldBack)
	defer idle.Stop()
	wait := newWait()
	for ctx.Err() == nil {
		more, err := f.deliverSome(ctx)
		switch {
		case err != nil:
			select {
			case <-time.After(wait.NextBackOff()):
			case <-ctx.Done():
			}
			continue
		case more:
			wait.Reset()
			continue
		}
		wait.Reset()
		select {
		case <-f.local.OutboxWake():
		case <-idle.C:
		case <-ctx.Done():
		}
	}
}

func newWait() *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: lastWait}
	b.Reset()
	return b
}

// drain delivers what is left when the process stops, as far as ctx allows.
func (f *Fleet) drain(ctx context.Context) {
	if err := f.local.Flush(ctx); err != nil {
		f.log.Debug("the journal isn't flushed before the last delivery", "error", err)
	}
	for {
		more, err := f.deliverSome(ctx)
		if rows, _ := f.local.OutboxDepth(); err != nil || rows == 0 || !more {
			if rows > 0 {
				f.log.Warn("changes for the shared memory wait in the data directory", "changes", rows)
			}
			return
		}
	}
}

// deliverSome delivers the oldest changes and says whether it is worth going on
// at once. The error says that nothing could be delivered.
func (f *Fleet) deliverSome(ctx context.Context) (more bool, err error) {
	if on, _ := f.remote.State(); !on {
		return false, errAway
	}
	all, err := f.local.Outbox(ctx, shipAtOnce)
	if err != nil {
		return false, err
	}
	by := map[scopeKey][]store.Shipment{}
	var order []scopeKey
	for _, s := range all {
		k := scopeKey{s.Tenant, s.Scope}
		if f.late.waits(k, f.cfg.Now()) {
			continue
		}
		if by[k] == nil {
			order = append(order, k)
		}
		by[k] = append(by[k], s)
	}
	var (
		wg     sync.WaitGroup
		mu     sync.Mutex
		done   int
		failed error
	)
	places := make(chan struct{}, scopesAtOnce)
	for _, k := range order {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			n, err := f.deliverScope(ctx, k, by[k])
			mu.Lock()
			defer mu.Unlock()
			done += n
			if err != nil {
				failed = errors.Join(failed, err)
			}
		})
	}
	wg.Wait()
	if failed != nil && ctx.Err() == nil {
		f.met.failed.Inc()
		f.log.Debug("delivery to the shared memory failed", "error", failed)
		if done == 0 {
			f.health.bad()
		}
	}
	if done == 0 {
		return false, failed
	}
	f.health.good()
	return true, nil
}

// deliverScope delivers the changes of one scope in their order, until one
// can't be: neither can those behind it then.
func (f *Fleet) deliverScope(ctx context.Context, k scopeKey, all []store.Shipment) (done int, err error) {
	for len(all) > 0 {
		n := 1
		for n < min(len(all), batch) && classOf(all[n]) == classOf(all[0]) && classOf(all[0]) != erasureClass {
			n++
		}
		part := all[:n]
		all = all[n:]
		seqs, err := f.deliverPart(ctx, k, part)
		if len(seqs) > 0 {
			if err := f.local.Shipped(ctx, seqs); err != nil {
				return done, err
			}
			f.met.delivered.WithLabelValues(string(classOf(part[0]))).Add(float64(len(seqs)))
			done += len(seqs)
		}
		if err != nil {
			f.late.failed(k, f.cfg.Now())
			return done, err
		}
	}
	f.late.good(k)
	return done, nil
}

// class is what a shipment is, as far as delivery cares.
type class string

const (
	memoryClass  class = "memory"
	goneClass    class = "erased"
	erasureClass class = "scope erased"
	recordClass  class = "record"
)

func classOf(s store.Shipment) class {
	switch {
	case s.Memory != nil:
		return memoryClass
	case s.Gone != "":
		return goneClass
	case s.Record != nil && s.Record.Kind == store.RecordErasure:
		return erasureClass
	}
	return recordClass
}

// deliverPart delivers shipments of one class and returns those that arrived.
func (f *Fleet) deliverPart(ctx context.Context, k scopeKey, part []store.Shipment) ([]uint64, error) {
	switch classOf(part[0]) {
	case memoryClass:
		return f.deliverMemories(ctx, k, part)
	case goneClass:
		return f.deliverGone(ctx, k, part)
	case erasureClass:
		return f.deliverErasure(ctx, k, part)
	}
	var rs []store.SharedRecord
	for _, s := range part {
		if s.Record != nil {
			rs = append(rs, *s.Record)
		}
	}
	failed, err := f.remote.PutRecords(ctx, k.tenant, rs)
	if err != nil {
		return nil, err
	}
	f.shipped.records(k, rs, f.cfg.Now())
	return arrived(part, func(s store.Shipment) error {
		if s.Record == nil {
			return nil
		}
		return failed[s.Record.ID]
	})
}

// arrived lists the shipments that didn't fail; the error is of one that did.
func arrived(part []store.Shipment, failed func(store.Shipment) error) (seqs []uint64, err error) {
	for _, s := range part {
		if e := failed(s); e != nil {
			err = e
			continue
		}
		seqs = append(seqs, s.Seq)
	}
	return seqs, err
}

// deliverMemories puts memories, each merged with the form that is there.
func (f *Fleet) deliverMemories(ctx context.Context, k scopeKey, part []store.Shipment) ([]uint64, error) {
	var ids []string
	for _, s := range part {
		ids = append(ids, s.Memory.Memory.ID)
	}
	is, err := f.remote.Memories(ctx, k.tenant, k.scope, ids)
	if err != nil {
		return nil, err
	}
	there := map[string]store.SharedMemory{}
	for _, m := range is {
		there[m.Memory.ID] = m
	}
	gone, err := f.goneAmong(ctx, k, slices.DeleteFunc(ids, func(id string) bool { _, ok := there[id]; return ok }))
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
		err = errors.Join(err, e)
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
		if err = errors.Join(err, failed[s.Record.ID]); err != nil {
			return seqs, err
		}
		seqs = append(seqs, s.Seq)
	}
	return seqs, nil
}

// later holds back the scopes whose last delivery failed, so that one that the
// shared store won't take doesn't keep the others waiting.
type later struct {
	mu    sync.Mutex
	until map[scopeKey]retry
}

type retry struct {
	at   time.Time
	wait *backoff.ExponentialBackOff
}

func (l *later) waits(k scopeKey, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.until[k].at)
}

func (l *later) failed(k scopeKey, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.until[k]
	if r.wait == nil {
		r.wait = newWait()
	}
	r.at = now.Add(r.wait.NextBackOff())
	l.until[k] = r
}

func (l *later) good(k scopeKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, k)
}
