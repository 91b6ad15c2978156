package badgerdb

import (
	"encoding/binary"
	"errors"
	"math"
)

// A vector lies on disk as the length of its memory's id, the id, the unit, and a
// whole number of 16 bits a value, all little endian. Half of what floats take,
// and a cosine changes in the fifth digit: models differ in the second.

var errVector = errors.New("malformed vector")

func appendVector(b []byte, id string, values []float32) []byte {
	most := float32(0)
	for _, v := range values {
		most = max(most, float32(math.Abs(float64(v))))
	}
	unit := most / math.MaxInt16
	b = binary.AppendUvarint(b, uint64(len(id)))
	b = append(b, id...)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(unit))
	for _, v := range values {
		n := int16(0)
		if unit > 0 {
			n = int16(math.Round(float64(v / unit)))
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(n))
	}
	return b
}

// vectorDecoder holds the last vector that was read, in room that is used again.
type vectorDecoder struct {
	id     string
	values []float32
}

func (d *vectorDecoder) decode(b []byte) error {
	n, size := binary.Uvarint(b)
	if size <= 0 || uint64(len(b)-size) < n+4 {
		return errVector
	}
	b = b[size:]
	d.id = string(b[:n])
	unit := math.Float32frombits(binary.LittleEndian.Uint32(b[n:]))
	b = b[n+4:]
	if len(b)%2 != 0 {
		return errVector
	}
	d.values = d.values[:0]
	for ; len(b) >= 2; b = b[2:] {
		d.values = append(d.values, float32(int16(binary.LittleEndian.Uint16(b)))*unit)
	}
	return nil
}

func (r row) vector(d *vectorDecoder) error {
	return r.item.Value(func(b []byte) error {
		plain, err := r.v.open(r.item.Key(), b)
		if err != nil {
			return err
		}
		return d.decode(plain)
	})
}
