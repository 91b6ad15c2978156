package index

import (
	"context"

	"hindsight/store"
)

// Vectors is where the vectors of memories come from, all of one model and of
// unit length. VectorVersion and VectorChanges must answer from memory; all three
// are called concurrently. values belong to the source and may change when take
// returns.
type Vectors interface {
	// VectorVersion is a number that grows with every change of the scope's vectors;
	// 0 while none can be given, because no model is in use yet.
	VectorVersion(tenant string, sc store.Scope) uint64
	// ScopeVectors gives all of a scope, and the version that they show.
	ScopeVectors(ctx context.Context, tenant string, sc store.Scope, take func(id string, values []float32)) (uint64, error)
	// VectorChanges gives those that changed after version since, nil for one that
	// is gone. False means that the source no longer knows: load again.
	VectorChanges(tenant string, sc store.Scope, since uint64, take func(id string, values []float32)) (uint64, bool)
}

// inBlock is how many vectors lie in one block: growing copies nothing.
const inBlock = 64

// atOnce is how many blocks are allocated together at most. A set grows by a
// quarter of what it has: blocks that lie side by side share page tables, whose
// misses cost more than the reading where a hundred thousand vectors lie apart.
const atOnce = 128

// slab is memory from which blocks are cut.
type slab[T any] struct {
	free []T
	size int // of all that was cut or is free
}

func (s *slab[T]) cut(n, blocks int) []T {
	if len(s.free) < n {
		s.free = make([]T, n*max(1, min(blocks/4, atOnce)))
		s.size += len(s.free)
	}
	b := s.free[:n:n]
	s.free = s.free[n:]
	return b
}

// vectorSet holds the vectors of a scope in slots. A slot that was given up is
// used again.
type vectorSet struct {
	dim    int // 0: none yet
	width  int // of a code: dim in whole steps of the kernel
	coded  bool
	blocks []vectorBlock
	doc    []uint32 // by slot; none: free
	free   []uint32

	floats slab[float32] // from which blocks are cut
	bytes8 slab[int8]
}

// vectorBlock holds the values, and where the kernel wants them, codes: a value is
// its code times the vector's unit, nearly.
type vectorBlock struct {
	values []float32
	codes  []int8
	units  []float32
}

func (v *vectorSet) bytes() int {
	n := 4*(v.floats.size+cap(v.doc)+cap(v.free)) + v.bytes8.size
	if v.coded {
		n += 4 * inBlock * len(v.blocks)
	}
	return n
}

// put keeps a vector for a document and returns its slot; none where it has
// another dimension than the others.
func (v *vectorSet) put(doc uint32, values []float32) uint32 {
	if v.dim == 0 {
		v.dim, v.coded = len(values), codes()
		v.width = (v.dim + step - 1) / step * step
	}
	if len(values) != v.dim || v.dim == 0 {
		return none
	}
	var slot uint32
	if n := len(v.free); n > 0 {
		slot, v.free = v.free[n-1], v.free[:n-1]
	} else {
		slot = uint32(len(v.doc))
		v.doc = append(v.doc, none)
		if int(slot)/inBlock == len(v.blocks) {
			b := vectorBlock{values: v.floats.cut(inBlock*v.dim, len(v.blocks))}
			if v.coded {
				b.codes, b.units = v.bytes8.cut(inBlock*v.width, len(v.blocks)), make([]float32, inBlock)
			}
			v.blocks = append(v.blocks, b)
		}
	}
	v.doc[slot] = doc
	b, i := &v.blocks[slot/inBlock], int(slot%inBlock)
	copy(b.values[i*v.dim:], values)
	if v.coded {
		b.units[i] = encode(b.codes[i*v.width:][:v.dim], values)
	}
	return slot
}

func (v *vectorSet) drop(slot uint32) {
	v.doc[slot] = none
	v.free = append(v.free, slot)
}

func (v *vectorSet) values(slot uint32) []float32 {
	return v.blocks[slot/inBlock].values[int(slot%inBlock)*v.dim:][:v.dim]
}

