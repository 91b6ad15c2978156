package badgerdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"github.com/dgraph-io/badger/v4"

	"hindsight/store"
)

// view reads one snapshot.
type view struct {
	h   *handle
	txn *badger.Txn
}

// row is one key with its value, valid until the next one.
type row struct {
	v    view
	item *badger.Item
}

func (r row) key() []byte { return r.item.KeyCopy(nil) }
func (r row) meta() byte  { return r.item.UserMeta() }

func (r row) raw() ([]byte, error) { return r.item.ValueCopy(nil) }

// plain is the opened value; it is the caller's.
func (r row) plain() ([]byte, error) {
	b, err := r.raw()
	if err != nil {
		return nil, err
	}
	return r.v.open(r.item.Key(), b)
}

func (r row) into(v any) error {
	return r.item.Value(func(b []byte) error {
		plain, err := r.v.open(r.item.Key(), b)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(plain, v); err != nil {
			return err
		}
		r.v.h.follow(v)
		return nil
	})
}

// rows runs over the keys that begin with prefix, in order, from the first
// that isn't below seek, but for what is erased. Two must not be open at once while
// writing.
func (v view) rows(prefix, seek []byte) iter.Seq[row] {
	return func(yield func(row) bool) {
		for r := range v.all(prefix, seek) {
			if !v.h.hides(r.item) && !yield(r) {
				return
			}
		}
	}
}

// all is rows with what is erased and not yet swept away.
func (v view) all(prefix, seek []byte) iter.Seq[row] {
	return func(yield func(row) bool) {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues = false // values lie beside their keys
		o.Prefix = prefix
		it := v.txn.NewIterator(o)
		defer it.Close()
		if seek == nil {
			seek = prefix
		}
		for it.Seek(seek); it.ValidForPrefix(prefix); it.Next() {
			if !yield(row{v, it.Item()}) {
				return
			}
		}
	}
}

// row finds one key. The error is store.ErrNotFound where there is none.
func (v view) row(key []byte) (row, error) {
	it, err := v.txn.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) || err == nil && v.h.hides(it) {
		return row{}, store.ErrNotFound
	}
	if err != nil {
		return row{}, fmt.Errorf("read %q: %w", key[0], err)
	}
	return row{v, it}, nil
}

func (v view) get(key []byte, into any) error {
	r, err := v.row(key)
	if err != nil {
		return err
	}
	if err := r.into(into); err != nil {
		return fmt.Errorf("decode %q: %w", key[0], err)
	}
	return nil
}

func (v view) raw(key []byte) ([]byte, error) {
	r, err := v.row(key)
	if err != nil {
		return nil, err
	}
	return r.raw()
}
