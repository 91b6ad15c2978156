// Package z keeps, beside a directory, what a power loss would leave of it: each
// file as it was when it was last synced. It is compiled a second time into the
// package z of Badger's mapped files, where the power-loss build has every sync
// come by (internal/kill/power.go); here it is compiled for its tests.
//
// What it takes for granted of a file system: a file's first sync makes its name
// last too, a new name without one lasts from the directory's sync on and holds
// zeros, and a removal or a renaming lasts from the directory's sync on. Of what
// wasn't synced nothing is left.
package z

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Variables of the environment that name the directory and the copy beside it.
const (
	SyncedFrom = "HINDSIGHT_DATA_DIR"
	SyncedTo   = "HINDSIGHT_TEST_SYNCED_DIR"
)

// syncedPart ends the name of a copy that isn't whole.
const syncedPart = ".part"

var syncedLock sync.Mutex

// SyncFile syncs a file or a directory, and keeps what is then on disk.
func SyncFile(f *os.File) error {
	if err := f.Sync(); err != nil {
		return err
	}
	return Synced(f)
}

// Synced keeps what is on disk of a file or a directory that was just synced.
func Synced(f *os.File) error {
	from, to := os.Getenv(SyncedFrom), os.Getenv(SyncedTo)
	if f == nil || from == "" || to == "" {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	syncedLock.Lock()
	defer syncedLock.Unlock()
	if info.IsDir() {
		if filepath.Clean(f.Name()) != filepath.Clean(from) {
			return nil
		}
		return syncedNames(from, to)
	}
	rel, err := filepath.Rel(from, f.Name())
	if err != nil || strings.Contains(rel, string(filepath.Separator)) || rel == ".." {
		return nil // a file of another directory
	}
	return syncedBytes(f, filepath.Join(to, rel), info.Size())
}

// syncedBytes makes the copy's bytes the file's, writing those alone that differ.
// Badger's logs are as long as they may become and are written from the front:
// behind many zeros there is nothing.
func syncedBytes(f *os.File, path string, size int64) (err error) {
	out, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if err := out.Truncate(size); err != nil {
		return err
	}
	is, was, zeros := make([]byte, 64<<10), make([]byte, 64<<10), make([]byte, 64<<10)
	for at := int64(0); at < size; at += int64(len(is)) {
		n, err := f.ReadAt(is, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.Equal(is[:n], zeros) {
			return nil
		}
		m, err := out.ReadAt(was, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.Equal(is[:n], was[:m]) {
			continue
		}
		if _, err := out.WriteAt(is[:n], at); err != nil {
			return err
		}
	}
	return nil
}

// syncedNames makes the copy's names the directory's.
func syncedNames(from, to string) error {
	is, err := syncedSizes(from)
	if err != nil {
		return err
	}
	was, err := syncedSizes(to)
	if err != nil {
		return err
	}
	for name, size := range is {
		_, known := was[name]
		twin, err := syncedTwin(from, to, name, is, was)
		if err != nil {
			return err
		}
		switch {
		case twin != "": // renamed or linked
			err = syncedCopy(filepath.Join(to, twin), filepath.Join(to, name), size)
		case !known:
			err = syncedCopy(os.DevNull, filepath.Join(to, name), size)
		}
		if err != nil {
			return err
		}
	}
	for name := range was {
		if _, ok := is[name]; !ok {
			if err := os.Remove(filepath.Join(to, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// syncedTwin finds what was synced under another name and is what a file holds. One
// whose name stays was linked, which makes a new name only.
func syncedTwin(from, to, name string, is, was map[string]int64) (string, error) {
	_, known := was[name]
	var want []byte
	for other, size := range was {
		_, stays := is[other]
		if other == name || size == 0 || size != is[name] || known && stays {
			continue
		}
		if want == nil {
			var err error
			if want, err = os.ReadFile(filepath.Join(from, name)); errors.Is(err, os.ErrNotExist) {
				return "", nil // it has gone meanwhile
			} else if err != nil {
				return "", err
			}
		}
		got, err := os.ReadFile(filepath.Join(to, other))
		if err != nil {
			return "", err
		}
		if bytes.Equal(got, want) {
			return other, nil
		}
	}
	return "", nil
}

// syncedCopy makes a file of some size that begins with another's bytes.
func syncedCopy(from, to string, size int64) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.WriteFile(to+syncedPart, raw, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(to+syncedPart, size); err != nil {
		return err
	}
	return os.Rename(to+syncedPart, to)
}

// syncedSizes lists a directory's files.
func syncedSizes(dir string) (map[string]int64, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list what is synced: %w", err)
	}
	out := map[string]int64{}
	for _, e := range list {
		info, err := e.Info()
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info.Mode().IsRegular() && e.Name() != "LOCK" && !strings.HasSuffix(e.Name(), syncedPart) {
			out[e.Name()] = info.Size()
		}
	}
	return out, nil
}
