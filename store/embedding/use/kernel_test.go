package use

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// randomMatrix is laid out as the packing program does it; at gives its weights.
func randomMatrix(r *rand.Rand, k, n int, bias bool) (m matrix, at func(i, j int) float64) {
	m = matrix{data: make([]byte, k*n+8), k: k, n: n, scale: 0.01}
	for i := range k * n {
		m.data[i] = byte(r.IntN(255) - 127)
	}
	for j := range n {
		sum := 0.0
		for i := range k {
			sum += math.Abs(float64(int8(m.data[j/panel*panel*k+i*panel+j%panel])))
		}
		m.reach = max(m.reach, float32(sum))
	}
	if bias {
		for range n {
			m.bias = append(m.bias, r.Float32()-0.5)
		}
	}
	return m, func(i, j int) float64 {
		return float64(int8(m.data[j/panel*panel*k+i*panel+j%panel])) * float64(m.scale)
	}
}

func testProduct(t *testing.T, mul product) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		name         string
		k, n, lda    int
		bias, spiked bool
	}{
		{"rows side by side", 320, 512, 320, false, false},
		{"rows apart", 512, 256, 1280, true, false},
		{"rows that overlap", 1280, 256, 256, true, false},
		{"one large value", 1280, 256, 256, true, true},
	} {
		m, at := randomMatrix(r, c.k, c.n, c.bias)
		for rows := 1; rows <= 13; rows++ {
			a := make([]float32, (rows+slackRows)*c.lda+c.k)
			for i := range a {
				a[i] = float32(r.NormFloat64())
			}
			if c.spiked {
				a[c.k/2] = -40
			}
			dst := make([]float32, (rows+slackRows)*(c.n+16))
			mul(new(work), dst, c.n+16, a, c.lda, rows, &m)
			for range 200 {
				row, j := r.IntN(rows), r.IntN(c.n)
				want, size := 0.0, 0.0
				for i := range c.k {
					p := float64(a[row*c.lda+i]) * at(i, j)
					want, size = want+p, size+p*p
				}
				if c.bias {
					want += float64(m.bias[j])
				}
				// A sum's natural size is the root of its squares.
				if got := float64(dst[row*(c.n+16)+j]); math.Abs(got-want) > 0.002*math.Sqrt(size) {
					t.Fatalf("%s, %d rows: row %d, column %d is %g, not %g", c.name, rows, row, j, got, want)
				}
			}
		}
	}
}

func TestProducts(t *testing.T) {
	t.Run("plain", func(t *testing.T) { testProduct(t, plainProduct) })
	t.Run("as built", func(t *testing.T) { testProduct(t, multiply()) })
}

func TestPlainProductHoldsTheLargestSums(t *testing.T) {
	for _, k := range []int{320, 512, 768, 1280} {
		for _, sign := range []int8{1, -1} {
			m := matrix{data: make([]byte, k*panel+8), k: k, n: panel, scale: 1, reach: float32(127 * k)}
			for i := range k * panel {
				m.data[i] = byte(127 * sign)
			}
			a := make([]float32, (1+slackRows)*k)
			for i := range k {
				a[i] = -3
			}
			dst := make([]float32, (1+slackRows)*panel)
			plainProduct(new(work), dst, panel, a, k, 1, &m)
			want := -3 * 127 * float64(sign) * float64(k)
			for j, got := range dst[:panel] {
				if math.Abs(float64(got)/want-1) > 0.0001 {
					t.Errorf("k %d, sign %d: column %d is %g, not %g", k, sign, j, got, want)
				}
			}
		}
	}
}

func TestPlainProductOfNothing(t *testing.T) {
	m, _ := randomMatrix(rand.New(rand.NewPCG(7, 8)), 320, panel, true)
	dst := make([]float32, (2+slackRows)*panel)
	plainProduct(new(work), dst, panel, make([]float32, (2+slackRows)*320), 320, 2, &m)
	for i, b := range m.bias {
		if dst[i] != b || dst[panel+i] != b {
			t.Fatalf("column %d of zeros is %g and %g, not its bias %g", i, dst[i], dst[panel+i], b)
		}
	}
}

// Vectors of one index may come from machines with and without vector
// instructions, so the two forms must give the same vectors.
func TestKernelsAgree(t *testing.T) {
	built, plain := newEncoder(t), newEncoder(t)
	plain.mul = plainProduct
	for i, r := range readReference(t) {
		ids := [][]int32{built.Tokens(nil, r.Text, 128, 0)}
		a, b := vectors(1), vectors(1)
		built.Encode(ids, a)
		plain.Encode(ids, b)
		for j := range a[0] {
			if math.Abs(float64(a[0][j]-b[0][j])) > 0.001 {
				t.Fatalf("%s: value %d is %g and %g", fmt.Sprintf("text %d", i), j, a[0][j], b[0][j])
			}
		}
	}
}
