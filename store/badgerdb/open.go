package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"hindsight/store"
)

// format is the layout of keys and values that this program reads and writes.
const format = 1

// magic tells our directories from those of other programs that use Badger.
const magic = 0x4853

// formatRecord is the first thing that is written to a new directory.
type formatRecord struct {
	Format      int       `json:"format"`
	Fingerprint string    `json:"identity_key"` // of the key that hashes names here
	Made        time.Time `json:"made"`
	Encryption  string    `json:"encryption,omitempty"`
}

// openDir opens the data directory. Its errors are *store.Off.
func (s *Store) openDir() (_ *handle, err error) {
	defer func() {
		if p := recover(); p != nil { // Badger panics on some damage
			err = off("the data in %s is damaged (%s): %s", s.cfg.Dir, oneLine(p), mendDamage)
		}
		var o *store.Off
		if err != nil && !errors.As(err, &o) {
			err = off("%s can't be opened (%s)", s.cfg.Dir, oneLine(err))
		}
	}()
	if err := s.prepareDir(); err != nil {
		return nil, err
	}
	if free, low := s.free(); low {
		return nil, off("only %s are free under %s and %s are needed: make room", size(free), s.cfg.Dir, size(s.cfg.Watermark))
	}
	if err := s.inspect(); err != nil {
		return nil, err
	}
	db, err := badger.Open(badgerOptions(s.cfg.Dir, s))
	if err != nil {
		return nil, s.explain(err)
	}
	id, rec, fresh, err := s.vouch(db)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	keys, err := s.openKeys(db, &rec, fresh)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &handle{names: names{id}, db: db, keys: keys, alias: s.tenant}, nil
}

// badgerOptions is the small configuration. Values stay in the LSM tree: what
// lies in the value log was seen never to be reclaimed.
func badgerOptions(dir string, s *Store) badger.Options {
	o := badger.DefaultOptions(dir)
	o.ExternalMagicVersion = magic
	o.SyncWrites = true
	o.DetectConflicts = false // one writer at a time
	o.MetricsEnabled = false
	o.MemTableSize = 8 << 20
	o.NumMemtables = 2
	o.ValueThreshold = 1 << 20
	o.ValueLogFileSize = 1 << 20
	o.BlockCacheSize = 4 << 20
	o.IndexCacheSize = 4 << 20
	o.NumCompactors = 2
	// Keys are hashes, so each merge of level 0 rewrites the level below as a
	// whole: seldom is cheaper by a third of what an exchange costs.
	o.NumLevelZeroTables = 8
	o.NumLevelZeroTablesStall = 16
	o.Compression = options.Snappy
	o.Logger = badgerLog{s.log}
	return o
}

// prepareDir makes the directory, or checks that it is one of ours or empty.
func (s *Store) prepareDir() error {
	dir := s.cfg.Dir
	if s.examining {
		return s.checkOurs()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return off("the data directory can't be made (%v): set HINDSIGHT_DATA_DIR to one that this user may write", err)
	}
	if err := s.checkOurs(); err != nil {
		return err
	}
	if fi, err := os.Stat(dir); err == nil && fi.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			s.log.Warn("data directory is open to others", "err", err)
		}
	}
	return nil
}

// checkOurs refuses a directory with files that aren't ours.
func (s *Store) checkOurs() error {
	dir := s.cfg.Dir
	list, err := os.ReadDir(dir)
	if err != nil {
		return off("the data directory can't be read (%v): set HINDSIGHT_DATA_DIR to one that this user may write", err)
	}
	ours := false
	for _, e := range list {
		ours = ours || e.Name() == badger.ManifestFilename
	}
	for _, e := range list {
		if ours || mayLieBeside(e.Name()) {
			continue
		}
		switch filepath.Ext(e.Name()) {
		case ".sst", ".mem", ".vlog":
			return off("%s holds data (%s) and its MANIFEST is missing: %s", dir, e.Name(), mendDamage)
		}
		return off("%s holds files that aren't Hindsight's (%s): set HINDSIGHT_DATA_DIR to an empty directory", dir, e.Name())
	}
	return nil
}

