package badgerdb

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"hindsight/store"
)

// IdentityKeyName is the identity key's file in the data directory.
const IdentityKeyName = "identity.key"

var errMalformedKey = errors.New("not 32 bytes, raw or as 64 hexadecimal digits")

func ownKeyFile(dir string) string { return filepath.Join(dir, IdentityKeyName) }

// readKey reads an identity key. The error is fs.ErrNotExist or errMalformedKey
// where that is the matter.
func readKey(path string) (store.IdentityKey, error) {
	var k store.IdentityKey
	b, err := os.ReadFile(path)
	if err != nil {
		return k, err
	}
	if len(b) == len(k) {
		return store.IdentityKey(b), nil
	}
	if n, err := hex.Decode(make([]byte, len(b)), bytes.TrimSpace(b)); err != nil || n != len(k) {
		return k, fmt.Errorf("%s: %w", path, errMalformedKey)
	}
	_, err = hex.Decode(k[:], bytes.TrimSpace(b))
	return k, err
}

// ReadKey reads an identity key from a file that isn't the store's own. The
// error says what is wrong with the file.
func ReadKey(path string) (store.IdentityKey, error) {
	k, err := readKey(path)
	if err != nil {
		return k, fmt.Errorf("read identity key: %w", err)
	}
	return k, nil
}

// makeKey makes a key file that must not exist yet. It appears whole or not at
// all.
func makeKey(path string) (k store.IdentityKey, err error) {
	if _, err := rand.Read(k[:]); err != nil {
		return k, fmt.Errorf("make identity key: %w", err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".identity-*") // 0600
	if err != nil {
		return k, fmt.Errorf("make identity key: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.WriteString(hex.EncodeToString(k[:]) + "\n")
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return k, fmt.Errorf("write identity key: %w", err)
	}
	if err := os.Link(f.Name(), path); err != nil {
		return k, fmt.Errorf("place identity key: %w", err)
	}
	return k, SyncDir(filepath.Dir(path))
}

// SyncDir brings a directory's entries to the disk, after a rename.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	// Some systems can't sync a directory; then nothing better can be done.
	_ = d.Sync()
	return d.Close()
}

// keyFor finds the identity key of a store; a new one gets a new key if the
// file is its own. A new key is never put beside old data.
func (s *Store) keyFor(fresh bool) (store.IdentityKey, error) {
	path := s.cfg.IdentityKeyFile
	k, err := readKey(path)
	switch {
	case err == nil:
		return k, nil
	case errors.Is(err, errMalformedKey):
		return k, off("identity key file %v: put the right file back", err)
	case !errors.Is(err, fs.ErrNotExist):
		return k, off("identity key file can't be read (%v): make it readable for this user", err)
	case path != ownKeyFile(s.cfg.Dir):
		return k, off("identity key file %s doesn't exist: put it there, 32 bytes raw or in hexadecimal digits", path)
	case !fresh:
		return k, off("the identity key %s of the data beside it is missing: put it back from a backup, or move the data directory away to begin anew", path)
	}
	return makeKey(path)
}

func off(format string, args ...any) error {
	return &store.Off{Reason: fmt.Sprintf(format, args...)}
}
