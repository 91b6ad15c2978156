//go:build fixtures

package badgerdb

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

// TestWriteFixtures writes the archive of the present format where there is none.
func TestWriteFixtures(t *testing.T) {
	if _, err := os.Stat(fixtureName); err == nil {
		t.Fatalf("%s is there: it stays what the program of its time wrote", fixtureName)
	}
	root := t.TempDir()
	plain, fleet := fixtureConfigs(root)
	if err := os.WriteFile(fleet.EncryptionKeyFile, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cfg := range []Config{plain, fleet} {
		c := newClock()
		cfg.Now = c.now
		s := open(t, cfg)
		everything(t, s, c)
		if !cfg.Share {
			tell(t, s.Store, said(ann, "large", "large-1", fixtureLarge, c.now()))
		}
		s.stop()
		keepForGood(t, cfg.Dir)
	}
	// The backups are of a copy, which ends what was begun.
	of := Config{Dir: copyDir(t, plain.Dir), Now: plain.Now}
	s := open(t, of)
	full := backUp(t, s.Store, "")
	put(t, s.Store, written("The gate code is 5577."))
	for name, from := range map[string]string{"full.backup": full, "more.backup": backUp(t, s.Store, full)} {
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	s.stop()
	pack(t, root)
}

// keepForGood takes the ends of life from all rows: a fixture is read for years.
func keepForGood(t *testing.T, dir string) {
	t.Helper()
	rewrite(t, dir, func(txn *badger.Txn) error {
		it := txn.NewIterator(badger.DefaultIteratorOptions)
		defer it.Close()
		var all []*badger.Entry
		for it.Rewind(); it.Valid(); it.Next() {
			if x := it.Item(); x.ExpiresAt() != 0 {
				v, err := x.ValueCopy(nil)
				if err != nil {
					return err
				}
				all = append(all, badger.NewEntry(x.KeyCopy(nil), v).WithMeta(x.UserMeta()))
			}
		}
		for _, e := range all {
			if err := txn.SetEntry(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// pack writes all files below root into the archive.
func pack(t *testing.T, root string) {
	t.Helper()
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(b))}); err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	if err = errors.Join(err, w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.MkdirAll(filepath.Dir(fixtureName), 0o755), os.WriteFile(fixtureName, out.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", fixtureName, out.Len())
}
