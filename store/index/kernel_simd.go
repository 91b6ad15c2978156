//go:build goexperiment.simd && amd64

package index

import "simd/archsimd"

// step is the multiple of values that the kernel takes at a time.
const step = 64

// codes says whether vectors are kept as codes too.
func codes() bool { return archsimd.X86.AVX2() }

// wide says whether the processor takes twice as many values at a time.
var wide = archsimd.X86.AVX512()

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
		if c := codes[i*len(q):][:len(q)]; wide {
			sums[i] = dotWide(c, q)
		} else {
			sums[i] = dotNarrow(c, q)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// stretch is what dotWide takes without a branch: the less there is between two
// loads, the more of them are under way at a time, and memory is what is slow.
const stretch = 256

func dotWide(c []int8, q []int16) int32 {
	var s0, s1, s2, s3 archsimd.Int32x16
	for len(c) >= stretch && len(q) >= stretch {
		a, b := (*[stretch]int8)(c), (*[stretch]int16)(q)
		s0 = s0.Add(archsimd.LoadInt8x32((*[32]int8)(a[:32])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[:32]))))
		s1 = s1.Add(archsimd.LoadInt8x32((*[32]int8)(a[32:64])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[32:64]))))
		s2 = s2.Add(archsimd.LoadInt8x32((*[32]int8)(a[64:96])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[64:96]))))
		s3 = s3.Add(archsimd.LoadInt8x32((*[32]int8)(a[96:128])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[96:128]))))
		s0 = s0.Add(archsimd.LoadInt8x32((*[32]int8)(a[128:160])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[128:160]))))
		s1 = s1.Add(archsimd.LoadInt8x32((*[32]int8)(a[160:192])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[160:192]))))
		s2 = s2.Add(archsimd.LoadInt8x32((*[32]int8)(a[192:224])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[192:224]))))
		s3 = s3.Add(archsimd.LoadInt8x32((*[32]int8)(a[224:])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[224:]))))
		c, q = c[stretch:], q[stretch:]
	}
	for len(c) >= step && len(q) >= step {
		a, b := (*[step]int8)(c), (*[step]int16)(q)
		s0 = s0.Add(archsimd.LoadInt8x32((*[32]int8)(a[:32])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[:32]))))
		s1 = s1.Add(archsimd.LoadInt8x32((*[32]int8)(a[32:])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x32((*[32]int16)(b[32:]))))
		c, q = c[step:], q[step:]
	}
	sum := s0.Add(s1).Add(s2.Add(s3))
	return total(sum.GetLo().Add(sum.GetHi()))
}

func dotNarrow(c []int8, q []int16) int32 {
	var s0, s1, s2, s3 archsimd.Int32x8
	for len(c) >= step && len(q) >= step {
		a, b := (*[step]int8)(c), (*[step]int16)(q)
		s0 = s0.Add(archsimd.LoadInt8x16((*[16]int8)(a[:16])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(b[:16]))))
		s1 = s1.Add(archsimd.LoadInt8x16((*[16]int8)(a[16:32])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(b[16:32]))))
		s2 = s2.Add(archsimd.LoadInt8x16((*[16]int8)(a[32:48])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(b[32:48]))))
		s3 = s3.Add(archsimd.LoadInt8x16((*[16]int8)(a[48:])).ExtendToInt16().DotProductPairs(archsimd.LoadInt16x16((*[16]int16)(b[48:]))))
		c, q = c[step:], q[step:]
	}
	return total(s0.Add(s1).Add(s2.Add(s3)))
}

func total(sum archsimd.Int32x8) int32 {
	var v [8]int32
	sum.Store(&v)
	return v[0] + v[1] + v[2] + v[3] + v[4] + v[5] + v[6] + v[7]
}
