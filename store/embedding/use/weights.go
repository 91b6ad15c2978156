package use

import (
	_ "embed"
	"fmt"
	"math"

	"hindsight/store/embedding/use/packed"
	"hindsight/store/embedding/use/rows"
	"hindsight/store/embedding/use/spm"
)

// Checksum is the SHA-256 of the embedded weights, as the packing program
// printed it.
const Checksum = "f4a8cc71fbb53a71849f54ff0fdbf076c2facd099eced0e434929bf9552583c3"

// weights is read in place: only the parts that text leads to become resident,
// and they are pages of the binary, not of the heap.
//
//go:embed weights.bin
var weights []byte

// matrix is one dense layer's weights: int8 values with one scale, in panels of
// 16 columns (see the packing program), and the bias that is added.
type matrix struct {
	data  []byte // panel by panel, k rows of 16 bytes each, and 8 bytes more
	k, n  int
	scale float32
	reach float32   // the largest sum of a column's absolute int8 values
	bias  []float32 // n values, or none
}

// branch is one of the three stacks of convolutions.
type branch struct {
	project       matrix
	first, second matrix
	width, left   int // tokens that a convolution sees, and how many of them come before
}

// rowData is the section that is three quarters of the file.
const rowData = "rows.data"

// loader collects the first error, so that the layers read as a list.
type loader struct {
	file *packed.File
	read [][]byte // every section but the rows
	err  error
}

func (l *loader) section(name string, size int) []byte {
	s, err := l.file.Section(name, size)
	if err != nil && l.err == nil {
		l.err = err
	}
	if name != rowData {
		l.read = append(l.read, s)
	}
	return s
}

func (l *loader) floats(name string, n int) []float32 {
	v, err := l.file.Floats(name, n)
	if err != nil {
		if l.err == nil {
			l.err = err
		}
		return make([]float32, n)
	}
	return v
}

func (l *loader) matrix(name string, k, n int, bias string) matrix {
	measures := l.floats(name+".scale", 2)
	m := matrix{data: l.section(name, k*n+8), k: k, n: n, scale: measures[0], reach: measures[1]}
	if bias != "" {
		m.bias = l.floats(bias, n)
	}
	return m
}

func (l *loader) branch(width, left int) branch {
	return branch{
		project: l.matrix(fmt.Sprintf("proj%d", width), Dim, convDim, fmt.Sprintf("proj_b%d", width)),
		first:   l.matrix(fmt.Sprintf("w1_%d", width), width*convDim, convDim, fmt.Sprintf("b1_%d", width)),
		second:  l.matrix(fmt.Sprintf("w2_%d", width), width*convDim, convDim, fmt.Sprintf("b2_%d", width)),
		width:   width,
		left:    left,
	}
}

// load reads everything but the rows, which stay where they are.
func load(data []byte) (*Encoder, error) {
	file, err := packed.Open(data)
	if err != nil {
		return nil, err
	}
	l := &loader{file: file}
	e := &Encoder{mul: multiply()}
	table, err := rows.Open(l.section("rows.lengths", -1), l.section("rows.offsets", -1), l.section(rowData, -1))
	if err != nil && l.err == nil {
		return nil, err
	}
	text, err := spm.New(spm.Sections{
		Labels: l.section("spm.labels", -1), Children: l.section("spm.children", -1),
		Pieces: l.section("spm.pieces", -1), Scores: l.section("spm.scores", -1),
		Units: l.section("spm.units", -1), Texts: l.section("spm.texts", -1),
	})
	if err != nil && l.err == nil {
		return nil, err
	}
	e.table, e.text = table, text
	e.rowScale, e.rowLow = l.floats("rows.scale", rows.Classes), l.floats("rows.lo", rows.Classes)
	for i, width := range [branches]int{2, 3, 5} {
		e.branches[i] = l.branch(width, (width-1)/2)
		gain, shift := l.floats(fmt.Sprintf("ln_g%d", width), convDim), l.floats(fmt.Sprintf("ln_b%d", width), convDim)
		e.projGain, e.projShift = append(e.projGain, gain...), append(e.projShift, shift...)
	}
	e.gain, e.shift = l.floats("ln_g", featDim), l.floats("ln_b", featDim)
	e.pool = l.matrix("cnn_W", featDim, Dim, "cnn_b")
	e.d0, e.d1, e.p1 = l.matrix("d0", Dim, 320, ""), l.matrix("d1", 320, 320, ""), l.matrix("p1", Dim, 320, "")
	e.d2, e.p3, e.d3 = l.matrix("d2", 320, Dim, ""), l.matrix("p3", 320, Dim, ""), l.matrix("d3", Dim, Dim, "")
	e.common = l.read
	if l.err != nil {
		return nil, l.err
	}
	if e.table.Len() < e.text.Size() {
		return nil, fmt.Errorf("load the encoder: %d rows for %d pieces", e.table.Len(), e.text.Size())
	}
	return e, nil
}

// epsilon keeps a division by zero away, as the model does.
const epsilon = float32(1e-12)

func inverseRoot(x float32) float32 { return 1 / float32(math.Sqrt(float64(x))) }
