package index

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// unit makes a random vector of unit length.
func unitVector(rnd *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	sum := 0.0
	for i := range v {
		x := rnd.NormFloat64()
		v[i] = float32(x)
		sum += x * x
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func TestCosinesAreExactWhereItCounts(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, dim := range []int{512, 384, 33} {
		var set vectorSet
		const n = 1000
		want := make([]float64, n)
		q := unitVector(rnd, dim)
		for i := range n {
			v := unitVector(rnd, dim)
			if i%10 == 0 { // some are near
				for k := range v {
					v[k] = v[k]/2 + q[k]/2
				}
			}
			for k := range v {
				want[i] += float64(v[k]) * float64(q[k])
			}
			if set.put(uint32(i), v) == none {
				t.Fatal("a vector wasn't taken")
			}
		}
		cos, room := make([]float32, n+1), []float32(nil)
		if !set.cosines(q, cos, &room) {
			t.Fatal("no vectors")
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return int(math.Copysign(1, want[b]-want[a])) })
		for rank, i := range order {
			off := math.Abs(float64(cos[i]) - want[i])
			if off > 0.01 || rank < DefaultLimit && off > 1e-5 {
				t.Errorf("%d dimensions, rank %d: %v, want %v", dim, rank, cos[i], want[i])
			}
		}
		if cos[n] != absent {
			t.Errorf("a document without a vector has %v", cos[n])
		}
	}
}

// TestKernelsAgree holds the kernel of this build to the plain one.
func TestKernelsAgree(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	const dim, n = 512, 9
	q, unit := queryCode(unitVector(rnd, dim), dim)
	codes, units := make([]int8, n*dim), make([]float32, n)
	for i := range n {
		units[i] = encode(codes[i*dim:][:dim], unitVector(rnd, dim))
	}
	a, b := make([]float32, n), make([]float32, n)
	dotCodes(a, codes, units, q, unit)
	dotCodesPlain(b, codes, units, q, unit)
	if !slices.Equal(a, b) {
		t.Errorf("%v, plain %v", a, b)
	}
}

func TestSlotsAreUsedAgain(t *testing.T) {
	var set vectorSet
	for i := range 3 {
		set.put(uint32(i), []float32{1, 0})
	}
	set.drop(1)
	if s := set.put(7, []float32{0, 1}); s != 1 || !slices.Equal(set.doc, []uint32{0, 7, 2}) {
		t.Errorf("slot %d, documents %v", s, set.doc)
	}
	if s := set.put(8, []float32{1, 0, 0}); s != none {
		t.Error("a vector of another dimension was taken")
	}
}

func BenchmarkCosines(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		rnd := rand.New(rand.NewPCG(5, 6))
		var set vectorSet
		for i := range n {
			set.put(uint32(i), unitVector(rnd, 512))
		}
		q, cos, room := unitVector(rnd, 512), make([]float32, n), []float32(nil)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				set.cosines(q, cos, &room)
				floorOf(cos, DefaultLimit)
			}
		})
	}
}
