package badgerdb

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"

	"hindsight/store"
)

// AbsorbRecords takes in what the fleet shares besides memories: exchanges of
// other sidecars, which get a number in their session here, blocks, tombstones,
// erasures of memories and scopes, ends of sessions. Each may come in any order
// and again. Like [Store.AbsorbMemories] it leaves no rows but where more is
// known here, and passes over what can't be read. An exchange that was reflected
// elsewhere isn't material any more: the cursor passes it, and the jobs that this
// makes pointless end.
func (s *Store) AbsorbRecords(ctx context.Context, rs []store.SharedRecord) error {
	if err := s.roomToWrite(); err != nil {
		return err
	}
	// Erasures first: what came before them isn't taken in.
	for i := range rs {
		var err error
		switch rs[i].Kind {
		case store.RecordErasure:
			err = s.absorbErasure(ctx, &rs[i])
		case store.RecordGone:
			err = s.absorbGone(&rs[i])
		}
		if err != nil {
			return wrap("take in an erasure", err)
		}
	}
	return wrap("take in records", s.change(func(t *tx) error {
		t.foreign = true
		talk := &absorbed{s: s, t: t, sessions: map[conversation]map[string]uint64{}}
		for _, r := range inSaidOrder(rs) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var err error
			switch r.Kind {
			case store.RecordExchange:
				err = talk.exchange(&r)
			case store.RecordLedger:
				err = s.absorbBlock(t, &r)
			case store.RecordTombstone:
				err = s.absorbStone(t, &r)
			case store.RecordSession:
				err = s.absorbNote(t, &r)
			}
			if errors.Is(err, errShared) {
				s.log.Warn("pass over a shared record that can't be read", "kind", r.Kind)
				continue
			}
			if err != nil {
				return err
			}
		}
		return talk.pass()
	}))
}

// errShared says that a record isn't what its kind says.
var errShared = errors.New("malformed shared record")

