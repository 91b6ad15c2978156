package badgerdb

import (
	"context"
	"errors"

	"hindsight/store"
)

// receipt is the row of an erasure. Waits names what of it is still to be told to
// the shared store, where the erasure of the scope doesn't say it all.
type receipt struct {
	store.Receipt
	Waits [][]byte `json:"waits,omitempty"`
}

// receiptSweeping marks the row of a receipt whose bytes the next squeeze takes out
// of the files. Those that whole hidden scopes have go with famHidden's row.
const receiptSweeping = 1

// receiptKey is where the receipt of a scope's last erasure lies, or that of a
// memory's.
func receiptKey(h *handle, tenant string, sc store.Scope, memory string) []byte {
	at := h.at(tenant, sc)
	if memory == "" {
		return join(famReceipt, at[:])
	}
	id := h.memory(memory)
	return join(famReceipt, at[:], id[:])
}

func (s *Store) putReceipt(t *tx, rec receipt) error {
	mark := byte(0)
	if rec.State == store.ErasureSweeping {
		mark = receiptSweeping
	}
	return t.put(receiptKey(t.h, rec.Tenant, rec.Scope, rec.Memory), rec, mark, keepSession)
}

// Erasure is the receipt of the last erasure of a scope, or that of one of its
// memories, and how far it is. The error is store.ErrNotFound where there was none
// within 400 days. Of what another sidecar erased there is one for scopes alone; it
// counts what was here.
func (s *Store) Erasure(_ context.Context, tenant string, sc store.Scope, memory string) (store.Receipt, error) {
	var rec receipt
	err := s.view(func(v view) error {
		if err := v.get(receiptKey(v.h, s.tenant(tenant), sc, memory), &rec); err != nil {
			return err
		}
		s.progress(v.h, &rec)
		rec.Tenant = s.tenant(rec.Tenant) // it may have been linked since
		return nil
	})
	return rec.Receipt, wrap("find the receipt of an erasure", err)
}

// progress says in a receipt how far its erasure is.
func (s *Store) progress(h *handle, rec *receipt) {
	if rec.State == "" {
		rec.State = store.ErasureDone
	}
	things := make([]string, 0, len(rec.Erased)+len(rec.Waits))
	hidden := h.hidden.Load()
	for _, sc := range rec.Erased {
		at := h.at(rec.Tenant, sc)
		if hidden != nil && (*hidden)[at] > 0 {
			rec.State = store.ErasureSweeping
		}
		things = append(things, (&waiting{kind: outErasure}).thing(at))
	}
	for _, thing := range rec.Waits {
		things = append(things, string(thing))
	}
	if !s.cfg.Share {
		return
	}
	rec.Shared = store.ErasureDone
	for _, thing := range things {
		if s.outbox.waitsFor(thing) {
			rec.Shared = store.ErasureWaiting
		}
	}
}

// version is a row as it was at some moment.
type version struct {
	key []byte
	at  uint64
}

// sweeping lists the receipts whose bytes a squeeze that begins now takes out of
// the files.
func (s *Store) sweeping(h *handle) (out []version) {
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	for r := range (view{h, txn}).rows([]byte{famReceipt}, nil) {
		if r.meta() == receiptSweeping {
			out = append(out, version{r.key(), r.item.Version()})
		}
	}
	return out
}

// endSweeping notes in receipts that their bytes have left the files.
func (s *Store) endSweeping(h *handle, done []version) error {
	return s.locked(h, func(t *tx) error {
		for _, d := range done {
			r, err := t.row(d.key)
			if errors.Is(err, store.ErrNotFound) || err == nil && r.item.Version() != d.at {
				continue // past its time, moved, or of a later erasure
			}
			if err != nil {
				return err
			}
			var rec receipt
			if err := r.into(&rec); err != nil {
				return err
			}
			if err := t.room(2048, 1); err != nil {
				return err
			}
			rec.State = store.ErasureDone
			if err := t.put(d.key, rec, 0, r.asIs().ttl); err != nil {
				return err
			}
		}
		return nil
	})
}

// moveReceipts takes the receipts of a tenant to another, and lists the scopes that
// they say were erased. Of two of one scope the later counts. Each keeps its tenant:
// what is swept lies there.
func (s *Store) moveReceipts(t *tx, from, to string) (erased []store.Scope, err error) {
	tenant := t.h.tenant(from)
	var all []receipt
	for r := range t.rows(join(famReceipt, tenant[:]), nil) {
		var rec receipt
		if err := r.into(&rec); err != nil {
			return nil, err
		}
		all = append(all, rec)
	}
	for _, rec := range all {
		erased = append(erased, rec.Erased...)
		was, is := receiptKey(t.h, from, rec.Scope, rec.Memory), receiptKey(t.h, to, rec.Scope, rec.Memory)
		var there receipt
		if err := t.get(is, &there); err != nil && !errors.Is(err, store.ErrNotFound) {
			return nil, err
		}
		if there.ErasedAt.Before(rec.ErasedAt) {
			r, err := t.row(was)
			if err != nil {
				return nil, err
			}
			if err := t.put(is, rec, r.meta(), r.asIs().ttl); err != nil {
				return nil, err
			}
		}
		if err := t.del(was); err != nil {
			return nil, err
		}
	}
	return erased, nil
}
