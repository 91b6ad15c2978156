package index

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"hindsight/store"
)

// A snapshot is a scope as it is searched: memories, terms with their postings,
// vectors. It is a list of parts, each with its kind, its content and a checksum.
// The first, the head, holds the form, and how many memories and vectors follow.
const (
	partHead    = 'h'
	partDocs    = 'd' // memories, with the length of their fields
	partTerms   = 't' // terms with their postings; a long list goes on in the next entry
	partVectors = 'v'
)

// partBytes is about how long a part becomes, and morePostings how many postings
// one entry holds: at most 8 bytes each.
const (
	partBytes    = 192 << 10
	morePostings = 8 << 10
)

// errMoved is the error of a snapshot whose scope has changed meanwhile.
var errMoved = errors.New("the scope has changed")

// sources decide what stands in a snapshot: how texts become terms, and how these
// are written.
//
//go:embed terms.go stop.go concepts.go scope.go record.go snapshot.go restore.go
var sources embed.FS

// form tells snapshots of other analysis, other memories or another layout. It is
// made of the very code, so that no one has to remember to count it up.
func form() [sha256.Size]byte {
	h := sha256.New()
	entries, _ := sources.ReadDir(".") // there they are: the compiler put them in
	for _, e := range entries {
		b, _ := sources.ReadFile(e.Name())
		h.Write(b)
	}
	h.Write([]byte(shape(reflect.TypeFor[store.Memory]())))
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range info.Deps {
			if strings.Contains(m.Path, "snowballstem") || strings.HasSuffix(m.Path, "x/text") {
				h.Write([]byte(m.Path + m.Version))
			}
		}
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// snapshot gives the parts of the scope as it is at version and seen; errMoved
// where it is so no longer. The lock is held for one part at a time.
func (s *scope) snapshot(version, seen uint64) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		w := &writer{s: s}
		for done := false; !done; {
			s.mu.RLock()
			part, err := []byte(nil), errMoved
			if s.version == version && s.seen == seen {
				part, err = w.next()
			}
			s.mu.RUnlock()
			done = err != nil || part == nil
			if part != nil {
				part = sum(part)
			}
			if (err != nil || part != nil) && !yield(part, err) {
				return
			}
		}
	}
}

// writer makes the parts of a scope, one after the other.
type writer struct {
	s        *scope
	began    bool
	number   []uint32 // of the live documents, by their old number
	live     []uint32
	names    []string // by term
	doc      int      // how far it is
	term     int
	posting  int
	slot     int
	embedded int
}

// next is the next part, without its checksum; nil: that was all.
func (w *writer) next() ([]byte, error) {
	switch {
	case !w.began:
		w.began = true
		return w.head(), nil
	case w.doc < len(w.live):
		return w.docs()
	case w.term < len(w.names):
		if b := w.terms(); len(b) > 1 {
			return b, nil
		}
		fallthrough
	default:
		return w.vectors(), nil
	}
}

func (w *writer) head() []byte {
	s := w.s
	w.number = make([]uint32, len(s.docs))
	for i := range s.docs {
		w.number[i] = none
		if s.docs[i].mem != nil {
			w.number[i] = uint32(len(w.live))
			w.live = append(w.live, uint32(i))
			if s.docs[i].vector != none {
				w.embedded++
			}
		}
	}
	w.names = make([]string, len(s.lists))
	for text, t := range s.terms {
		w.names[t] = text
	}
	f := form()
	b := append([]byte{partHead}, f[:]...)
	b = binary.AppendUvarint(b, uint64(len(w.live)))
	return binary.AppendUvarint(b, uint64(w.embedded))
}

func (w *writer) docs() ([]byte, error) {
	b := []byte{partDocs}
	for ; w.doc < len(w.live) && len(b) < partBytes; w.doc++ {
		d := &w.s.docs[w.live[w.doc]]
		for _, n := range d.len {
			b = binary.AppendUvarint(b, uint64(n))
		}
		var err error
		if b, err = appendValue(b, reflect.ValueOf(d.mem).Elem()); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func (w *writer) terms() []byte {
	b := []byte{partTerms}
	var live []posting
	for w.term < len(w.names) && len(b) < partBytes {
		list := w.s.lists[w.term]
		live = live[:0]
		for ; w.posting < len(list) && len(live) < morePostings; w.posting++ {
			if p := list[w.posting]; w.number[p.doc] != none {
				p.doc = w.number[p.doc]
				live = append(live, p)
			}
		}
		if len(live) > 0 {
			b = appendPostings(appendString(b, w.names[w.term]), live)
		}
		if w.posting == len(list) {
			w.term, w.posting = w.term+1, 0
		}
	}
	return b
}

// appendPostings writes the steps from document to document. The usual posting, one
// occurrence in one field, has the field in the step's last bits.
func appendPostings(b []byte, list []posting) []byte {
	b = binary.AppendUvarint(b, uint64(len(list)))
	last := uint32(0)
	for _, p := range list {
		field := uint64(fields)
		switch p.tf {
		case [fields]uint8{own: 1}:
			field = own
		case [fields]uint8{scenario: 1}:
			field = scenario
		case [fields]uint8{around: 1}:
			field = around
		}
		b = binary.AppendUvarint(b, uint64(p.doc-last)<<2|field)
		if field == fields {
			b = append(b, p.tf[:]...)
		}
		last = p.doc
	}
	return b
}

// vectors writes values as whole numbers of 16 bits with their unit, which is how
// they are stored too.
func (w *writer) vectors() []byte {
	v := &w.s.vectors
	if w.slot >= len(v.doc) {
		return nil
	}
	b := binary.AppendUvarint([]byte{partVectors}, uint64(v.dim))
	for ; w.slot < len(v.doc) && len(b) < partBytes; w.slot++ {
		n := v.doc[w.slot]
		if n == none || w.number[n] == none {
			continue
		}
		b = binary.LittleEndian.AppendUint32(b, w.number[n])
		b = appendVector(b, v.values(uint32(w.slot)))
	}
	return b
}

func appendVector(b []byte, values []float32) []byte {
	most := float32(0)
	for _, x := range values {
		most = max(most, x, -x)
	}
	unit := most / math.MaxInt16
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(unit))
	b = slices.Grow(b, 2*len(values))
	for _, x := range values {
		n := int16(0)
		if unit > 0 {
			n = int16(math.Round(float64(x / unit)))
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	return b
}

// sum closes a part with its checksum.
func sum(part []byte) []byte {
	return binary.LittleEndian.AppendUint32(part, crc32.ChecksumIEEE(part))
}

// openPart checks a part's sum and returns its kind and content.
func openPart(part []byte) (kind byte, r *reader, err error) {
	n := len(part) - 4
	if n < 1 || crc32.ChecksumIEEE(part[:n]) != binary.LittleEndian.Uint32(part[n:]) {
		return 0, nil, fmt.Errorf("%w: a part's sum is wrong", errRecord)
	}
	return part[0], &reader{text: string(part[1:n])}, nil
}
