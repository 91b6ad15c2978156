package use

import "math"

// panel is the number of columns that lie together in a matrix's data.
const panel = 16

// plainProduct is the [product] in plain Go. Without vector instructions a
// processor multiplies whole numbers of 64 bits about twice as fast as floats,
// because one multiplication serves two columns: with w0 + w1<<32 on one side and
// an activation on the other, the low half of the sum of products is column 0's
// sum, the high half column 1's. Neither may leave 32 bits, so activations are
// rounded to whole numbers of at most 2^31 over a column's reach, which is about
// 15 bits: finer by far than the int8 weights.
func plainProduct(s *work, dst []float32, ldd int, a []float32, lda, rows int, w *matrix) {
	k := w.k
	unit := s.round(a, lda, rows, w) * w.scale
	if lda > k {
		lda = k // round left the rows side by side
	}
	fit(&s.pairs, 2*k)
	first, second := s.pairs[:k], s.pairs[k:]
	for column := 0; column < w.n; column += 4 {
		pairColumns(first, second, w.data[column/panel*panel*k+column%panel:])
		s.columns(dst, ldd, column, lda, rows, w.bias, unit, first)
		s.columns(dst, ldd, column+2, lda, rows, w.bias, unit, second)
	}
}

// columns computes two columns of a product.
func (s *work) columns(dst []float32, ldd, column, lda, rows int, bias []float32, unit float32, pairs []int64) {
	k := len(pairs)
	var b0, b1 float32
	if bias != nil {
		b0, b1 = bias[column], bias[column+1]
	}
	put := func(r int, sum int64) {
		low := int32(sum)
		high := int32((sum - int64(low)) >> 32)
		d := (*[2]float32)(dst[r*ldd+column:])
		d[0], d[1] = float32(low)*unit+b0, float32(high)*unit+b1
	}
	r := 0
	for ; r+4 <= rows; r += 4 {
		x := s.whole[r*lda:]
		s0, s1, s2, s3 := dotFour(x[:k], x[lda:][:k], x[2*lda:][:k], x[3*lda:][:k], pairs)
		put(r, s0)
		put(r+1, s1)
		put(r+2, s2)
		put(r+3, s3)
	}
	for ; r < rows; r++ {
		put(r, dotOne(s.whole[r*lda:][:k], pairs))
	}
}

// work is what [plainProduct] needs besides its operands.
type work struct {
	whole []int32
	pairs []int64
}

// round writes the rows of a as whole numbers to s.whole and returns what one
// counts. Rows that overlap (lda < k) are rounded as the one run that they are;
// of others only the first k values, side by side.
func (s *work) round(a []float32, lda, rows int, w *matrix) float32 {
	k := w.k
	run := k
	if lda <= k {
		run, rows = (rows-1)*lda+k, 1
	}
	largest := float32(0)
	for r := range rows {
		for _, x := range a[r*lda:][:run] {
			largest = max(largest, float32(math.Abs(float64(x))))
		}
	}
	fit(&s.whole, rows*run)
	if largest == 0 {
		clear(s.whole)
		return 0
	}
	// A unit less makes up for rounding up, and nearest has its own limit.
	limit := min(float32(math.MaxInt32/int(w.reach+1)-1), 1<<21)
	for r := range rows {
		from, to := a[r*lda:][:run], s.whole[r*run:][:run]
		for i, x := range from {
			to[i] = nearest(x * (limit / largest))
		}
	}
	return largest / limit
}

// nearest rounds to a whole number. Beside 1.5 * 2^23 a float32 has no room for
// a fraction, and its last bits are the number; x must be below 2^22.
func nearest(x float32) int32 {
	const big = 3 << 22
	return int32(math.Float32bits(x+big) - math.Float32bits(big))
}

// pairColumns makes w0 + w1<<32 of the first two columns that p starts with, and
// of the next two. It and the sums are not inlined because the loops would lose
// their registers to what is around them.
//
//go:noinline
func pairColumns(first, second []int64, p []byte) {
	second = second[:len(first)]
	for i, at := 0, 0; i < len(first); i, at = i+1, at+panel {
		w3, w2, w1, w0 := p[at+3], p[at+2], p[at+1], p[at]
		first[i] = int64(int8(w0)) + int64(int8(w1))<<32
		second[i] = int64(int8(w2)) + int64(int8(w3))<<32
	}
}

//go:noinline
func dotFour(x0, x1, x2, x3 []int32, w []int64) (s0, s1, s2, s3 int64) {
	x1, x2, x3, w = x1[:len(x0)], x2[:len(x0)], x3[:len(x0)], w[:len(x0)]
	for i, x := range x0 {
		v := w[i]
		s0 += int64(x) * v
		s1 += int64(x1[i]) * v
		s2 += int64(x2[i]) * v
		s3 += int64(x3[i]) * v
	}
	return s0, s1, s2, s3
}

//go:noinline
func dotOne(x []int32, w []int64) (s int64) {
	var t int64
	for len(x) >= 4 && len(w) >= 4 {
		s += int64(x[0])*w[0] + int64(x[1])*w[1]
		t += int64(x[2])*w[2] + int64(x[3])*w[3]
		x, w = x[4:], w[4:]
	}
	return s + t
}
