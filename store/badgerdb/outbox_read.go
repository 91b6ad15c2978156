package badgerdb

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hindsight/store"
)

// mostShipped bounds the bytes that one call of Outbox gives out.
const mostShipped = 8 << 20

// recordForm is the first byte of a shared exchange: appendExchange's fields
// follow.
const recordForm = 1

// Outbox lists what waits to be shipped, the oldest first, each thing as it is
// now; at most limit of them and about 8 MiB. What isn't there any more is left
// out, and its row goes. Reading isn't delivering: [Store.Shipped] is.
func (s *Store) Outbox(ctx context.Context, limit int) ([]store.Shipment, error) {
	var out []store.Shipment
	var stale []uint64
	err := s.view(func(v view) error {
		size := 0
		for r := range v.rows([]byte{famOutbox}, nil) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if len(out) >= limit || size > mostShipped {
				return nil
			}
			seq, at := outboxSeq(r.item.Key()), outboxPlace(r.item.Key())
			w, err := r.waiting()
			if err != nil {
				return err
			}
			sh, err := s.shipment(v, at, &w)
			if errors.Is(err, store.ErrNotFound) {
				stale = append(stale, seq)
				continue
			}
			if err != nil {
				return fmt.Errorf("row %d: %w", seq, err)
			}
			sh.Seq, sh.At = seq, w.at
			if sh.Record != nil {
				sh.Record.Tenant, sh.Record.Scope = sh.Tenant, sh.Scope
				size += len(sh.Record.Data)
			}
			size += 1024
			out = append(out, sh)
		}
		return nil
	})
	if err == nil && len(stale) > 0 {
		err = s.Shipped(ctx, stale)
	}
	return out, wrap("read the outbox", err)
}

// shipment reads what a row names. The error is store.ErrNotFound where that is
// gone, or is of a scope that was erased after it.
func (s *Store) shipment(v view, at place, w *waiting) (store.Shipment, error) {
	sh := store.Shipment{Tenant: w.tenant, Scope: w.scope}
	switch w.kind {
	case outMemory:
		return s.memoryShipment(v, at, w.id)
	case outMoved:
		sh.Gone = w.id
	case outGone:
		sh.Gone = w.id
		sh.Record = &store.SharedRecord{Kind: store.RecordGone, ID: w.id, Time: w.time}
	case outErasure:
		sh.Record = &store.SharedRecord{Kind: store.RecordErasure, ID: "erasure " + string(w.scope), Time: w.time}
	case outTombstone:
		return s.tombstoneShipment(v, at, store.Hash(w.hash))
	case outExchange:
		return s.exchangeShipment(v, conversation(append(at[:], w.hash[:hashLen]...)), binary.BigEndian.Uint64(w.hash[hashLen:]))
	case outLedger:
		return s.ledgerShipment(v, conversation(append(at[:], w.hash[:hashLen]...)), store.Hash(w.hash[hashLen:]))
	default:
		return sh, store.ErrNotFound // of a newer program
	}
	return sh, nil
}

func (s *Store) memoryShipment(v view, at place, id string) (store.Shipment, error) {
	m, is, err := v.memory(id)
	if err != nil {
		return store.Shipment{}, err
	}
	if is != at || tooOld(m.CreatedAt, s.scopeErased(v.h, m.Tenant, m.Scope)) {
		return store.Shipment{}, store.ErrNotFound
	}
	sm := &store.SharedMemory{Memory: m}
	if sm.Vector, err = v.vectorOf(at, v.h.memory(id), s.vectors.used()); err != nil {
		return store.Shipment{}, err
	}
	return store.Shipment{Tenant: m.Tenant, Scope: m.Scope, Memory: sm}, nil
}

// vectorOf is a memory's vector of a model, nil if there is none.
func (v view) vectorOf(at place, id store.Hash, mark byte) ([]float32, error) {
	r, err := v.row(vectorKey(at, id))
	if errors.Is(err, store.ErrNotFound) || err == nil && (mark == 0 || r.meta() != mark) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var d vectorDecoder
	if err := r.vector(&d); err != nil {
		return nil, err
	}
	return append([]float32(nil), d.values...), nil
}

func (s *Store) tombstoneShipment(v view, at place, text store.Hash) (store.Shipment, error) {
	var stone tombstone
	if err := v.get(join(famForgotten, at[:], text[:]), &stone); err != nil {
		return store.Shipment{}, err
	}
	tenant, sc, err := v.placeNames(at)
	if err != nil {
		return store.Shipment{}, err
	}
	if s.tooOld(at, stone.Time) {
		return store.Shipment{}, store.ErrNotFound
	}
	data, err := json.Marshal(stone)
	rec := &store.SharedRecord{Kind: store.RecordTombstone, ID: text.String(), Time: stone.Time, Data: data}
	return store.Shipment{Tenant: tenant, Scope: sc, Record: rec}, err
}

// placeNames are the tenant and the scope of a place in which something was
// written.
func (v view) placeNames(at place) (string, store.Scope, error) {
	var t tenantRecord
	if err := v.get(join(famTenant, at.tenant(), make([]byte, hashLen)), &t); err != nil {
		return "", "", err
	}
	var sc scopeRecord
	err := v.get(join(famScope, at[:]), &sc)
	return t.ID, sc.Scope, err
}

