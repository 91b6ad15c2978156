//go:build goexperiment.simd && amd64

package index

import "simd/archsimd"

// step is the multiple of values that the kernel takes at a time.
const step = 64

// codes says whether vectors are kept as codes too.
func codes() bool { return archsimd.X86.AVX2() }

// dotCodes writes the products of a question with the vectors of a block, whose
// codes it turns into 16 bits and sums up in pairs, 64 at a time.
func dotCodes(out []float32, codes []int8, units []float32, q []int16, unit float32) {
	var sums [inBlock]int32
	sumCodes(sums[:len(out)], codes, q)
	for i := range out {
		out[i] = float32(sums[i]) * unit * units[i]
	}
}

// sumCodes is apart and has no float in it: one of Go's float instructions, a
// mere load too, costs 150 ns while the upper halves of the vector registers are
// in use, five times what a whole vector does.
//
//go:noinline
func sumCodes(sums []int32, codes []int8, q []int16) {
	for i := range sums {
		sums[i] = dotCode(codes[i*len(q):][:len(q)], q)
	}
	archsimd.ClearAVXUpperBits()
}

func dotCode(c []int8, q []int16) int32 {
	var s0, s1, s2, s3 archsimd.Int32x8
	for k := 0; k+step <= len(c) && k+step <= len(q); k += step {
		c, q := (*[step]int8)(c[k:]), (*[step]int16)(q[k:])
		s0 = s0.Add(archsimd.LoadInt8x16((*[16]int8)(c[:16])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(q[:16]))))
		s1 = s1.Add(archsimd.LoadInt8x16((*[16]int8)(c[16:32])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(q[16:32]))))
		s2 = s2.Add(archsimd.LoadInt8x16((*[16]int8)(c[32:48])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(q[32:48]))))
		s3 = s3.Add(archsimd.LoadInt8x16((*[16]int8)(c[48:64])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(q[48:64]))))
	}
	var v [8]int32
	s0.Add(s1).Add(s2.Add(s3)).Store(&v)
	return v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7]
}
