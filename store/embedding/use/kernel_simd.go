//go:build goexperiment.simd && amd64

package use

import "simd/archsimd"

// multiply picks the kernel that this processor can run.
func multiply() product {
	if archsimd.X86.AVX2() && archsimd.X86.FMA() {
		return vectorProduct
	}
	return plainProduct
}

// vectorProduct is the [product] with vectors of eight numbers. Six rows by a
// panel of sixteen columns are summed at a time: twelve sums, two vectors of
// weights and one number of a row fit the sixteen registers, and the weights are
// turned into floats once for the six rows.
func vectorProduct(_ *work, dst []float32, ldd int, a []float32, lda, rows int, w *matrix) {
	k := w.k
	scale := archsimd.BroadcastFloat32x8(w.scale)
	var b0, b1 archsimd.Float32x8
	for column := 0; column < w.n; column += panel {
		p := w.data[column*k:][:panel*k+8]
		if w.bias != nil {
			b0 = archsimd.LoadFloat32x8Slice(w.bias[column:])
			b1 = archsimd.LoadFloat32x8Slice(w.bias[column+8:])
		}
		r := 0
		for ; r+2 < rows; r += 6 {
			var s [12]archsimd.Float32x8
			sixRows(&s, a[r*lda:], lda, k, p)
			for i := range 6 {
				d := (*[panel]float32)(dst[(r+i)*ldd+column:])
				s[2*i].MulAdd(scale, b0).Store((*[8]float32)(d[:8]))
				s[2*i+1].MulAdd(scale, b1).Store((*[8]float32)(d[8:]))
			}
		}
		for ; r < rows; r++ {
			s0, s1 := oneRow(a[r*lda:][:k], p)
			d := (*[panel]float32)(dst[r*ldd+column:])
			s0.MulAdd(scale, b0).Store((*[8]float32)(d[:8]))
			s1.MulAdd(scale, b1).Store((*[8]float32)(d[8:]))
		}
	}
	archsimd.ClearAVXUpperBits()
}

// eight turns the first eight of sixteen int8 values into floats.
func eight(p *[16]uint8) archsimd.Float32x8 {
	return archsimd.LoadUint8x16(p).AsInt8x16().ExtendLo8ToInt32().ConvertToFloat32()
}

func sixRows(s *[12]archsimd.Float32x8, a []float32, lda, k int, p []byte) {
	a0, a1, a2 := a[:k], a[lda:][:k], a[2*lda:][:k]
	a3, a4, a5 := a[3*lda:][:k], a[4*lda:][:k], a[5*lda:][:k]
	a1, a2, a3, a4, a5 = a1[:len(a0)], a2[:len(a0)], a3[:len(a0)], a4[:len(a0)], a5[:len(a0)]
	var s00, s01, s10, s11, s20, s21, s30, s31, s40, s41, s50, s51 archsimd.Float32x8
	for i := range a0 {
		q := (*[panel + 8]uint8)(p)
		w0, w1 := eight((*[16]uint8)(q[:16])), eight((*[16]uint8)(q[8:]))
		p = p[panel:]
		x := archsimd.BroadcastFloat32x8(a0[i])
		s00, s01 = x.MulAdd(w0, s00), x.MulAdd(w1, s01)
		x = archsimd.BroadcastFloat32x8(a1[i])
		s10, s11 = x.MulAdd(w0, s10), x.MulAdd(w1, s11)
		x = archsimd.BroadcastFloat32x8(a2[i])
		s20, s21 = x.MulAdd(w0, s20), x.MulAdd(w1, s21)
		x = archsimd.BroadcastFloat32x8(a3[i])
		s30, s31 = x.MulAdd(w0, s30), x.MulAdd(w1, s31)
		x = archsimd.BroadcastFloat32x8(a4[i])
		s40, s41 = x.MulAdd(w0, s40), x.MulAdd(w1, s41)
		x = archsimd.BroadcastFloat32x8(a5[i])
		s50, s51 = x.MulAdd(w0, s50), x.MulAdd(w1, s51)
	}
	s[0], s[1], s[2], s[3], s[4], s[5] = s00, s01, s10, s11, s20, s21
	s[6], s[7], s[8], s[9], s[10], s[11] = s30, s31, s40, s41, s50, s51
}

func oneRow(a []float32, p []byte) (s0, s1 archsimd.Float32x8) {
	for i := range a {
		q := (*[panel + 8]uint8)(p)
		x := archsimd.BroadcastFloat32x8(a[i])
		s0 = x.MulAdd(eight((*[16]uint8)(q[:16])), s0)
		s1 = x.MulAdd(eight((*[16]uint8)(q[8:])), s1)
		p = p[panel:]
	}
	return s0, s1
}
