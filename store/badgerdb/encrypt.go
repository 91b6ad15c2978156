package badgerdb

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dgraph-io/badger/v4"

	"hindsight/store"
)

// How far a directory is encrypted, in its formatRecord.
const (
	encryptedPartly = "partly" // values from before may lie there as they were
	encryptedWholly = "wholly"
)

// openKeys opens the keyring that the directory has or, with a key file, gets.
// Its errors are *store.Off.
func (s *Store) openKeys(db *badger.DB, rec *formatRecord, fresh bool) (*keyring, error) {
	if s.cfg.EncryptionKeyFile == "" {
		if rec.Encryption != "" {
			return nil, off("%s is encrypted: set HINDSIGHT_ENCRYPTION_KEY_FILE to the key file that it was written with", s.cfg.Dir)
		}
		return nil, nil
	}
	key, err := EncryptionKey(s.cfg.EncryptionKeyFile)
	if err != nil {
		return nil, off("the encryption key file can't be used (%v): put the right file back", err)
	}
	var old []byte
	if s.cfg.OldEncryptionKeyFile != "" {
		if old, err = EncryptionKey(s.cfg.OldEncryptionKeyFile); err != nil {
			return nil, off("the old encryption key file can't be used (%v): put it back, or leave the setting out once the keys are under the new one", err)
		}
	}
	begins := rec.Encryption == ""
	if begins && s.examining {
		return nil, nil
	}
	path := filepath.Join(s.cfg.Dir, ScopeKeysName)
	if head, err := readHead(path); s.examining && old != nil && err == nil && head == keyPrint(old) {
		key, old = old, nil // rotating is for those who stay
	}
	ring, err := openRing(s.cfg.Dir, key, old, begins)
	switch {
	case errors.Is(err, errOtherRing):
		return nil, off("the encryption key %s isn't the one that %s was written with: put the right one back, or name that one as HINDSIGHT_ENCRYPTION_OLD_KEY_FILE to rotate", s.cfg.EncryptionKeyFile, s.cfg.Dir)
	case errors.Is(err, fs.ErrNotExist):
		return nil, off("%s is missing, and nothing in %s can be read without it: put it back from a backup", path, s.cfg.Dir)
	case err != nil:
		return nil, off("the scopes' keys can't be used (%v): put %s back from a backup", err, path)
	case !begins:
		return ring, nil
	}
	rec.Encryption = encryptedPartly
	if fresh {
		rec.Encryption = encryptedWholly
	}
	if err := putFormat(db, rec); err != nil {
		return nil, errors.Join(err, ring.close())
	}
	return ring, nil
}

func readFormat(txn *badger.Txn) (rec formatRecord, err error) {
	item, err := txn.Get([]byte{famFormat})
	if err != nil {
		return rec, err
	}
	err = item.Value(func(b []byte) error { return json.Unmarshal(b, &rec) })
	return rec, err
}

func putFormat(db *badger.DB, rec *formatRecord) error {
	b, err := json.Marshal(rec)
	if err != nil {
		return err
	}
	return db.Update(func(txn *badger.Txn) error { return txn.Set([]byte{famFormat}, b) })
}

// placed are the families whose values are sealed by their place's key.
func placed() []byte {
	return []byte{
		famTenant, famScope, famSession, famExchange, famPart, famBegun, famPlaces, famAnchor, famLedger, famWhy, famJob,
		famMemory, famRevision, famText, famVector, famForgotten, famReady, famReadyPart, famUnready, famCopy,
	}
}

// sealOld seals what was written before the directory was encrypted, some
// hundred rows at a time, and then has the tree merged, so that what lay there
// leaves the disk. A restart goes on where rows are left.
func (s *Store) sealOld(ctx context.Context, h *handle) error {
	if h.keys == nil {
		return nil
	}
	var rec formatRecord
	err := h.db.View(func(txn *badger.Txn) (err error) {
		rec, err = readFormat(txn)
		return err
	})
	if err != nil || rec.Encryption != encryptedPartly {
		return err
	}
	sealed := 0
	for _, family := range append(placed(), famErased, famReceipt, famOutbox) {
		n, err := s.sealFamily(ctx, h, family)
		if err != nil {
			return fmt.Errorf("seal the rows of %q: %w", family, err)
		}
		sealed += n
	}
	if err := s.squeeze(h); err != nil {
		return err
	}
	rec.Encryption = encryptedWholly
	s.log.Info("what was kept before is encrypted", "rows", sealed)
	return putFormat(h.db, &rec)
}