// encode rounds a vector to whole numbers of at most 127 and returns their unit.
func encode(to []int8, values []float32) (unit float32) {
	most := float32(0)
	for _, x := range values {
		most = max(most, x, -x)
	}
	if most == 0 {
		clear(to)
		return 0
	}
	unit = most / 127
	for i, x := range values {
		x /= unit
		if x < 0 {
			to[i] = int8(x - 0.5)
		} else {
			to[i] = int8(x + 0.5)
		}
	}
	return unit
}

// absent is the cosine of a document without a vector.
const absent = -2

// cosines writes the cosine of every document with q into cos, which has a value
// for each, and says whether there is any. Where the kernel works on codes they
// are exact for the best only, and within about 0.01 for the rest.
func (v *vectorSet) cosines(q []float32, cos []float32, room *[]float32) bool {
	for i := range cos {
		cos[i] = absent
	}
	if v.dim == 0 || len(q) != v.dim || len(v.doc) == len(v.free) {
		return false
	}
	var code []int16
	unit := float32(0)
	if v.coded {
		code, unit = queryCode(q, v.width)
	}
	*room = zeroed(*room, len(v.doc))
	approx := *room
	for i := range v.blocks {
		b := &v.blocks[i]
		n := min(inBlock, len(v.doc)-i*inBlock)
		out := approx[i*inBlock:][:n]
		if v.coded {
			dotCodes(out, b.codes, b.units, code, unit)
		} else {
			dotFloats(out, b.values, q)
		}
	}
	if v.coded {
		v.rescore(q, approx)
	}
	for slot, doc := range v.doc {
		if doc != none {
			cos[doc] = approx[slot]
		}
	}
	return true
}

// rescored is how many of the best by codes are computed exactly.
const rescored = 2 * DefaultLimit

func (v *vectorSet) rescore(q, approx []float32) {
	floor := floorOf(approx, rescored)
	for slot, c := range approx {
		if c >= floor && v.doc[slot] != none {
			approx[slot] = dot(q, v.values(uint32(slot)))
		}
	}
}

// floorOf is a value that at least n of the cosines reach, and few more.
func floorOf(cos []float32, n int) float32 {
	const bins = 1024
	var count [bins + 1]int
	for _, c := range cos {
		count[bin(c, bins)]++
	}
	floor, have := bins, count[bins]
	for floor > 0 && have < n {
		floor--
		have += count[floor]
	}
	return float32(floor)/(bins/2) - 1
}

func bin(c float32, bins int) int {
	return max(0, min(bins, int((c+1)*float32(bins/2))))
}

// dot is the product of two vectors of one length.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0]*b[0] + a[4]*b[4]
		s1 += a[1]*b[1] + a[5]*b[5]
		s2 += a[2]*b[2] + a[6]*b[6]
		s3 += a[3]*b[3] + a[7]*b[7]
		a, b = a[8:], b[8:]
	}
	for i, x := range a {
		s0 += x * b[i]
	}
	return (s0 + s1) + (s2 + s3)
}

// dotFloats writes the products of q with the vectors of a block.
func dotFloats(out, values, q []float32) {
	for i := range out {
		out[i] = dot(q, values[i*len(q):][:len(q)])
	}
}

// queryCode rounds a question's vector to whole numbers of 13 bits, which the
// kernel can sum up in 32, and returns what one counts.
func queryCode(q []float32, width int) ([]int16, float32) {
	const reach = 1 << 12
	most := float32(0)
	for _, x := range q {
		most = max(most, x, -x)
	}
	code := make([]int16, width)
	if most == 0 {
		return code, 0
	}
	for i, x := range q {
		code[i] = int16(x * (reach / most))
	}
	return code, most / reach
}

// dotCodesPlain is what dotCodes computes, number by number.
func dotCodesPlain(out []float32, codes []int8, units []float32, q []int16, unit float32) {
	for i := range out {
		sum := int32(0)
		for k, c := range codes[i*len(q):][:len(q)] {
			sum += int32(c) * int32(q[k])
		}
		out[i] = float32(sum) * unit * units[i]
	}
}
