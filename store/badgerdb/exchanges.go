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

// A value above partBytes is cut into parts of that size, which lie under keys
// of their own: a transaction holds about a megabyte, and values that Badger
// would put into its value log are never reclaimed.
const partBytes = 256 << 10

// The first byte of a large value's record.
const (
	whole = 'w' // JSON follows
	parts = 'p' // the number of parts and the exchange's hash follow
)

func exchangeKey(at conversation, seq uint64) []byte { return join(famExchange, at[:], u64(seq)) }

func partKey(head []byte, id store.Hash, seq uint64, n uint32) []byte {
	return join(famPart, head[1:1+placeLen], id[:], u64(seq), u32(n))
}

func seqOf(ref []byte) uint64 { return binary.BigEndian.Uint64(ref[len(conversation{}):]) }

// encodeLarge gives the record of an exchange. Where it is large, its parts
// are written at once, as pieces of their own: without the record they are
// nothing. So this comes first in a change.
func (t *tx) encodeLarge(at place, id store.Hash, seq uint64, v any, ttl time.Duration) ([]byte, error) {
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode an exchange: %w", err)
	}
	if len(plain) <= partBytes {
		return append([]byte{whole}, plain...), nil
	}
	n := uint32(0)
	for ; len(plain) > 0; n++ {
		size := min(partBytes, len(plain))
		if err := t.room(size+256, 1); err != nil {
			return nil, err
		}
		if err := t.putPlain(join(famPart, at[:], id[:], u64(seq), u32(n)), plain[:size], 0, ttl); err != nil {
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

// large decodes a row whose record encodeLarge gave.
func (r row) large(seq uint64, into any) error {
	record, err := r.plain()
	if err != nil {
		return err
	}
	if len(record) == 0 {
		return fmt.Errorf("read an exchange: empty record")
	}
	body := record[1:]
	if n, id, ok := partsOf(record); ok {
		body = nil
		for i := range n {
			part, err := r.v.row(partKey(r.item.Key(), id, seq, i))
			if err != nil {
				return fmt.Errorf("read part %d of an exchange: %w", i, err)
			}
			p, err := part.plain()
			if err != nil {
				return err
			}
			body = append(body, p...)
		}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("decode an exchange: %w", err)
	}
	r.v.h.follow(into)
	return nil
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

func (v view) getLarge(head []byte, seq uint64, into any) error {
	r, err := v.row(head)
	if err != nil {
		return err
	}
	return r.large(seq, into)
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
		if _, err := v.session(at); err != nil {
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
			var x store.Exchange
			if err := r.large(seq, &x); err != nil {
				return err
			}
			out = append(out, x)
		}
		return nil
	})
	return out, wrap("list exchanges", err)
}

// Exchange finds an ended exchange by its id.
func (s *Store) Exchange(_ context.Context, id string) (store.Exchange, error) {
	var x store.Exchange
	err := s.view(func(v view) error {
		h := v.h.exchange(id)
		ref, err := v.raw(idKey(byExchange, h))
		if err != nil {
			return err
		}
		seq := seqOf(ref)
		return v.getLarge(exchangeKey(conversation(ref), seq), seq, &x)
	})
	return x, wrap("find exchange", err)
}

// wrap names what was tried. Nil stays nil.
func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}