// sealFamily seals the plain rows of a family and counts them.
func (s *Store) sealFamily(ctx context.Context, h *handle, family byte) (int, error) {
	const piece = 200
	sealed := 0
	for seek := []byte{family}; seek != nil; {
		if ctx.Err() != nil {
			return sealed, context.Cause(ctx)
		}
		var next []byte
		err := s.locked(h, func(t *tx) error {
			var rows []moved
			looked := 0
			for r := range t.rows([]byte{family}, seek) {
				if looked++; looked > piece*20 || len(rows) == piece {
					next = r.key()
					break
				}
				if r.item.ValueSize() == 0 {
					continue
				}
				b, err := r.raw()
				if err != nil {
					return err
				}
				if b[0] != plainForm {
					continue
				}
				x := r.asIs()
				x.plain = b[1:]
				rows = append(rows, x)
			}
			for _, x := range rows {
				if err := t.room(len(x.plain)+sealing+len(x.key), 2); err != nil {
					return err
				}
				if err := t.putPlain(x.key, x.plain, x.meta, x.ttl); err != nil {
					return err
				}
			}
			sealed += len(rows)
			return nil
		})
		if err != nil {
			return sealed, err
		}
		seek = next
	}
	return sealed, nil
}

// destroyKey ends the data key of an erased scope: what it has sealed can't be
// read any more, neither in tables and logs that Badger hasn't merged yet nor in
// a backup. Rows that are still at the place, of which there should be none, get
// a new key first.
func (s *Store) destroyKey(h *handle, at place) error {
	if h.keys == nil {
		return nil
	}
	err := s.apply(h, &tx{}, func(t *tx) error {
		slot, err := t.slot(at)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		var left []moved
		for _, family := range placed() {
			for r := range t.rows(join(family, at[:]), nil) {
				if r.item.ValueSize() == 0 {
					continue
				}
				x := r.asIs()
				if x.plain, err = r.plain(); err != nil {
					return err
				}
				left = append(left, x)
			}
		}
		if err := t.set(doomedKey(slot), at[:], 0, 0); err != nil {
			return err
		}
		if len(left) == 0 {
			if err := t.del(join(famDataKey, at[:])); err != nil {
				return err
			}
		} else if _, err := t.draw(at); err != nil {
			return err
		}
		for _, x := range left {
			if err := t.putPlain(x.key, x.plain, x.meta, x.ttl); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.destroyDoomed(h)
}

// doomedKey is the row that says that a slot is to be overwritten; no place is
// all zeros.
func doomedKey(slot int64) []byte { return append(doomedKeys(), u64(uint64(slot))...) }
func doomedKeys() []byte          { return join(famDataKey, make([]byte, placeLen)) }

// destroyDoomed overwrites the keys whose rows were taken away; an opening
// finishes what a killed process left. The caller holds the write lock.
func (s *Store) destroyDoomed(h *handle) error {
	if h.keys == nil {
		return nil
	}
	return s.apply(h, &tx{}, func(t *tx) error {
		var rows [][]byte
		for r := range t.rows(doomedKeys(), nil) {
			key := r.key()
			at, err := r.raw()
			if err != nil {
				return err
			}
			if err := h.keys.destroy(place(at), int64(binary.BigEndian.Uint64(key[1+placeLen:]))); err != nil {
				return err
			}
			rows = append(rows, key)
		}
		for _, key := range rows {
			if err := t.del(key); err != nil {
				return err
			}
		}
		return nil
	})
}

// dropDestroyed erases the scopes whose key was destroyed: a backup from before
// their erasure has been put back.
func (s *Store) dropDestroyed(h *handle) error {
	if h.keys == nil {
		return nil
	}
	s.write.Lock()
	defer s.write.Unlock()
	var gone []place
	err := s.apply(h, &tx{}, func(t *tx) error {
		for r := range t.rows([]byte{famDataKey}, nil) {
			if len(r.item.Key()) != 1+placeLen {
				continue
			}
			at := place(r.item.Key()[1:])
			slot, err := t.slot(at)
			if err != nil {
				return err
			}
			if dead, err := h.keys.isDestroyed(slot); err != nil {
				return err
			} else if dead {
				gone = append(gone, at)
			}
		}
		return nil
	})
	if len(gone) > 0 && err == nil {
		err = s.apply(h, &tx{}, func(t *tx) error {
			for _, at := range gone {
				if err := s.hidePlace(t, at); err != nil {
					return err
				}
				if err := t.put(join(famErased, at[:]), s.now(), 0, 0); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if len(gone) > 0 && err == nil {
		s.log.Warn("what this directory held of erased scopes was removed: it is older than their erasure", "scopes", len(gone))
		s.squeezeSoon()
	}
	return err
}
