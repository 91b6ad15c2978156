package main

import (
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"hindsight/store/embedding/use/packed"
	"hindsight/store/embedding/use/rows"
	"hindsight/store/embedding/use/spm"
)

// tokeniser lays out sp.model. The file has the old layout: pieces in field 1
// (text 1, score 2), the character map in field 2 of field 3.
func tokeniser(model []byte) ([]packed.Section, error) {
	var pieces []string
	var scores []float32
	var charsmap []byte
	err := fields(model, func(n protowire.Number, value []byte) error {
		switch n {
		case 1:
			piece, score := "", float32(0)
			err := fields(value, func(n protowire.Number, v []byte) error {
				switch n {
				case 1:
					piece = string(v)
				case 2:
					bits, size := protowire.ConsumeFixed32(v)
					if size < 0 {
						return protowire.ParseError(size)
					}
					score = math.Float32frombits(bits)
				}
				return nil
			})
			pieces, scores = append(pieces, piece), append(scores, score)
			return err
		case 3:
			return fields(value, func(n protowire.Number, v []byte) error {
				if n == 2 {
					charsmap = v
				}
				return nil
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the tokeniser: %w", err)
	}
	s, err := spm.Build(pieces, scores, charsmap)
	if err != nil {
		return nil, err
	}
	return []packed.Section{
		{Name: "spm.labels", Data: s.Labels}, {Name: "spm.children", Data: s.Children},
		{Name: "spm.pieces", Data: s.Pieces}, {Name: "spm.scores", Data: s.Scores},
		{Name: "spm.units", Data: s.Units}, {Name: "spm.texts", Data: s.Texts},
	}, nil
}

// fields calls visit with the number and the bytes of each field of a message;
// of a length-prefixed one, without the length.
func fields(msg []byte, visit func(protowire.Number, []byte) error) error {
	for len(msg) > 0 {
		n, kind, size := protowire.ConsumeTag(msg)
		if size < 0 {
			return protowire.ParseError(size)
		}
		msg = msg[size:]
		size = protowire.ConsumeFieldValue(n, kind, msg)
		if size < 0 {
			return protowire.ParseError(size)
		}
		value := msg[:size]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		if err := visit(n, value); err != nil {
			return err
		}
		msg = msg[size:]
	}
	return nil
}

// table joins the 17 parts of the byte table, row i from part i mod 17, and
// codes it.
func table(arrays map[string]array) ([]packed.Section, error) {
	perClass := 0
	if a := arrays["q1"]; len(a.shape) == 2 {
		perClass = a.shape[0]
	}
	flat := make([]byte, perClass*rows.Classes*rows.Width)
	for class := range rows.Classes {
		a := arrays[fmt.Sprintf("q%d", class+1)]
		if a.kind != "|u1" || len(a.shape) != 2 || a.shape[0] != perClass || a.shape[1] != rows.Width {
			return nil, fmt.Errorf("read the table: part %d is %s %v", class+1, a.kind, a.shape)
		}
		for i := range perClass {
			copy(flat[(i*rows.Classes+class)*rows.Width:], a.data[i*rows.Width:][:rows.Width])
		}
	}
	lengths, offsets, data, err := rows.Encode(flat)
	if err != nil {
		return nil, err
	}
	sections := []packed.Section{
		{Name: "rows.lengths", Data: lengths}, {Name: "rows.offsets", Data: offsets}, {Name: "rows.data", Data: data},
	}
	for _, name := range []string{"scale", "lo"} {
		sections = append(sections, packed.Section{Name: "rows." + name, Data: arrays[name].data})
	}
	return sections, nil
}

// matrices and vectors are the dense parts, by the package's names.
var (
	matrices = []string{"proj2", "proj3", "proj5", "w1_2", "w2_2", "w1_3", "w2_3", "w1_5", "w2_5",
		"cnn_W", "d0", "d1", "p1", "d2", "p3", "d3"}
	vectors = []string{"proj_b2", "proj_b3", "proj_b5", "ln_g2", "ln_g3", "ln_g5", "ln_b2", "ln_b3", "ln_b5",
		"b1_2", "b2_2", "b1_3", "b2_3", "b1_5", "b2_5", "ln_g", "ln_b", "cnn_b"}
)

// dense turns each matrix back into the int8 values and the one scale that it
// was published from, and leaves vectors as they are.
func dense(arrays map[string]array) ([]packed.Section, error) {
	var sections []packed.Section
	for _, name := range matrices {
		w, err := arrays[name].floats()
		if err != nil || len(arrays[name].shape) != 2 {
			return nil, fmt.Errorf("read matrix %s: %v %w", name, arrays[name].shape, err)
		}
		q, scale, err := quantise(w)
		if err != nil {
			return nil, fmt.Errorf("pack matrix %s: %w", name, err)
		}
		sections = append(sections,
			packed.Section{Name: name, Data: panels(q, arrays[name].shape[1])},
			packed.Section{Name: name + ".scale", Data: packed.PutFloats([]float32{scale, reach(q, arrays[name].shape[1])})})
	}
	for _, name := range vectors {
		if _, err := arrays[name].floats(); err != nil {
			return nil, fmt.Errorf("read vector %s: %w", name, err)
		}
		sections = append(sections, packed.Section{Name: name, Data: arrays[name].data})
	}
	return sections, nil
}

// quantise finds the scale that makes every weight a whole number in int8: the
// largest weight is one of ±127, ±126 and so on of it.
func quantise(w []float32) ([]int8, float32, error) {
	largest := 0.0
	for _, x := range w {
		largest = max(largest, math.Abs(float64(x)))
	}
	q := make([]int8, len(w))
	for steps := 127; steps >= 64; steps-- {
		scale, worst := largest/float64(steps), 0.0
		for i, x := range w {
			whole := math.Round(float64(x) / scale)
			worst = max(worst, math.Abs(float64(x)/scale-whole))
			q[i] = int8(whole)
		}
		if worst < 0.001 {
			return q, float32(scale), nil
		}
	}
	return nil, 0, fmt.Errorf("the weights are no multiples of one scale")
}

// reach is the largest sum of a column's absolute values: how far a whole-number
// sum can get. The plain kernel chooses its precision by it.
func reach(q []int8, n int) float32 {
	sums := make([]int, n)
	for i, v := range q {
		sums[i%n] += max(int(v), -int(v))
	}
	return float32(slices.Max(sums))
}

// panels orders a matrix of n columns for the kernels: 16 columns after 16,
// within them row by row. Eight bytes more let a kernel load past the end.
func panels(q []int8, n int) []byte {
	out := make([]byte, 0, len(q)+8)
	for column := 0; column < n; column += 16 {
		for row := 0; row < len(q); row += n {
			for _, v := range q[row+column:][:16] {
				out = append(out, byte(v))
			}
		}
	}
	return append(out, make([]byte, 8)...)
}
