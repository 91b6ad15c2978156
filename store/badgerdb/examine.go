package badgerdb

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"hindsight/store"
)

// Examine says what keeps a store from opening a directory, nil where nothing
// does, or what it would lose by that; the error is a *store.Off. It reads all
// that an opening reads, the scopes' keys besides, and makes nothing. It wants
// the directory for itself meanwhile: where another process holds it, the error
// says so.
func Examine(cfg Config) error {
	s, err := New(cfg)
	if err != nil {
		return off("%s", oneLine(err))
	}
	s.examining = true
	if err := s.checkOurs(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, badger.ManifestFilename)); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is there yet
	}
	h, err := s.openDir()
	if err != nil {
		return err
	}
	err = s.reload(h)
	if err != nil && !errors.Is(err, errKeyDestroyed) { // of an erased scope: an opening takes it away
		err = s.unreadable(err)
	} else {
		err = s.readKeys(h)
	}
	return errors.Join(err, h.close())
}

// readKeys reads the data keys of all scopes.
func (s *Store) readKeys(h *handle) error {
	if h.keys == nil {
		return nil
	}
	bad := 0
	var first error
	txn := h.db.NewTransaction(false)
	defer txn.Discard()
	v := view{h, txn}
	for r := range v.rows([]byte{famDataKey}, nil) {
		if len(r.item.Key()) != 1+placeLen {
			continue
		}
		at := place(r.item.Key()[1:])
		slot, err := v.slot(at)
		if err == nil {
			_, err = h.keys.read(at, slot)
		}
		if err == nil || errors.Is(err, errKeyDestroyed) || errors.Is(err, store.ErrNotFound) {
			continue
		}
		if bad++; first == nil {
			first = err
		}
	}
	if bad == 0 {
		return nil
	}
	return off("%d of the scopes can't be read (%v): put the newest copy of %s back", bad, first, filepath.Join(s.cfg.Dir, ScopeKeysName))
}
