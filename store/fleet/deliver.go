package fleet

import (
	"context"
	"errors"
	"sync"
	"time"

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
	if len(all) == 0 {
		f.refusal.over()
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
		switch {
		case done > 0:
		case isRefused(failed):
			f.refusal.note(failed, f.cfg.Now())
		default:
			f.health.bad()
		}
	}
	if done == 0 {
		return false, failed
	}
	f.health.good()
	f.refusal.over()
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
			err = refused{e}
			continue
		}
		seqs = append(seqs, s.Seq)
	}
	return seqs, err
}
