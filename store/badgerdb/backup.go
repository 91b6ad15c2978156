package badgerdb

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4"

	"hindsight/store"
)

// A backup is a file of frames. Each is a byte for its kind, the length of what
// follows in 4 bytes, and that: first the head, then rows, then the keys that
// are alive, last the end, which vouches for all before it. An incremental
// backup has the rows that were written since another; which rows have gone
// meanwhile shows in the keys that are alive, because what Badger notes of
// deleting is merged away by and by.
const (
	frameHead = 'H' // BackupHead
	frameRows = 'R' // rows: key, user meta, expiry, value
	frameKeys = 'K' // 8 bytes a key that is alive: xxhash64
	frameEnd  = 'E' // BackupEnd, and the SHA-256 of all frames before and of it

	frameLen = 256 << 10 // at most, but for a single large row
	keyHash  = 8
)

// BackupHead says what a backup belongs to.
type BackupHead struct {
	Format     int       `json:"format"`       // of the directory
	Identity   string    `json:"identity_key"` // fingerprint
	Encryption string    `json:"encryption,omitempty"`
	Directory  string    `json:"directory"` // drawn for each directory: versions mean nothing in another
	Since      uint64    `json:"since"`     // the version that the backup before reached; 0: a full one
	Made       time.Time `json:"made"`
}

// BackupEnd says what a backup holds.
type BackupEnd struct {
	Until uint64 `json:"until"` // the next incremental one's Since
	Rows  int    `json:"rows"`  // written in this file
	Alive int    `json:"alive"` // keys that the directory had
}

// directoryFact is the name of the fact that tells directories apart.
const directoryFact = "directory"

// Backup writes what was committed after the version since, 0 for all, and what
// waits in the journal, as it is at one moment; requests and reflections go on meanwhile. An incremental one
// needs the directory's name from the head of the one before; the error wraps
// store.ErrStale where that was another directory, or one that has been restored.
func (s *Store) Backup(ctx context.Context, w io.Writer, since uint64, directory string) error {
	if err := s.Flush(ctx); err != nil {
		return wrap("back up", err)
	}
	name, err := s.Directory(ctx)
	if err != nil {
		return wrap("back up", err)
	}
	if since > 0 && directory != name {
		return wrap("back up", store.ErrStale)
	}
	err = s.view(func(v view) error {
		rec, err := readFormat(v.txn)
		if err != nil {
			return err
		}
		head := BackupHead{Format: rec.Format, Identity: rec.Fingerprint, Encryption: rec.Encryption, Directory: name, Since: since, Made: s.now()}
		return writeBackup(ctx, v, w, head, factKey(v.h, directoryFact), passing())
	})
	return wrap("back up", err)
}

// Directory is the directory's name, drawn when it is first asked for.
func (s *Store) Directory(ctx context.Context) (string, error) {
	name, ok, err := s.Fact(ctx, directoryFact)
	if err != nil || ok {
		return name, err
	}
	name = rand.Text()
	return name, s.SetFact(ctx, directoryFact, name)
}

// backupWriter writes frames and hashes them.
type backupWriter struct {
	w    *bufio.Writer
	hash hash.Hash
	rows []byte
	keys []byte
	end  BackupEnd
}

// writeBackup leaves some keys out: a restored directory is another, and what a
// squeeze writes to drop it again would stay there. It leaves out what is erased, and
// the marks that say so by versions.
func writeBackup(ctx context.Context, v view, w io.Writer, head BackupHead, out ...[]byte) error {
	b := backupWriter{w: bufio.NewWriterSize(w, 64<<10), hash: sha256.New()}
	if err := b.json(frameHead, head); err != nil {
		return err
	}
	o := badger.DefaultIteratorOptions
	o.PrefetchValues = false
	it := v.txn.NewIterator(o)
	defer it.Close()
	for it.Rewind(); it.Valid(); it.Next() {
		if b.end.Alive%1024 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		item := it.Item()
		if v.h.hides(item) || item.Key()[0] == famHidden || slices.ContainsFunc(out, func(key []byte) bool { return bytes.Equal(item.Key(), key) }) {
			continue
		}
		if err := b.add(item, head.Since); err != nil {
			return err
		}
	}
	if err := errors.Join(b.frame(frameRows, b.rows), b.frame(frameKeys, b.keys)); err != nil {
		return err
	}
	b.end.Until = v.txn.ReadTs()
	text, err := json.Marshal(b.end)
	if err != nil {
		return err
	}
	b.hash.Write(text)
	if err := b.frame(frameEnd, b.hash.Sum(text)); err != nil {
		return err
	}
	return b.w.Flush()
}

// add takes a row, whole if it is newer than since.
func (b *backupWriter) add(item *badger.Item, since uint64) error {
	b.end.Alive++
	b.keys = binary.BigEndian.AppendUint64(b.keys, xxhash.Sum64(item.Key()))
	if len(b.keys) >= frameLen {
		if err := b.frame(frameKeys, b.keys); err != nil {
			return err
		}
		b.keys = b.keys[:0]
	}
	if item.Version() <= since {
		return nil
	}
	b.end.Rows++
	b.rows = appendBytes(b.rows, item.Key())
	b.rows = append(b.rows, item.UserMeta())
	b.rows = binary.AppendUvarint(b.rows, item.ExpiresAt())
	if err := item.Value(func(v []byte) error { b.rows = appendBytes(b.rows, v); return nil }); err != nil {
		return err
	}
	if len(b.rows) < frameLen {
		return nil
	}
	err := b.frame(frameRows, b.rows)
	b.rows = b.rows[:0]
	return err
}

func appendBytes(to, b []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(b))), b...)
}

func (b *backupWriter) json(kind byte, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return b.frame(kind, text)
}

func (b *backupWriter) frame(kind byte, body []byte) error {
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(len(body)))
	for _, part := range [][]byte{head, body} {
		b.hash.Write(part)
		if _, err := b.w.Write(part); err != nil {
			return fmt.Errorf("write the backup: %w", err)
		}
	}
	return nil
}
