package badgerdb

import (
	"encoding/binary"
	"errors"
	"time"

	"hindsight/store"
)

// What every request writes (sessions, exchanges, anchors) is a list of
// fields, not JSON: it is a third as long, and bytes are what journalling costs.
// A field is a byte that holds its number and whether a number (uvarint) or a
// string (its length first) follows. Zero values are left out. A number that a
// reader doesn't know is passed over, and none is ever used for something else.
// A list of things is flat: the field that begins a thing opens the next one.

// errFields says that a record isn't a list of fields.
var errFields = errors.New("malformed record")

func appendNum(b []byte, field byte, v uint64) []byte {
	if v == 0 {
		return b
	}
	return binary.AppendUvarint(append(b, field<<1), v)
}

func appendInt(b []byte, field byte, v int) []byte { return appendNum(b, field, uint64(v)) }

func appendFlag(b []byte, field byte, v bool) []byte {
	if !v {
		return b
	}
	return appendNum(b, field, 1)
}

func appendText(b []byte, field byte, s string) []byte {
	if s == "" {
		return b
	}
	return appendItem(b, field, s)
}

// appendItem is appendText for what opens a thing, which may be empty.
func appendItem(b []byte, field byte, s string) []byte {
	b = binary.AppendUvarint(append(b, field<<1|1), uint64(len(s)))
	return append(b, s...)
}

func appendHash(b []byte, field byte, h store.Hash) []byte {
	if h.IsZero() {
		return b
	}
	return append(append(b, field<<1|1, byte(hashLen)), h[:]...)
}

// appendTime keeps a time as nanoseconds from another one, which are few bytes
// where the two are near; the first of a record counts from 1970.
func appendTime(b []byte, field byte, t, from time.Time) []byte {
	if t.IsZero() {
		return b
	}
	d := t.UnixNano() - unixNano(from)
	return appendNum(b, field, uint64(d<<1)^uint64(d>>63)+1)
}

func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// field is one field that was read. text shares memory with the record.
type field struct {
	id   byte
	num  uint64
	text []byte
}

func (f field) int() int       { return int(f.num) }
func (f field) flag() bool     { return f.num != 0 }
func (f field) string() string { return string(f.text) }

func (f field) hash() store.Hash {
	var h store.Hash
	copy(h[:], f.text)
	return h
}

func (f field) time(from time.Time) time.Time {
	z := f.num - 1
	return time.Unix(0, unixNano(from)+(int64(z>>1)^-int64(z&1))).UTC()
}

// eachField reads a record's fields in order.
func eachField(b []byte, fn func(field)) error {
	for len(b) > 0 {
		f := field{id: b[0] >> 1}
		isText := b[0]&1 != 0
		n, size := binary.Uvarint(b[1:])
		if size <= 0 {
			return errFields
		}
		b = b[1+size:]
		if isText {
			if n > uint64(len(b)) {
				return errFields
			}
			f.text, b = b[:n], b[n:]
		} else {
			f.num = n
		}
		fn(f)
	}
	return nil
}

// Words that come with every record are kept as their place in a list, from 1;
// the lists only grow. A word that isn't in its list stands there itself.
func appendWord[T ~string](b []byte, field byte, list []T, v T) []byte {
	for i, w := range list {
		if w == v {
			return appendNum(b, field, uint64(i+1))
		}
	}
	return appendText(b, field, string(v))
}

func wordOf[T ~string](f field, list []T) T {
	if f.num > 0 && f.num <= uint64(len(list)) {
		return list[f.num-1]
	}
	return T(f.text)
}

func kinds() []store.EventKind {
	return []store.EventKind{store.UserInput, store.FinalOutput, store.ToolCall, store.ToolResult, store.ModelReasoning}
}

func ends() []store.ExchangeStatus {
	return []store.ExchangeStatus{store.Complete, store.Aborted, store.Truncated, store.Errored}
}

func trials() []store.Trial { return []store.Trial{store.TrialWith, store.TrialWithout} }

func states() []store.SessionState { return []store.SessionState{store.Open, store.Closed} }
