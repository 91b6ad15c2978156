package badgerdb

import (
	"context"
	"encoding/binary"

	"hindsight/store"
)

// A piece of marks that is committed by itself where an exchange has more.
const marksPiece = 1000

// manyAnchors bounds what one key returns: common words ("hi", "Hello!") are
// answered alike in thousands of sessions.
const manyAnchors = 64

// putMarks writes an exchange's places and anchors. They may be split: a place
// that is missing after a crash is only new once more.
func (t *tx) putMarks(at conversation, x *store.Exchange) error {
	for i, p := range x.Places {
		if i%marksPiece == 0 {
			if err := t.room(marksPiece*100, marksPiece); err != nil {
				return err
			}
		}
		key := join(famPlace, at[:], p.Key[:])
		if err := t.putPlain(key, u32(uint32(p.Turn)), 0, keepSession); err != nil {
			return err
		}
	}
	pl := at.place()
	for i, a := range x.Anchors {
		if i%marksPiece == 0 {
			if err := t.room(marksPiece*300, marksPiece); err != nil {
				return err
			}
		}
		if a.Session == "" {
			a.Session = x.Session
		}
		h := t.talk(a.Session)
		key := join(famAnchor, pl[:], a.Key[:], descending(a.Time), h[:])
		if err := t.put(key, a, 0, keepSession); err != nil {
			return err
		}
	}
	return nil
}

// Places lists the places of a session, none for one that isn't the owner's.
func (s *Store) Places(_ context.Context, o store.Owner, session string) ([]store.Place, error) {
	out := []store.Place{}
	err := s.view(func(v view) error {
		at := v.h.conversation(s.owner(o), session)
		for r := range v.rows(join(famPlace, at[:]), nil) {
			b, err := r.plain()
			if err != nil {
				return err
			}
			k := r.key()
			out = append(out, store.Place{
				Key:  store.Hash(k[1+len(at):]),
				Turn: int(binary.BigEndian.Uint32(b)),
			})
		}
		return nil
	})
	return out, wrap("list places", err)
}

// Anchors finds where something was said, within one tenant and user; the
// agent doesn't count. The i-th result belongs to keys[i], newest first, at
// most 64.
func (s *Store) Anchors(_ context.Context, o store.Owner, keys []store.Hash) ([][]store.Anchor, error) {
	out := make([][]store.Anchor, len(keys))
	err := s.view(func(v view) error {
		p := v.h.owner(s.owner(o))
		for i, k := range keys {
			for r := range v.rows(join(famAnchor, p[:], k[:]), nil) {
				var a store.Anchor
				if err := r.into(&a); err != nil {
					return err
				}
				if out[i] = append(out[i], a); len(out[i]) == manyAnchors {
					break
				}
			}
		}
		return nil
	})
	return out, wrap("find anchors", err)
}
