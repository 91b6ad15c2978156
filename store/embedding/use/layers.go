package use

import (
	"math"
	"slices"

	"hindsight/store/embedding/use/rows"
)

// scratch is the working memory of one call. The tokens of all its sentences lie
// below each other, with two empty rows before, between and after them: the
// convolutions look at most two tokens to either side, so they run over all
// sentences as one product and see zeros past a sentence's ends.
type scratch struct {
	work  work
	row   [rows.Width]byte
	feats []float32           // a token: its row of the table, then each branch's result
	in    [branches][]float32 // what goes into the branches
	mid   []float32           // between a branch's convolutions
	wide  []float32           // before layer norm

	sum, mean, y0, y1, y2, z, part []float32 // a sentence
}

const gap = 2

// Encode writes the vector of each token list (from [Encoder.Tokens]) into out,
// which has as many vectors of [Dim] values. Working memory
// grows with all the tokens, so callers hand over a few hundred at a time.
func (e *Encoder) Encode(ids [][]int32, out [][]float32) {
	if len(ids) == 0 {
		return
	}
	s, _ := e.scratches.Get().(*scratch)
	if s == nil {
		s = new(scratch)
	}
	defer e.scratches.Put(s)

	n := gap
	for _, tokens := range ids {
		n += len(tokens) + gap
	}
	s.size(n+slackRows, len(ids)+slackRows)
	e.lookUp(s, ids)
	e.project(s, ids, n)
	for i := range e.branches {
		e.branch(s, i, ids, n)
	}
	e.sum(s, ids)
	e.dense(s, ids, out)
}

func (s *scratch) size(tokens, sentences int) {
	fit(&s.feats, tokens*featDim)
	fit(&s.mid, tokens*convDim)
	fit(&s.wide, tokens*branches*convDim)
	for i := range s.in {
		fit(&s.in[i], tokens*convDim)
	}
	fit(&s.sum, sentences*featDim)
	for _, v := range []*[]float32{&s.mean, &s.y0, &s.y1, &s.y2, &s.z, &s.part} {
		fit(v, sentences*Dim)
	}
}

// fit makes v n long; what is in it is of no use.
func fit[T any](v *[]T, n int) { *v = slices.Grow((*v)[:0], n)[:n] }

// lookUp turns the tokens' rows into numbers.
func (e *Encoder) lookUp(s *scratch, ids [][]int32) {
	at := gap
	for _, tokens := range ids {
		for _, id := range tokens {
			e.table.Row(int(id), &s.row)
			scale, low := e.rowScale[id%rows.Classes], e.rowLow[id%rows.Classes]
			dst := (*[rows.Width]float32)(s.feats[at*featDim:])
			for i, v := range s.row {
				dst[i] = float32(v)*scale + low
			}
			at++
		}
		at += gap
	}
}

// project makes the branches' inputs.
func (e *Encoder) project(s *scratch, ids [][]int32, n int) {
	const width = branches * convDim
	for i := range e.branches {
		e.mul(&s.work, s.wide[gap*width+i*convDim:], width, s.feats[gap*featDim:], featDim, n-2*gap, &e.branches[i].project)
	}
	for t := gap; t < n-gap; t++ {
		x := s.wide[t*width:][:width]
		mean, scale := spread(x)
		for i := range s.in {
			dst := s.in[i][t*convDim:][:convDim]
			part := x[i*convDim:][:len(dst)]
			gain, shift := e.projGain[i*convDim:][:len(dst)], e.projShift[i*convDim:][:len(dst)]
			for j, v := range part {
				dst[j] = (v-mean)*scale*gain[j] + shift[j]
			}
		}
	}
	for i := range s.in {
		clearGaps(s.in[i], ids)
	}
}

// branch runs two convolutions, each with what went into it added to its result.
func (e *Encoder) branch(s *scratch, i int, ids [][]int32, n int) {
	b := &e.branches[i]
	in, from := s.in[i], (gap-b.left)*convDim
	e.mul(&s.work, s.mid[gap*convDim:], convDim, in[from:], convDim, n-2*gap, &b.first)
	addPositive(s.mid[gap*convDim:(n-gap)*convDim], in[gap*convDim:])
	clearGaps(s.mid, ids)

	column := Dim + i*convDim
	e.mul(&s.work, s.feats[gap*featDim+column:], featDim, s.mid[from:], convDim, n-2*gap, &b.second)
	for t := gap; t < n-gap; t++ {
		addPositive(s.feats[t*featDim+column:][:convDim], s.mid[t*convDim:])
	}
}

