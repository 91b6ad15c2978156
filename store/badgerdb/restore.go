package badgerdb

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4"
)

// maxFrame bounds a frame: a damaged length must not take the memory. The
// largest row is an exchange's part or a snapshot's, well below.
const maxFrame = 64 << 20

var (
	errNoBackup = errors.New("it isn't a backup, or not a whole one")
	errChain    = errors.New("it doesn't follow the one before it")
	errDamaged  = errors.New("it is damaged: its bytes aren't those that were written")
)

// ReadBackup checks a whole backup, every byte of it, and returns what it
// belongs to and holds.
func ReadBackup(r io.Reader) (BackupHead, BackupEnd, error) {
	return readBackup(r, func(byte, []byte) error { return nil })
}

// readBackup hands the frames between head and end to take.
func readBackup(r io.Reader, take func(kind byte, body []byte) error) (head BackupHead, end BackupEnd, err error) {
	f := frames{r: bufio.NewReaderSize(r, 64<<10), hash: sha256.New()}
	kind, body, err := f.next()
	if err != nil {
		return head, end, err
	}
	if kind != frameHead || json.Unmarshal(body, &head) != nil {
		return head, end, errNoBackup
	}
	for {
		kind, body, err := f.next()
		if err != nil {
			return head, end, err
		}
		switch kind {
		case frameRows, frameKeys:
			if err := take(kind, body); err != nil {
				return head, end, err
			}
		case frameEnd:
			text := body[:max(0, len(body)-sha256.Size)]
			if f.hash.Write(text); !bytes.Equal(f.hash.Sum(nil), body[len(text):]) {
				return head, end, errDamaged
			}
			if json.Unmarshal(text, &end) != nil {
				return head, end, errNoBackup
			}
			if _, err := f.r.ReadByte(); !errors.Is(err, io.EOF) {
				return head, end, errDamaged
			}
			return head, end, nil
		default:
			return head, end, errDamaged
		}
	}
}

// frames reads frames and hashes them.
type frames struct {
	r    *bufio.Reader
	hash hash.Hash
	body []byte
}

func (f *frames) next() (kind byte, body []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, cutOff(err)
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, errNoBackup
	}
	f.body = slices.Grow(f.body[:0], int(n))[:n]
	if _, err := io.ReadFull(f.r, f.body); err != nil {
		return 0, nil, cutOff(err)
	}
	if head[0] != frameEnd {
		f.hash.Write(head[:])
		f.hash.Write(f.body)
	}
	return head[0], f.body, nil
}

func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errNoBackup
	}
	return err
}

