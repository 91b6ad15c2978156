// Package rows keeps the encoder's table of byte rows, one a piece, in about
// 46 % of its size, such that any row can be read without its neighbours.
//
// Rows belong to classes (row number modulo [Classes]), whose values are spread
// differently, so each class has its own prefix code (canonical Huffman, at most
// [maxBits] bits). A row is a bit string from a byte border of its own. Reading
// one costs about a microsecond, and touches only its own bytes: in an embedded
// or mapped file the other rows are never resident.
//
// [Encode] is used by the packing program, [Open] by the encoder.
package rows

import (
	"encoding/binary"
	"fmt"
)

const (
	// Width is the number of values in a row.
	Width = 512
	// Classes is the number of codes.
	Classes = 17
	// Symbols is the number of values that a byte of a row can have.
	Symbols = 64

	maxBits = 11
	// slack lets the reader load eight bytes at any place of the last row.
	slack = 8
)

// Coded is a table in its packed form. It is safe for concurrent use.
type Coded struct {
	offsets []byte // uint32 for each row and one more: where it starts in data
	data    []byte
	// decode gives for the next maxBits bits the value in the low byte and the
	// length of its code in the high byte.
	decode *[Classes][1 << maxBits]uint16
}

// Open prepares to read. lengths, offsets and data are what [Encode] returned;
// they are kept.
func Open(lengths, offsets, data []byte) (*Coded, error) {
	if len(lengths) != Classes*Symbols {
		return nil, fmt.Errorf("open coded rows: %d code lengths, not %d", len(lengths), Classes*Symbols)
	}
	if len(offsets) < 4 || len(offsets)%4 != 0 {
		return nil, fmt.Errorf("open coded rows: %d bytes of offsets", len(offsets))
	}
	if end := int(binary.LittleEndian.Uint32(offsets[len(offsets)-4:])); end+slack > len(data) {
		return nil, fmt.Errorf("open coded rows: %d bytes of rows, not %d", len(data), end+slack)
	}
	c := &Coded{offsets: offsets, data: data, decode: new([Classes][1 << maxBits]uint16)}
	for class := range Classes {
		own := lengths[class*Symbols:][:Symbols]
		codes, err := canonical(own)
		if err != nil {
			return nil, fmt.Errorf("open coded rows: class %d: %w", class, err)
		}
		for symbol, n := range own {
			if n == 0 {
				continue
			}
			first := int(codes[symbol]) << (maxBits - n)
			for i := range 1 << (maxBits - n) {
				c.decode[class][first+i] = uint16(n)<<8 | uint16(symbol)
			}
		}
	}
	return c, nil
}

// Len is the number of rows.
func (c *Coded) Len() int { return len(c.offsets)/4 - 1 }

// Row writes row i, which must be in [0, Len), into dst.
func (c *Coded) Row(i int, dst *[Width]byte) {
	bit := uint64(binary.LittleEndian.Uint32(c.offsets[4*i:])) * 8
	code := &c.decode[i%Classes]
	// Four codes have at most 44 bits, and a load at any bit gives at least 57.
	for n := 0; n < Width; n += 4 {
		v := binary.BigEndian.Uint64(c.data[bit>>3:]) << (bit & 7)
		quad := (*[4]byte)(dst[n:])
		e0 := code[v>>(64-maxBits)]
		v <<= (e0 >> 8) & 63
		e1 := code[v>>(64-maxBits)]
		v <<= (e1 >> 8) & 63
		e2 := code[v>>(64-maxBits)]
		v <<= (e2 >> 8) & 63
		e3 := code[v>>(64-maxBits)]
		quad[0], quad[1], quad[2], quad[3] = byte(e0), byte(e1), byte(e2), byte(e3)
		bit += uint64(e0>>8) + uint64(e1>>8) + uint64(e2>>8) + uint64(e3>>8)
	}
}
