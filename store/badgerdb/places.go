package badgerdb

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"hindsight/store"
)

// A piece of anchors that is committed by itself where an exchange has more.
const anchorsPiece = 1000

// manyAnchors bounds what one key returns: common words ("hi", "Hello!") are
// answered alike in thousands of sessions.
const manyAnchors = 64

// putAnchors writes an exchange's anchors. They may be split: one that is
// missing after a crash only finds nothing.
func (t *tx) putAnchors(at conversation, x *store.Exchange) error {
	pl := at.place()
	for i := range x.Anchors {
		if i > 0 && i%anchorsPiece == 0 {
			if err := t.room(anchorsPiece*300, anchorsPiece); err != nil {
				return err
			}
		}
		a := x.Anchors[i]
		if a.Session == "" {
			a.Session = x.Session
		}
		h := t.hashOf(a.Session)
		key := append(t.key(famAnchor, pl[:], 2*hashLen+8), a.Key[:]...)
		key = append(binary.BigEndian.AppendUint64(key, ^nanos(a.Time)), h[:]...)
		t.plain = appendAnchor(t.plain[:0], &a)
		if err := t.putPlain(key, t.plain, 0, keepSession); err != nil {
			return err
		}
	}
	return nil
}

// placesPiece is how many places lie under one key once their exchange is gone.
const placesPiece = 4096

// keepPlaces leaves the places of an exchange that goes: they outlive it.
func (t *tx) keepPlaces(at conversation, x *store.Exchange) error {
	for n := 0; len(x.Places) > n*placesPiece; n++ {
		piece := x.Places[n*placesPiece : min((n+1)*placesPiece, len(x.Places))]
		key := join(famPlaces, at[:], u64(x.Seq), u32(uint32(n)))
		if err := t.putPlain(key, appendPlaces(nil, piece), 0, keepSession); err != nil {
			return err
		}
	}
	return nil
}

func (r row) places() ([]store.Place, error) {
	b, err := r.plain()
	if err != nil {
		return nil, err
	}
	x, err := readExchange(b, nil)
	return x.Places, err
}

// Places lists the places of a session, none for one that isn't the owner's.
func (s *Store) Places(ctx context.Context, o store.Owner, session string) ([]store.Place, error) {
	out, err := within(ctx, s, func(v view) ([]store.Place, error) {
		out := []store.Place{}
		at := v.h.conversation(s.owner(o), session)
		index := map[store.Hash]int{}
		add := func(places []store.Place) {
			for _, p := range places {
				i, ok := index[p.Key]
				if !ok {
					i = len(out)
					index[p.Key] = i
					out = append(out, p)
				}
				out[i] = p
			}
		}
		for r := range v.rows(join(famPlaces, at[:]), nil) {
			places, err := r.places()
			if err != nil {
				return nil, err
			}
			add(places)
		}
		for r := range v.rows(join(famExchange, at[:]), nil) {
			if err := ctx.Err(); err != nil { // nobody waits any more
				return nil, err
			}
			x, err := r.exchange(seqOf(r.item.Key()[1:]), nil)
			if err != nil {
				return nil, err
			}
			add(x.Places)
		}
		return out, nil
	})
	return out, wrap("list places", err)
}

// Anchors finds where something was said, within one tenant and user; the
// agent doesn't count. The i-th result belongs to keys[i], newest first, at
// most 64.
func (s *Store) Anchors(ctx context.Context, o store.Owner, keys []store.Hash) ([][]store.Anchor, error) {
	out, err := within(ctx, s, func(v view) ([][]store.Anchor, error) {
		out := make([][]store.Anchor, len(keys))
		p := v.h.owner(s.owner(o))
		for i, k := range keys {
			if err := ctx.Err(); err != nil { // nobody waits any more
				return nil, err
			}
			for r := range v.rows(join(famAnchor, p[:], k[:]), nil) {
				a, err := r.anchor()
				if err != nil {
					return nil, err
				}
				if out[i] = append(out[i], a); len(out[i]) == manyAnchors {
					break
				}
			}
		}
		return out, nil
	})
	return out, wrap("find anchors", err)
}

// anchor decodes a row of an anchor; its time stands in the key.
func (r row) anchor() (store.Anchor, error) {
	k := r.item.Key()[1+placeLen:]
	a := store.Anchor{Key: store.Hash(k)}
	if at := ^binary.BigEndian.Uint64(k[hashLen:]); at != 0 {
		a.Time = time.Unix(0, int64(at)).UTC()
	}
	b, err := r.plain()
	if err != nil {
		return a, err
	}
	if err := readAnchor(b, &a); err != nil {
		return a, fmt.Errorf("read anchors: %w", err)
	}
	return a, nil
}