// mayLieBeside says whether a file may lie in a directory that becomes ours:
// what Hindsight itself puts there, settings, and what file systems make.
func mayLieBeside(name string) bool {
	switch filepath.Ext(name) {
	case ".yaml", ".yml", ".key", ".log":
		return true
	}
	for _, p := range []string{".", "lost+found", "admin-", "hindsight", ScopeKeysName, socketName, ownerSocket, "LOCK", "MANIFEST-REWRITE"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// vouch compares the directory's format and identity key with ours; an empty
// one gets them.
func (s *Store) vouch(db *badger.DB) (key store.IdentityKey, rec formatRecord, fresh bool, err error) {
	err = db.View(func(txn *badger.Txn) (err error) {
		rec, err = readFormat(txn)
		if errors.Is(err, badger.ErrKeyNotFound) {
			it := txn.NewIterator(badger.IteratorOptions{})
			defer it.Close()
			it.Rewind()
			if fresh = !it.Valid(); !fresh {
				return off("%s holds data without Hindsight's format record: set HINDSIGHT_DATA_DIR to another directory", s.cfg.Dir)
			}
			return nil
		}
		return err
	})
	if err != nil {
		return key, rec, fresh, err
	}
	switch {
	case !fresh && rec.Format > format:
		return key, rec, fresh, off("%s is of format %d and this program reads %d: use the newer hindsight that wrote it", s.cfg.Dir, rec.Format, format)
	case !fresh && rec.Format < format:
		return key, rec, fresh, off("%s is of format %d and this program reads %d: run hindsight migrate", s.cfg.Dir, rec.Format, format)
	}
	if fresh && s.examining {
		return key, rec, fresh, nil
	}
	if key, err = s.keyFor(fresh); err != nil {
		return key, rec, fresh, err
	}
	if !fresh {
		if rec.Fingerprint != key.Fingerprint() {
			return key, rec, fresh, off("the identity key %s isn't the one that %s was written with: put the right one back", s.cfg.IdentityKeyFile, s.cfg.Dir)
		}
		return key, rec, fresh, nil
	}
	rec = formatRecord{Format: format, Fingerprint: key.Fingerprint(), Made: s.now()}
	return key, rec, fresh, putFormat(db, &rec)
}

// explain turns Badger's error into a reason for people. Badger has no sentinel
// for a held lock.
func (s *Store) explain(err error) error {
	msg := err.Error()
	switch {
	case strings.Contains(msg, "directory lock"):
		pid := "unknown"
		if b, err := os.ReadFile(filepath.Join(s.cfg.Dir, "LOCK")); err == nil {
			pid = strings.TrimSpace(string(b))
		}
		return &store.Off{Held: true, Reason: fmt.Sprintf("another hindsight owns %s (pid %s): stop it, or set HINDSIGHT_DATA_DIR to a directory of its own", s.cfg.Dir, pid)}
	case strings.Contains(msg, "external magic"):
		return off("%s belongs to another program: set HINDSIGHT_DATA_DIR to another directory", s.cfg.Dir)
	case strings.Contains(msg, "unsupported version"):
		return off("%s was written by another version of Badger: use the hindsight that wrote it", s.cfg.Dir)
	case errors.Is(err, fs.ErrPermission):
		return off("%s isn't writable (%s): give it to this user", s.cfg.Dir, oneLine(err))
	}
	return off("%s isn't a readable store (%s): %s", s.cfg.Dir, oneLine(err), mendDamage)
}

// unreadable is the reason where a directory opens and what it holds can't be read.
func (s *Store) unreadable(err error) error {
	next := mendDamage
	if errors.Is(err, errKeyUnread) {
		next = fmt.Sprintf("put the newest copy of %s back", filepath.Join(s.cfg.Dir, ScopeKeysName))
	}
	return off("the data in %s can't be read (%s): %s", s.cfg.Dir, oneLine(err), next)
}

func oneLine(v any) string {
	line, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(v)), "\n")
	return line
}

func size(n uint64) string { return fmt.Sprintf("%d MiB", n>>20) }
