package badgerdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/dgraph-io/badger/v4/fb"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/pb"
	"github.com/dgraph-io/badger/v4/y"
	"github.com/klauspost/compress/snappy"
	"google.golang.org/protobuf/proto"
)

// The layouts in this file are Badger's.

// tableVersion reads a table, every byte of it, and tells the highest version in
// it. One that was read before and hasn't changed isn't read again.
func (s *Store) tableVersion(path string, how options.CompressionType) (uint64, error) {
	name := filepath.Base(path)
	fi, err := os.Stat(path)
	if err != nil {
		return 0, fmt.Errorf("%s is missing", name)
	}
	if c, ok := s.checked[name]; ok && c.size == fi.Size() && c.time.Equal(fi.ModTime()) {
		return c.version, nil
	}
	version, err := readTable(path, fi.Size(), how)
	if err != nil {
		return 0, fmt.Errorf("%s can't be read (%s)", name, oneLine(err))
	}
	s.checked[name] = checkedTable{fi.Size(), fi.ModTime(), version}
	return version, nil
}

var errCut = errors.New("it is cut off")

// readTable checks the index of a table and all its blocks.
func readTable(path string, size int64, how options.CompressionType) (version uint64, err error) {
	defer func() {
		if p := recover(); p != nil { // an index that vouches for itself and is none
			err = fmt.Errorf("%v", p)
		}
	}()
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }() // it was read
	at := size
	before := func(n int64) ([]byte, error) {
		if at -= n; n < 0 || at < 0 {
			return nil, errCut
		}
		b := make([]byte, n)
		_, err := f.ReadAt(b, at)
		return b, err
	}
	last := func() ([]byte, error) { // what its own length stands behind
		b, err := before(4)
		if err != nil {
			return nil, err
		}
		return before(int64(binary.BigEndian.Uint32(b)))
	}
	sum, err := last()
	if err != nil {
		return 0, err
	}
	index, err := last()
	if err != nil {
		return 0, err
	}
	if err := verify(index, sum); err != nil {
		return 0, fmt.Errorf("its index: %w", err)
	}
	idx := fb.GetRootAsTableIndex(index, 0)
	var raw, plain []byte
	for i := range idx.OffsetsLength() {
		var o fb.BlockOffset
		if !idx.Offsets(&o, i) || int64(o.Offset())+int64(o.Len()) > at {
			return 0, errCut
		}
		raw = append(raw[:0], make([]byte, o.Len())...)
		if _, err := f.ReadAt(raw, int64(o.Offset())); err != nil {
			return 0, err
		}
		if plain, err = checkBlock(plain, raw, how); err != nil {
			return 0, fmt.Errorf("its block %d: %w", i, err)
		}
	}
	return idx.MaxVersion(), nil
}

// mostInBlock bounds what a block unpacks to: its largest value is an exchange's
// part or a snapshot's, below 1 MiB.
const mostInBlock = 16 << 20

// checkBlock unpacks a block into plain and compares it with its checksum.
func checkBlock(plain, raw []byte, how options.CompressionType) ([]byte, error) {
	b := raw
	if how == options.Snappy {
		n, err := snappy.DecodedLen(raw)
		if err != nil || n > mostInBlock {
			return plain, errors.New("it can't be unpacked")
		}
		if plain, err = snappy.Decode(plain[:cap(plain)], raw); err != nil {
			return plain, err
		}
		b = plain
	}
	if len(b) < 4 {
		return plain, errCut
	}
	end := len(b) - 4
	n := int64(binary.BigEndian.Uint32(b[end:]))
	if n > int64(end) {
		return plain, errCut
	}
	return plain, verify(b[:end-int(n)], b[end-int(n):end])
}

func verify(b, sum []byte) error {
	var want pb.Checksum
	if err := proto.Unmarshal(sum, &want); err != nil {
		return err
	}
	return y.VerifyChecksum(b, &want)
}

// The layout of a log: a header, then entries; zeros are room.
const (
	logHeader  = 20
	inTx       = 1 << 6 // part of a transaction that ends later
	mostHeader = 22
	mostKey    = 1 << 16
)

// logRead is what a log holds.
type logRead struct {
	version uint64 // the highest in it
	lost    int    // bytes that were committed and can't be read
}

