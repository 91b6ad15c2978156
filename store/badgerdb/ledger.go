package badgerdb

import (
	"context"
	"time"

	"hindsight/store"
)

func (s *Store) writeLedger(t *tx, entries []store.LedgerEntry) error {
	for _, e := range entries {
		w := t.owned(e.Owner)
		e.Owner = w.Owner
		at := t.conversation(w, e.Session)
		if tooOld(e.Created, w.erasedAtUsers) {
			continue
		}
		if err := t.room(len(e.Text)*2+2048+64*len(e.Checks), 1+len(e.Checks)); err != nil {
			return err
		}
		for _, id := range e.Checks {
			k := t.h.memory(id)
			if err := t.set(join(famOffered, k[:]), ascending(e.Created), 0, keepOffered); err != nil {
				return err
			}
		}
		if err := t.put(join(famLedger, at[:], e.Key[:]), e, 0, keepLedger); err != nil {
			return err
		}
		if err := s.shipLedger(t, at, e.Key); err != nil {
			return err
		}
	}
	return nil
}

// LoadLedger lists the blocks of a session, withdrawn ones included. Entries
// live for 7 days after they were last saved; how long one may be replayed is
// for the reader to say, by LastUsed.
func (s *Store) LoadLedger(ctx context.Context, o store.Owner, session string) ([]store.LedgerEntry, error) {
	out, err := within(ctx, s, func(v view) ([]store.LedgerEntry, error) {
		out := []store.LedgerEntry{}
		at := v.h.conversation(s.owner(o), session)
		for r := range v.rows(join(famLedger, at[:]), nil) {
			var e store.LedgerEntry
			if err := r.into(&e); err != nil {
				return nil, err
			}
			out = append(out, e)
		}
		return out, nil
	})
	return out, wrap("load ledger", err)
}

// offer notes in memory which memories blocks ask to check. It is ahead of the
// disk, so that the next session knows.
func (s *Store) offer(entries []store.LedgerEntry) {
	_ = s.with(func(h *handle) error { // of a closed store nothing is shown
		for _, e := range entries {
			for _, id := range e.Checks {
				s.mirror(func(st *state) { st.offered[h.memory(id)] = e.Created })
			}
		}
		return nil
	})
}

// Offered is when a block last asked to check a memory, zero if that is more
// than a month ago. It reads memory only.
func (s *Store) Offered(id string) (at time.Time) {
	_ = s.with(func(h *handle) error { // of a closed store nothing is shown
		k := h.memory(id)
		s.mu.RLock()
		defer s.mu.RUnlock()
		at = s.mem.offered[k]
		return nil
	})
	return at
}

func (s *Store) writeWhy(t *tx, w *store.Why) error {
	y := *w
	o := t.owned(w.Owner)
	y.Owner = o.Owner
	at, id := t.conversation(o, y.Session), t.h.exchange(y.Exchange)
	if tooOld(y.Time, o.erasedAtUsers) {
		return nil
	}
	n := len(y.Query)
	for i := range y.Considered {
		n += 300 + len(y.Considered[i].Text)
	}
	if err := t.room(2*n+1024, 2); err != nil {
		return err
	}
	if err := t.put(join(famWhy, at[:], id[:]), y, 0, keepWhy); err != nil {
		return err
	}
	return t.set(idKey(byWhy, id), at[:], 0, keepWhy)
}

// Why finds what recall considered for an exchange. It is kept for 7 days.
func (s *Store) Why(_ context.Context, exchange string) (store.Why, error) {
	var w store.Why
	err := s.view(func(v view) error {
		id := v.h.exchange(exchange)
		at, err := v.raw(idKey(byWhy, id))
		if err != nil {
			return err
		}
		return v.get(join(famWhy, at, id[:]), &w)
	})
	return w, wrap("find why", err)
}
