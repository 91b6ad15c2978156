// Package packed is the container of the encoder's weights: named sections in
// one file, read in place.
//
// The file is a header and then the sections, each at a multiple of 64 bytes:
//
//	magic    8 bytes, "HSPACK01"
//	count    uint32
//	entries  count times: name (16 bytes, zero-padded), offset uint32, length uint32
//
// All numbers are little endian. [Open] copies nothing: a section is a window
// into the bytes it was given, so what is never read is never paged in. There
// is no checksum inside, the whole file has one (see package use).
package packed

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

const (
	magic     = "HSPACK01"
	nameBytes = 16
	entry     = nameBytes + 8
	align     = 64
)

// Section is one named run of bytes, as [Write] takes it.
type Section struct {
	Name string
	Data []byte
}

// Write writes the sections in their order. It refuses names that are empty or
// longer than 16 bytes, and a file that would pass 4 GiB.
func Write(w io.Writer, sections []Section) error {
	head := make([]byte, 12+entry*len(sections))
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[8:], uint32(len(sections)))
	at := roundUp(len(head))
	for i, s := range sections {
		if s.Name == "" || len(s.Name) > nameBytes {
			return fmt.Errorf("write section %q: the name must have 1 to %d bytes", s.Name, nameBytes)
		}
		if uint64(at)+uint64(len(s.Data)) > math.MaxUint32 {
			return fmt.Errorf("write section %q: the file would be larger than 4 GiB", s.Name)
		}
		e := head[12+entry*i:]
		copy(e, s.Name)
		binary.LittleEndian.PutUint32(e[nameBytes:], uint32(at))
		binary.LittleEndian.PutUint32(e[nameBytes+4:], uint32(len(s.Data)))
		at = roundUp(at + len(s.Data))
	}
	if err := writePadded(w, head); err != nil {
		return fmt.Errorf("write the header: %w", err)
	}
	for _, s := range sections {
		if err := writePadded(w, s.Data); err != nil {
			return fmt.Errorf("write section %q: %w", s.Name, err)
		}
	}
	return nil
}

func writePadded(w io.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return err
	}
	_, err := w.Write(make([]byte, roundUp(len(b))-len(b)))
	return err
}

func roundUp(n int) int { return (n + align - 1) / align * align }

// File is an opened container.
type File struct {
	data     []byte
	sections map[string][]byte
}

// Open reads the header. It keeps data, which must not change afterwards.
func Open(data []byte) (*File, error) {
	if len(data) < 12 || string(data[:8]) != magic {
		return nil, fmt.Errorf("open packed weights: not a %s file", magic)
	}
	n := int(binary.LittleEndian.Uint32(data[8:]))
	if n > (len(data)-12)/entry {
		return nil, fmt.Errorf("open packed weights: %d sections don't fit in %d bytes", n, len(data))
	}
	f := &File{data: data, sections: make(map[string][]byte, n)}
	for i := range n {
		e := data[12+entry*i:]
		name := string(bytes.TrimRight(e[:nameBytes], "\x00"))
		off := uint64(binary.LittleEndian.Uint32(e[nameBytes:]))
		size := uint64(binary.LittleEndian.Uint32(e[nameBytes+4:]))
		if off+size > uint64(len(data)) {
			return nil, fmt.Errorf("open packed weights: section %q ends after the file", name)
		}
		f.sections[name] = data[off : off+size : off+size]
	}
	return f, nil
}

// Section returns the named section; size, unless negative, is the length in
// bytes that it must have.
func (f *File) Section(name string, size int) ([]byte, error) {
	s, ok := f.sections[name]
	if !ok {
		return nil, fmt.Errorf("read packed weights: there is no section %q", name)
	}
	if size >= 0 && len(s) != size {
		return nil, fmt.Errorf("read packed weights: section %q has %d bytes, not %d", name, len(s), size)
	}
	return s, nil
}

// Floats returns a copy of a section of n float32 values.
func (f *File) Floats(name string, n int) ([]float32, error) {
	s, err := f.Section(name, 4*n)
	if err != nil {
		return nil, err
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(s[4*i:]))
	}
	return out, nil
}

// PutFloats is the other direction of [File.Floats].
func PutFloats(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

// PutUint32s writes numbers the way the readers of sections expect them.
func PutUint32s(v []uint32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, x)
	}
	return out
}