// readLog reads the log of a memtable as Badger does, which cuts it at the first
// entry that it can't read. What lies behind that is lost, unless it is a write
// that a kill broke off: of that, nothing was acknowledged.
func readLog(path string) (l logRead, err error) {
	r, err := openLog(path)
	if err != nil || r.used <= logHeader {
		return l, err
	}
	good := r.at // behind the last whole transaction
	tx := false
	for {
		began := r.at
		meta, version, err := r.next()
		if err != nil {
			if !r.brokenOff(err, began, tx) {
				l.lost = r.used - good
			}
			break
		}
		l.version = max(l.version, version)
		if tx = meta&inTx != 0; !tx {
			good = r.at
		}
	}
	return l, nil
}

// brokenOff says whether what next found at an entry is a log's end, or a write
// that a kill broke off: then zeros stand where the entry's checksum belongs, or
// behind the beginning of its header.
func (r *logReader) brokenOff(err error, began int, tx bool) bool {
	switch {
	case errors.Is(err, errSum) && r.used <= r.at-crc32.Size:
		return true
	case r.used <= began: // nothing follows; where room does, a transaction may lack its end
		return began < r.size || !tx
	}
	return r.used <= began+mostHeader && r.used < r.size
}

var errSum = errors.New("another checksum")

// logReader cuts a log into entries.
type logReader struct {
	b    []byte // zeros at its end may be missing: they are most of it
	at   int
	used int // up to here there is something
	size int
}

func openLog(path string) (*logReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was read
	r := &logReader{at: logHeader}
	for piece := make([]byte, 64<<10); ; {
		n, err := io.ReadFull(f, piece)
		if used := len(bytes.TrimRight(piece[:n], "\x00")); used > 0 {
			r.b = append(append(r.b, make([]byte, r.size-len(r.b))...), piece[:n]...)
			r.used = r.size + used
		}
		r.size += n
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return r, nil
		case err != nil:
			return nil, err
		}
	}
}

// next reads an entry. The error is io.EOF where there is none, and errSum where
// it isn't what was written; then its end is known all the same.
func (r *logReader) next() (meta byte, version uint64, err error) {
	head := r.at
	if head+2 > len(r.b) {
		return 0, 0, io.EOF
	}
	at := head + 2 // meta, user meta
	var n [3]uint64
	for i := range n { // lengths of key and value, expiry
		v, size := binary.Uvarint(r.b[at:])
		if size <= 0 {
			return 0, 0, errCut
		}
		n[i], at = v, at+size
	}
	switch {
	case n[0] == 0:
		return 0, 0, io.EOF
	case n[0] > mostKey || n[1] > uint64(r.size) || at+int(n[0]+n[1])+crc32.Size > r.size:
		return 0, 0, errCut
	}
	end := at + int(n[0]+n[1])
	r.at = end + crc32.Size
	if r.at > len(r.b) || crc32.Checksum(r.b[head:end], y.CastagnoliCrcTable) != binary.BigEndian.Uint32(r.b[end:]) {
		return 0, 0, errSum
	}
	if key := r.b[at : at+int(n[0])]; len(key) > 8 {
		version = math.MaxUint64 - binary.BigEndian.Uint64(key[len(key)-8:])
	}
	return r.b[head], version, nil
}

// sanity is what a key registry without keys says behind its first 16 bytes.
const sanity = "Hello Badger"

// holdsNothing says whether a file holds nothing of ours and isn't what Badger
// needs it to be: a file that a kill left empty, or one of those that Badger
// keeps for values outside the tables and for keys of its own, damaged.
func holdsNothing(path string) bool {
	fi, err := os.Stat(path)
	if err != nil {
		return false
	}
	switch name := filepath.Base(path); {
	case filepath.Ext(name) == ".mem":
		return fi.Size() == 0
	case name == "DISCARD":
		return fi.Size() != 1<<20
	case name == "KEYREGISTRY":
		b, err := os.ReadFile(path)
		return err == nil && (len(b) != 16+len(sanity) || string(b[16:]) != sanity)
	case filepath.Ext(name) == ".vlog":
		head := make([]byte, logHeader)
		f, err := os.Open(path)
		if err != nil {
			return false
		}
		defer func() { _ = f.Close() }() // it was read
		_, err = io.ReadFull(f, head)
		return err != nil || binary.BigEndian.Uint64(head) != 0 // the number of a key that there isn't
	}
	return false
}