// sum adds up each sentence's tokens after layer norm. Gain and shift are the
// same for all of them, so they come in once, at the end.
func (e *Encoder) sum(s *scratch, ids [][]int32) {
	at := gap
	for i, tokens := range ids {
		sum := s.sum[i*featDim:][:featDim]
		clear(sum)
		for range tokens {
			x := s.feats[at*featDim:][:featDim]
			mean, scale := spread(x)
			for j, v := range x {
				sum[j] += (v - mean) * scale
			}
			at++
		}
		count := float32(len(tokens))
		for j := range sum {
			sum[j] = sum[j]*e.gain[j] + e.shift[j]*count
		}
		at += gap
	}
}

// dense is what comes after the tokens: one row a sentence.
func (e *Encoder) dense(s *scratch, ids [][]int32, out [][]float32) {
	n := len(ids)
	// The model projects each token and adds up; adding up first is the same
	// but for the bias, which comes once a token.
	e.mul(&s.work, s.mean, Dim, s.sum, featDim, n, &e.pool)
	for i, tokens := range ids {
		count := float32(len(tokens))
		mean := s.mean[i*Dim:][:Dim]
		for j, b := range e.pool.bias {
			mean[j] = (mean[j] + b*(count-1)) * inverseRoot(count)
		}
	}
	e.mul(&s.work, s.y0, 320, s.mean, Dim, n, &e.d0)
	positive(s.y0[:n*320])
	e.mul(&s.work, s.y1, 320, s.mean, Dim, n, &e.p1)
	e.mul(&s.work, s.part, 320, s.y0, 320, n, &e.d1)
	add(s.y1[:n*320], s.part)
	positive(s.y1[:n*320])
	e.mul(&s.work, s.y2, Dim, s.y1, 320, n, &e.d2)
	positive(s.y2[:n*Dim])
	e.mul(&s.work, s.z, Dim, s.y1, 320, n, &e.p3)
	e.mul(&s.work, s.part, Dim, s.y2, Dim, n, &e.d3)
	add(s.z[:n*Dim], s.part)
	for i := range ids {
		z, length := s.z[i*Dim:][:Dim], float32(0)
		for j, v := range z {
			z[j] = float32(math.Tanh(float64(v)))
			length += z[j] * z[j]
		}
		scale := inverseRoot(max(length, epsilon))
		for j, v := range z {
			out[i][j] = v * scale
		}
	}
}

// clearGaps sets the rows around sentences to zero.
func clearGaps(x []float32, ids [][]int32) {
	clear(x[:gap*convDim])
	at := gap
	for _, tokens := range ids {
		at += len(tokens)
		clear(x[at*convDim:][:gap*convDim])
		at += gap
	}
}

// spread gives the mean of x and one over its standard deviation.
func spread(x []float32) (mean, scale float32) {
	var a, b, c, d float32
	for i := 0; i+4 <= len(x); i += 4 {
		q := (*[4]float32)(x[i:])
		a, b, c, d = a+q[0], b+q[1], c+q[2], d+q[3]
	}
	mean = (a + b + c + d) / float32(len(x))
	a, b, c, d = 0, 0, 0, 0
	for i := 0; i+4 <= len(x); i += 4 {
		q := (*[4]float32)(x[i:])
		v0, v1, v2, v3 := q[0]-mean, q[1]-mean, q[2]-mean, q[3]-mean
		a, b, c, d = a+v0*v0, b+v1*v1, c+v2*v2, d+v3*v3
	}
	return mean, inverseRoot((a+b+c+d)/float32(len(x)) + epsilon)
}

// addPositive is x = max(x, 0) + y.
func addPositive(x, y []float32) {
	y = y[:len(x)]
	for i, v := range x {
		x[i] = max(v, 0) + y[i]
	}
}

// positive is x = max(x, 0).
func positive(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}

// add is x = x + y.
func add(x, y []float32) {
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}
