package badgerdb

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"

	"hindsight/store"
)

// The first byte of a value says in which form it lies there, so that both can
// lie in one store.
const (
	plainForm  = 0
	sealedForm = 1 // AES-256-GCM under the scope's data key: nonce, text, tag; the row's key is authenticated with it
)

// sealing is by how much a sealed value is longer at most.
const sealing = 1 + 12 + 16

var errForm = errors.New("unknown form")

// sealed gives the form in which a value of a scope is written under key.
func (t *tx) sealed(key, plain []byte) ([]byte, error) {
	out := t.cut(len(plain) + sealing)
	if t.h.keys == nil {
		return append(append(out, plainForm), plain...), nil
	}
	k, err := t.sealer(sealedBy(key))
	if err != nil {
		return nil, fmt.Errorf("seal %q: %w", key[0], err)
	}
	return k.Seal(append(out, sealedForm), nil, plain, key), nil
}

// sealedBy is the place whose data key seals the value of a key: its own, or its
// tenant's for what must be read after the scope was erased.
func sealedBy(key []byte) (at place) {
	switch key[0] {
	case famOutbox:
		copy(at[:], key[1+8:][:hashLen])
	case famErased, famReceipt:
		copy(at[:], key[1:][:hashLen])
	default:
		at = place(key[1:])
	}
	return at
}

// open undoes sealed. The result may share memory with the value.
func (v view) open(key, sealed []byte) ([]byte, error) {
	switch {
	case len(sealed) == 0:
		return nil, errForm
	case sealed[0] == plainForm:
		return sealed[1:], nil
	case sealed[0] != sealedForm || v.h.keys == nil:
		return nil, errForm
	}
	k, err := v.dataKey(sealedBy(key))
	if err != nil {
		return nil, fmt.Errorf("open a value of %q: %w", key[0], err)
	}
	plain, err := k.Open(nil, nil, sealed[1:], key)
	if err != nil {
		return nil, fmt.Errorf("open a value of %q: %w", key[0], err)
	}
	return plain, nil
}

// dataKey is the key of a place. The error is store.ErrNotFound where none was
// drawn, errKeyDestroyed where it was destroyed.
func (v view) dataKey(at place) (cipher.AEAD, error) {
	if k := v.h.keys.known(at); k != nil {
		return k, nil
	}
	slot, err := v.slot(at)
	if err != nil {
		return nil, err
	}
	return v.h.keys.read(at, slot)
}

// slot is where the key of a place lies in the keyring.
func (v view) slot(at place) (int64, error) {
	b, err := v.raw(join(famDataKey, at[:]))
	if err != nil {
		return 0, err
	}
	if len(b) != 8 {
		return 0, errors.New("the row of a scope's key is damaged")
	}
	return int64(binary.BigEndian.Uint64(b)), nil
}

// sealer is the key of a place; a place without one gets one with this commit.
func (t *tx) sealer(at place) (cipher.AEAD, error) {
	if k := t.drawn[at]; k != nil {
		return k, nil
	}
	k, err := t.dataKey(at)
	if !errors.Is(err, store.ErrNotFound) && !errors.Is(err, errKeyDestroyed) {
		return k, err
	}
	return t.draw(at)
}

// draw gives a place a new key. It is used in this change alone until the
// commit: what isn't committed must not leave a key behind that others use.
func (t *tx) draw(at place) (cipher.AEAD, error) {
	slot, k, err := t.h.keys.draw()
	if err != nil {
		return nil, err
	}
	if err := t.set(join(famDataKey, at[:]), u64(uint64(slot)), 0, 0); err != nil {
		return nil, err
	}
	if t.drawn == nil {
		t.drawn = map[place]cipher.AEAD{}
	}
	t.drawn[at] = k
	h := t.h
	t.after = append(t.after, func() { h.keys.keep(at, k) })
	return k, nil
}