// Restore fills a directory from a full backup and the incremental ones that
// follow it, in order. The directory must hold no data; the identity key (and
// scopes.keys, where it is encrypted) is put beside it by the caller before it
// is opened. A file that doesn't fit or is damaged leaves the directory without
// data. What it returns is of the last.
func Restore(ctx context.Context, dir string, files []string) (head BackupHead, end BackupEnd, err error) {
	if _, err := os.Stat(dir); err == nil {
		list, err := os.ReadDir(dir)
		if err != nil {
			return head, end, fmt.Errorf("restore: %w", err)
		}
		for _, e := range list {
			if !mayLieBeside(e.Name()) {
				return head, end, fmt.Errorf("restore: %s isn't empty (%s): choose another directory", dir, e.Name())
			}
		}
	}
	// All are read once before anything is written: it is cheaper than half a
	// directory.
	if _, _, _, err := Follow(files); err != nil {
		return head, end, err
	}
	if len(files) == 0 {
		return head, end, errors.New("restore: no backup is named")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return head, end, fmt.Errorf("restore: %w", err)
	}
	if err := SyncDir(filepath.Dir(dir)); err != nil {
		return head, end, fmt.Errorf("restore: %w", err)
	}
	db, err := badger.Open(badgerOptions(dir, &Store{log: slog.New(slog.DiscardHandler)}).WithSyncWrites(false))
	if err != nil {
		return head, end, fmt.Errorf("restore: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var alive []uint64
	for _, path := range files {
		alive = alive[:0]
		if head, end, err = restoreFile(ctx, db, path, &alive); err != nil {
			return head, end, fmt.Errorf("restore %s: %w", path, err)
		}
	}
	if err := dropDead(ctx, db, alive); err != nil {
		return head, end, fmt.Errorf("restore: %w", err)
	}
	return head, end, db.Sync()
}

// Follow reads every byte of backups, and says how many of them, from the first,
// are whole, of the format that this program reads, and follow each the one
// before; the first must be a full one. What else it returns is of the last of
// these, and why the next isn't one of them: nil where all are.
func Follow(files []string) (n int, head BackupHead, end BackupEnd, err error) {
	for i, path := range files {
		h, e, err := checkFile(path)
		if err != nil {
			return i, head, end, fmt.Errorf("read %s: %w", path, err)
		}
		if i == 0 && h.Since != 0 || i > 0 && (h.Since != end.Until || h.Directory != head.Directory) {
			return i, head, end, fmt.Errorf("read %s: %w", path, errChain)
		}
		if h.Format != format {
			return i, head, end, fmt.Errorf("read %s: it is of format %d and this program reads %d", path, h.Format, format)
		}
		head, end = h, e
	}
	return len(files), head, end, nil
}

func checkFile(path string) (BackupHead, BackupEnd, error) {
	f, err := os.Open(path)
	if err != nil {
		return BackupHead{}, BackupEnd{}, err
	}
	defer func() { _ = f.Close() }() // it was read
	return ReadBackup(f)
}

func restoreFile(ctx context.Context, db *badger.DB, path string, alive *[]uint64) (head BackupHead, end BackupEnd, err error) {
	f, err := os.Open(path)
	if err != nil {
		return head, end, err
	}
	defer func() { _ = f.Close() }()
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	head, end, err = readBackup(f, func(kind byte, body []byte) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if kind == frameKeys {
			for ; len(body) >= keyHash; body = body[keyHash:] {
				*alive = append(*alive, binary.BigEndian.Uint64(body))
			}
			return nil
		}
		return restoreRows(batch, body)
	})
	if err == nil {
		err = batch.Flush()
	}
	return head, end, err
}

func restoreRows(batch *badger.WriteBatch, b []byte) error {
	for len(b) > 0 {
		key, rest, ok := cutBytes(b)
		if !ok || len(key) == 0 || len(rest) < 2 {
			return errDamaged
		}
		e := badger.Entry{Key: bytes.Clone(key), UserMeta: rest[0]}
		expires, n := binary.Uvarint(rest[1:])
		if n <= 0 {
			return errDamaged
		}
		e.ExpiresAt = expires
		value, rest, ok := cutBytes(rest[1+n:])
		if !ok {
			return errDamaged
		}
		e.Value = bytes.Clone(value)
		if err := batch.SetEntry(&e); err != nil {
			return err
		}
		b = rest
	}
	return nil
}

func cutBytes(b []byte) (part, rest []byte, ok bool) {
	n, size := binary.Uvarint(b)
	if size <= 0 || uint64(len(b)-size) < n {
		return nil, nil, false
	}
	return b[size : size+int(n)], b[size+int(n):], true
}

// dropDead removes what had gone when the last backup was made.
func dropDead(ctx context.Context, db *badger.DB, alive []uint64) error {
	slices.Sort(alive)
	batch := db.NewWriteBatch()
	defer batch.Cancel()
	err := db.View(func(txn *badger.Txn) error {
		o := badger.DefaultIteratorOptions
		o.PrefetchValues = false
		it := txn.NewIterator(o)
		defer it.Close()
		for it.Rewind(); it.Valid(); it.Next() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if _, ok := slices.BinarySearchFunc(alive, xxhash.Sum64(it.Item().Key()), cmp.Compare); ok {
				continue
			}
			if err := batch.Delete(it.Item().KeyCopy(nil)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return batch.Flush()
}