func (s *Store) exchangeShipment(v view, at conversation, seq uint64) (store.Shipment, error) {
	home, err := v.session(at)
	if err != nil {
		return store.Shipment{}, err
	}
	r, err := v.row(exchangeKey(at, seq))
	if err != nil {
		return store.Shipment{}, err
	}
	x, err := r.exchange(seq, &home)
	if err != nil {
		return store.Shipment{}, err
	}
	if tooOld(x.Started, s.scopeErased(v.h, x.Owner.Tenant, x.Owner.SkillScope())) {
		return store.Shipment{}, store.ErrNotFound
	}
	rec := &store.SharedRecord{Kind: store.RecordExchange, ID: x.ID, Session: x.Session, Time: seenAt(&x), Reflected: seq <= home.Cursor || r.meta() == markReflected}
	for i := range x.Anchors {
		rec.Keys = append(rec.Keys, store.RecordKey(x.Anchors[i].Key))
	}
	if x.Seq = 0; rec.Reflected {
		x.Events = nil
	}
	rec.Data = appendExchange([]byte{recordForm}, &x, nil)
	return store.Shipment{Tenant: x.Owner.Tenant, Scope: x.Owner.SkillScope(), Record: rec}, nil
}

// seenAt is when an exchange ended, as far as that is known.
func seenAt(x *store.Exchange) time.Time {
	if x.Finished.IsZero() {
		return x.Started
	}
	return x.Finished
}

func (s *Store) ledgerShipment(v view, at conversation, key store.Hash) (store.Shipment, error) {
	var e store.LedgerEntry
	if err := v.get(join(famLedger, at[:], key[:]), &e); err != nil {
		return store.Shipment{}, err
	}
	if s.tooOld(at.place(), e.Created) {
		return store.Shipment{}, store.ErrNotFound
	}
	data, err := json.Marshal(e)
	var refs []string // so that whoever erases one finds the blocks that show it
	for _, ref := range e.Refs {
		refs = append(refs, ref.ID)
	}
	rec := &store.SharedRecord{Kind: store.RecordLedger, Keys: refs, ID: e.Session + " " + e.Key.String(), Session: e.Session, Time: usedAt(&e), Data: data}
	return store.Shipment{Tenant: e.Owner.Tenant, Scope: e.Owner.SkillScope(), Record: rec}, err
}

// usedAt is when a block was last in a request.
func usedAt(e *store.LedgerEntry) time.Time {
	if e.LastUsed.IsZero() {
		return e.Created
	}
	return e.LastUsed
}

// OutboxWake tells that rows were added; one signal may stand for many.
func (s *Store) OutboxWake() <-chan struct{} { return s.outbox.wake }

// Shipped takes rows away that were delivered as [Store.Outbox] gave them. What
// has changed meanwhile has another row by now, and stays.
func (s *Store) Shipped(ctx context.Context, seqs []uint64) error {
	return wrap("settle the outbox", s.with(func(h *handle) error {
		rows, err := s.waitingRows(ctx, h, seqs)
		if err != nil || len(rows) == 0 {
			return err
		}
		return s.locked(h, func(t *tx) error { return s.settleRows(t, rows) })
	}))
}

// delivered is a row that goes.
type delivered struct {
	key   []byte
	thing string
	seq   uint64
}

func (s *Store) waitingRows(ctx context.Context, h *handle, seqs []uint64) ([]delivered, error) {
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	var list []delivered
	for _, seq := range seqs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for r := range (view{h, txn}).rows(join(famOutbox, u64(seq)), nil) {
			w, err := r.waiting()
			if err != nil {
				return nil, err
			}
			list = append(list, delivered{r.key(), w.thing(outboxPlace(r.item.Key())), seq})
		}
	}
	return list, nil
}

func (s *Store) settleRows(t *tx, rows []delivered) error {
	for _, d := range rows {
		if _, err := t.row(d.key); errors.Is(err, store.ErrNotFound) {
			continue // changed just now
		} else if err != nil {
			return err
		}
		if err := t.room(len(d.key), 1); err != nil {
			return err
		}
		t.after = append(t.after, func() { s.outbox.settle(d.thing, d.seq) })
		if err := t.del(d.key); err != nil {
			return err
		}
	}
	return nil
}

// OutboxDepth tells how many rows wait, and since when the oldest does; zero if
// none.
func (s *Store) OutboxDepth() (rows int, oldest time.Time) {
	o := s.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, p := range o.pending {
		if oldest.IsZero() || p.at.Before(oldest) {
			oldest = p.at
		}
	}
	return o.rows, oldest
}

// Reship enrols memories of a tenant anew: the shared store was seen to lack
// them, or to have an older form. Those that aren't here are left out.
func (s *Store) Reship(_ context.Context, tenant string, ids []string) error {
	return wrap("ship memories again", s.change(func(t *tx) error {
		tenant := s.tenant(tenant)
		for _, id := range ids {
			m, at, err := t.memory(id)
			if errors.Is(err, store.ErrNotFound) || err == nil && m.Tenant != tenant {
				continue
			}
			if err != nil {
				return err
			}
			if err := t.room(512, 2); err != nil {
				return err
			}
			if err := s.enrol(t, at, waiting{kind: outMemory, id: id}); err != nil {
				return err
			}
		}
		return nil
	}))
}
