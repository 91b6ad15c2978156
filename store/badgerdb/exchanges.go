package badgerdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"hindsight/store"
)

// A value above partBytes is cut into parts of that size, which lie under keys
// of their own: a transaction holds about a megabyte, and values that Badger
// would put into its value log are never reclaimed.
const partBytes = 256 << 10

// markReflected beside an exchange that the cursor hasn't reached says that
// another sidecar has worked it.
const markReflected = 1

// The first byte of a large value's record.
const (
	whole = 'w' // fields follow
	parts = 'p' // the number of parts and the exchange's hash follow
)

func exchangeKey(at conversation, seq uint64) []byte { return join(famExchange, at[:], u64(seq)) }

func partKey(head []byte, id store.Hash, seq uint64, n uint32) []byte {
	return join(famPart, head[1:1+placeLen], id[:], u64(seq), u32(n))
}

func seqOf(ref []byte) uint64 { return binary.BigEndian.Uint64(ref[len(conversation{}):]) }

// encodeLarge gives the record of an exchange, good until the next value is
// encoded. Where it is large, its parts are written at once, as pieces of their
// own: without the record they are nothing. So this comes first in a change.
// id may be zero, and is made then where it is needed.
func (t *tx) encodeLarge(at place, id store.Hash, seq uint64, x *store.Exchange, home *store.Session) ([]byte, error) {
	record := appendExchange(append(t.plain[:0], whole), x, home)
	if t.s.cfg.Share && home != nil {
		record = appendAnchors(record, x) // they are shipped with it
	}
	t.plain = record[:0]
	if cap(t.plain) > 2*partBytes {
		t.plain = nil // nothing to keep for the rest of a batch
	}
	if len(record) <= 1+partBytes {
		return record, nil
	}
	if id.IsZero() {
		id = t.h.exchange(x.ID)
	}
	n := uint32(0)
	for plain := record[1:]; len(plain) > 0; n++ {
		size := min(partBytes, len(plain))
		if err := t.room(size+256, 1); err != nil {
			return nil, err
		}
		if err := t.putPlain(join(famPart, at[:], id[:], u64(seq), u32(n)), plain[:size], 0, keepSession); err != nil {
			return nil, err
		}
		plain = plain[size:]
	}
	return join(parts, u32(n), id[:]), nil
}

// partsOf reads a record in parts; false for a whole one.
func partsOf(record []byte) (n uint32, id store.Hash, ok bool) {
	if len(record) != 1+4+hashLen || record[0] != parts {
		return 0, id, false
	}
	return binary.BigEndian.Uint32(record[1:]), store.Hash(record[5:]), true
}

// exchange decodes a row whose record encodeLarge gave. home is the session
// that it lies under; without one, id, session and owner may be missing.
func (r row) exchange(seq uint64, home *store.Session) (store.Exchange, error) {
	record, err := r.plain()
	if err != nil {
		return store.Exchange{}, err
	}
	if len(record) == 0 {
		return store.Exchange{}, fmt.Errorf("read an exchange: empty record")
	}
	body := record[1:]
	if n, id, ok := partsOf(record); ok {
		body = nil
		for i := range n {
			part, err := r.v.row(partKey(r.item.Key(), id, seq, i))
			if err != nil {
				return store.Exchange{}, fmt.Errorf("read part %d of an exchange: %w", i, err)
			}
			p, err := part.plain()
			if err != nil {
				return store.Exchange{}, err
			}
			body = append(body, p...)
		}
	}
	x, err := readExchange(body, home)
	x.Owner.Tenant = r.v.h.alias(x.Owner.Tenant)
	return x, err
}

// partKeys lists the keys of the parts of a row that encodeLarge's record fills.
func (r row) partKeys(seq uint64) ([][]byte, error) {
	record, err := r.plain()
	if err != nil {
		return nil, err
	}
	n, id, _ := partsOf(record)
	var keys [][]byte
	for i := range n {
		keys = append(keys, partKey(r.item.Key(), id, seq, i))
	}
	return keys, nil
}

// endedAt is the exchange of a session with a sequence number, nil if it is past
// its retention.
func (v view) endedAt(at conversation, seq uint64, home *store.Session) (*store.Exchange, error) {
	r, err := v.row(exchangeKey(at, seq))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	x, err := r.exchange(seq, home)
	return &x, err
}

// endedIn is the exchange of a session with an id, nil if there is none.
func (v view) endedIn(at conversation, id string, home *store.Session) (*store.Exchange, error) {
	for r := range v.rows(join(famExchange, at[:]), nil) {
		x, err := r.exchange(seqOf(r.item.Key()[1:]), home)
		if err != nil {
			return nil, err
		}
		if x.ID == id {
			return &x, nil
		}
	}
	return nil, nil
}

// delLarge removes a record and its parts, if it is there.
func (t *tx) delLarge(head []byte, seq uint64) error {
	r, err := t.row(head)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	keys, err := r.partKeys(seq)
	if err != nil {
		return err
	}
	for _, k := range keys {
		if err := t.del(k); err != nil {
			return err
		}
	}
	return t.del(head)
}

// Exchanges lists the ended exchanges of a session after a sequence number, up
// to and with another; upTo 0 goes to the end. The error is store.ErrNotFound
// where the owner has no such session.
func (s *Store) Exchanges(ctx context.Context, o store.Owner, session string, after, upTo uint64) ([]store.Exchange, error) {
	out := []store.Exchange{}
	err := s.view(func(v view) error {
		at := v.h.conversation(s.owner(o), session)
		home, err := v.session(at)
		if err != nil {
			return err
		}
		for r := range v.rows(join(famExchange, at[:]), exchangeKey(at, after+1)) {
			if err := ctx.Err(); err != nil {
				return err
			}
			seq := seqOf(r.item.Key()[1:])
			if upTo != 0 && seq > upTo {
				break
			}
			x, err := r.exchange(seq, &home)
			if err != nil {
				return err
			}
			x.Places, x.Anchors = nil, nil
			if r.meta() == markReflected && seq > home.Cursor {
				x.Events = []store.Event{} // no material, another sidecar has worked it
			}
			out = append(out, x)
		}
		return nil
	})
	if s.cfg.Share {
		slices.SortStableFunc(out, func(a, b store.Exchange) int { return a.Started.Compare(b.Started) })
	}
	return out, wrap("list exchanges", err)
}

// Exchange finds an ended exchange by its id.
func (s *Store) Exchange(_ context.Context, id string) (store.Exchange, error) {
	var x store.Exchange
	err := s.view(func(v view) error {
		found, err := v.ended(id)
		if err != nil {
			return err
		}
		if found == nil {
			return store.ErrNotFound
		}
		x = *found
		x.Places, x.Anchors = nil, nil
		return nil
	})
	return x, wrap("find exchange", err)
}

// ended finds an ended exchange by its id, nil if there is none: in the session
// that the id names, else by the index.
func (v view) ended(id string) (*store.Exchange, error) {
	if session, ok := store.SessionOf(id); ok {
		x, err := v.endedOf(session, id)
		if x != nil || err != nil {
			return x, err
		}
	}
	ref, err := v.raw(idKey(byExchange, v.h.exchange(id)))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at := conversation(ref)
	home, err := v.session(at)
	if err != nil {
		return nil, err
	}
	return v.endedAt(at, seqOf(ref), &home)
}

func (v view) endedOf(session, id string) (*store.Exchange, error) {
	at, err := v.locate(session)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	home, err := v.session(at)
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil // past its retention
	}
	if err != nil {
		return nil, err
	}
	return v.endedIn(at, id, &home)
}

// wrap names what was tried. Nil stays nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