// inSaidOrder brings exchanges into the order in which they were said, and what
// belongs to sessions behind them.
func inSaidOrder(rs []store.SharedRecord) []store.SharedRecord {
	out := slices.Clone(rs)
	last := func(k store.RecordKind) int {
		if k == store.RecordSession {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(out, func(a, b store.SharedRecord) int {
		return cmp.Or(cmp.Compare(last(a.Kind), last(b.Kind)), a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// absorbBlock takes a block in, unless the one that is here was used later. A
// withdrawn one stays withdrawn.
func (s *Store) absorbBlock(t *tx, r *store.SharedRecord) error {
	var e store.LedgerEntry
	if json.Unmarshal(r.Data, &e) != nil || e.Session == "" || e.Owner.Tenant != r.Tenant {
		return errShared
	}
	at := t.conversation(t.owned(e.Owner), e.Session)
	erased, err := s.showsErased(t, &e)
	if err != nil {
		return err
	}
	if erased {
		if err := s.enrol(t, at.place(), ledgerRow(at, e.Key)); err != nil {
			return err
		}
		e = emptied(e, usedAt(&e))
	}
	var old store.LedgerEntry
	err = t.get(join(famLedger, at[:], e.Key[:]), &old)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if err == nil {
		later := usedAt(&old).Compare(usedAt(&e))
		switch {
		case old.Withdrawn == e.Withdrawn && later == 0:
			return nil
		case old.Withdrawn && !e.Withdrawn, old.Withdrawn == e.Withdrawn && later > 0:
			return s.enrol(t, at.place(), ledgerRow(at, e.Key))
		}
	}
	for _, id := range e.Checks {
		h := t.h.memory(id)
		t.after = append(t.after, func() { s.mirror(func(st *state) { st.offered[h] = latest(st.offered[h], e.Created) }) })
	}
	return s.writeLedger(t, []store.LedgerEntry{e})
}

// absorbStone takes a tombstone, or the lifting of one, in, unless what is here
// is the later word.
func (s *Store) absorbStone(t *tx, r *store.SharedRecord) error {
	var stone tombstone
	var h store.Hash
	if n, err := hex.Decode(h[:], []byte(r.ID)); err != nil || n != hashLen || json.Unmarshal(r.Data, &stone) != nil || stone.Time.IsZero() {
		return errShared
	}
	tenant := s.tenant(r.Tenant)
	at := t.h.at(tenant, r.Scope)
	if !stone.Time.After(s.scopeErased(t.h, tenant, r.Scope)) {
		return nil
	}
	was, err := t.stone(at, h)
	if err != nil || was == stone {
		return err
	}
	if was.Time.After(stone.Time) {
		return s.enrol(t, at, waiting{kind: outTombstone, hash: h[:]})
	}
	if err := t.room(4096, 30); err != nil {
		return err
	}
	if err := s.ensureScope(t, at, tenant, r.Scope); err != nil {
		return err
	}
	if err := t.put(join(famForgotten, at[:], h[:]), stone, 0, 0); err != nil {
		return err
	}
	if stone.Lifted {
		return s.unforget(t, at, stone.Memory)
	}
	// What says the text here, and what was forgotten there, may be two.
	said, err := t.row(join(famText, at[:], h[:]))
	if err == nil {
		id, err := said.plain()
		if err != nil {
			return err
		}
		if err := s.forgetUnder(t, at, string(id)); err != nil {
			return err
		}
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if stone.Memory == "" {
		return nil
	}
	return s.forgetUnder(t, at, stone.Memory)
}

// forgetUnder does to a memory what a tombstone that has come asks for. One that
// isn't here yet isn't replayed either.
func (s *Store) forgetUnder(t *tx, at place, id string) error {
	old, is, err := t.memory(id)
	if errors.Is(err, store.ErrNotFound) {
		return s.setGone(t, t.h.memory(id))
	}
	if err != nil || is != at {
		return err
	}
	m := old
	if err := s.underStone(t, at, &m); err != nil {
		return err
	}
	if m.State != old.State {
		if err := s.putAbsorbed(t, at, &m, &old, true); err != nil {
			return err
		}
		if err := s.enrol(t, at, waiting{kind: outMemory, id: m.ID}); err != nil {
			return err
		}
	}
	if m.State == store.Active {
		return nil
	}
	return s.hideForgotten(t, at, t.h.memory(m.ID))
}

// unforget lets blocks with a memory be replayed again, if nothing else stands
// against it.
func (s *Store) unforget(t *tx, at place, id string) error {
	m, is, err := t.memory(id)
	if errors.Is(err, store.ErrNotFound) || err == nil && (is != at || m.State == store.Quarantined) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, text := range words(&m) {
		stone, err := t.stone(at, t.h.text(m.Scope, text))
		if err != nil || stone.stands() && stone.Memory == id {
			return err
		}
	}
	return s.clearGone(t, t.h.memory(id))
}

// absorbNote takes in when a session was last seen, and its end.
func (s *Store) absorbNote(t *tx, r *store.SharedRecord) error {
	var n store.SessionNote
	if json.Unmarshal(r.Data, &n) != nil || n.Owner.Tenant != r.Tenant {
		return errShared
	}
	at := t.conversation(t.owned(n.Owner), r.Session)
	x, err := t.session(at)
	if errors.Is(err, store.ErrNotFound) {
		return nil // nothing of it is here
	}
	if err != nil || n.LastSeen.Before(x.LastSeen) {
		return err
	}
	if n.LastSeen.Equal(x.LastSeen) && (!n.Closed || x.State == store.Closed) {
		return nil
	}
	x.LastSeen = n.LastSeen
	if x.State = store.Open; n.Closed {
		x.State = store.Closed
	}
	t.putSession(at, x)
	return nil
}

// absorbGone erases a memory that was erased elsewhere, with the exchanges here
// that hold its sentences and the blocks that show it. What was made of it is
// mended by whoever erased it, and comes from there. Where it has gone to another
// tenant here, the fleet is told of its going from there.
func (s *Store) absorbGone(r *store.SharedRecord) error {
	tenant := s.tenant(r.Tenant)
	var m store.Memory
	here := false
	err := s.view(func(v view) error {
		x, is, err := v.memory(r.ID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		m, here = x, err == nil && is == v.h.at(tenant, r.Scope)
		return err
	})
	if err != nil || here && m.CreatedAt.After(r.Time) {
		return err
	}
	g := traces{exchanges: map[string]bool{}}
	if here {
		g.add(&m)
		for session := range g.quotes {
			if err := s.retireEvidence(session, &g); err != nil {
				return err
			}
		}
		defer s.squeezeSoon()
	}
	return s.change(func(t *tx) error {
		t.foreign = tenant == r.Tenant
		at, id := t.h.at(tenant, r.Scope), t.h.memory(r.ID)
		known, err := s.erasedAt(t, id)
		if err != nil || !known.Before(r.Time) && !here {
			return err
		}
		if here {
			if err := s.eraseMemory(t, at, &m, &g); err != nil {
				return err
			}
		} else if _, err := t.delAll(join(famRevision, at[:], id[:])); err != nil { // its copy was dropped
			return err
		}
		return s.markGone(t, id, latest(known, r.Time), keepSession)
	})
}
