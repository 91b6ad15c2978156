package badgerdb

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// errStillRead says that what was deleted before a squeeze is still in the tables.
var errStillRead = errors.New("merge tables: what was deleted is still being read")

// squeeze writes the memtable out and merges all levels, which drops what was
// deleted, replaced or is past its time. Reads wait while the memtable is
// written, for a tenth of a second or so. A merge keeps what a transaction that
// began earlier may read, and learns of a transaction's end a moment later: what
// it kept is merged again, and errStillRead is the answer where that doesn't help.
func (s *Store) squeeze(h *handle) error {
	for range 4 {
		until := h.db.MaxVersion()
		if err := s.writeOut(h); err != nil {
			return fmt.Errorf("write out the memtable: %w", err)
		}
		if err := h.db.Flatten(2); err != nil {
			return fmt.Errorf("merge tables: %w", err)
		}
		first, last := keptBack(h, until)
		if first == nil {
			return nil
		}
		if err := s.rewrite(h, first, last); err != nil {
			return fmt.Errorf("merge tables again: %w", err)
		}
	}
	return errStillRead
}

// keptBack is the first and the last key of which the tables hold an older form
// than the one of that version.
func keptBack(h *handle, until uint64) (first, last []byte) {
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	o := badger.DefaultIteratorOptions
	o.PrefetchValues, o.AllVersions = false, true
	it := txn.NewIterator(o)
	defer it.Close()
	var key []byte
	newer := false // the key has a form that came before until
	for it.Rewind(); it.Valid(); it.Next() {
		item := it.Item()
		if !bytes.Equal(item.Key(), key) {
			key, newer = item.KeyCopy(key), false
		} else if newer && !item.IsDeletedOrExpired() {
			if first == nil {
				first = bytes.Clone(key)
			}
			last = append(last[:0], key...)
		}
		newer = newer || item.Version() <= until
	}
	return first, last
}

// rewrite puts rows once more as they are, the deleted too: a merge takes the
// tables that lie between new rows.
func (s *Store) rewrite(h *handle, keys ...[]byte) error {
	return s.locked(h, func(t *tx) error {
		for _, key := range keys {
			item, err := t.txn.Get(key)
			if errors.Is(err, badger.ErrKeyNotFound) {
				if err := t.del(key); err != nil {
					return err
				}
				continue
			}
			if err != nil {
				return fmt.Errorf("read %q: %w", key[0], err)
			}
			x := row{t.view, item}.asIs()
			value, err := item.ValueCopy(nil)
			if err != nil {
				return fmt.Errorf("read %q: %w", key[0], err)
			}
			if err := t.set(x.key, value, x.meta, x.ttl); err != nil {
				return err
			}
		}
		return nil
	})
}
