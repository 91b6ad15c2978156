// Package use is Google's Universal Sentence Encoder, multilingual version 3 (its
// convolutional form, int8): a text becomes 512 numbers of unit length, such that
// texts of one meaning lie near each other, across sixteen languages.
//
// [New] loads it from the binary, [Encoder.Tokens] gives a text's token ids, and
// [Encoder.Encode] the vectors of token lists. An Encoder is safe for concurrent
// use. It is pure Go; built with GOEXPERIMENT=simd for amd64 it uses vector
// instructions where the processor has them, and results agree within 0.001.
//
// The weights are the published ones, value by value, packed by the program in
// pack; LICENSE.txt and NOTICE.txt beside weights.bin say whose they are. They are
// read in place. The heap holds about 100 KB of tables, and working memory of
// about 10 KB a token of the largest batch that is under way.
//
// What a text is (a question or a document) and how much of it is read is the
// business of package embedding.
package use

import (
	"sync"

	"hindsight/store/embedding/use/rows"
	"hindsight/store/embedding/use/spm"
)

const (
	// Dim is the number of values in a vector.
	Dim = 512

	convDim  = 256
	branches = 3
	featDim  = Dim + branches*convDim
)

// Encoder is the loaded model.
type Encoder struct {
	text  *spm.Model
	table *rows.Coded
	mul   product

	rowScale, rowLow    []float32 // of each class of rows
	branches            [branches]branch
	projGain, projShift []float32
	gain, shift         []float32
	pool                matrix
	d0, d1, p1          matrix
	d2, p3, d3          matrix

	common [][]byte // what [Encoder.Preload] reads

	splitters sync.Pool
	scratches sync.Pool
}

// New loads the encoder from the embedded weights.
func New() (*Encoder, error) { return load(weights) }

// Preload reads a byte of every page that most texts need: everything but the
// table's rows, about eight megabytes. The sum it returns means nothing.
func (e *Encoder) Preload() (sum int) {
	for _, part := range e.common {
		for i := 0; i < len(part); i += 4096 {
			sum += int(part[i])
		}
	}
	return sum
}

// Pieces is the size of the vocabulary: every id is below it.
func (e *Encoder) Pieces() int { return e.text.Size() }

// Tokens appends the ids of text to dst, from [spm.Begin] to [spm.End]. Of more
// than head+tail pieces between the two only the first head and the last tail
// are kept.
func (e *Encoder) Tokens(dst []int32, text string, head, tail int) []int32 {
	w, _ := e.splitters.Get().(*spm.Splitter)
	if w == nil {
		w = new(spm.Splitter)
	}
	defer e.splitters.Put(w)
	first := len(dst) + 1
	dst = e.text.Split(w, append(dst, spm.Begin), text)
	if extra := len(dst) - first - head - tail; extra > 0 {
		dst = append(dst[:first+head], dst[first+head+extra:]...)
	}
	return append(dst, spm.End)
}

// product computes rows products: for each r below rows and column j of w,
// dst[r*ldd+j] = w.bias[j] + the sum over i of a[r*lda+i] * w(i, j). It may read
// and write up to [slackRows] more rows of a and dst, which must be there.
// k is a multiple of 4, and w's columns are of 16.
type product func(s *work, dst []float32, ldd int, a []float32, lda, rows int, w *matrix)

// slackRows is what a kernel may run past its rows.
const slackRows = 5
