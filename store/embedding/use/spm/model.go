// Package spm splits text into the pieces of a SentencePiece unigram model.
//
// It reads the model in place, from sections that [Build] laid out: a trie of
// the pieces in breadth-first order, their scores, and the normaliser's
// character map as SentencePiece compiled it. Nothing of it is copied to the
// heap, so the vocabulary of 128,000 pieces costs a mapped page only where text
// has led to it.
//
// [Model.Normalize] does what SentencePiece does before it splits: NFKC with the
// map's additions, runs of white space to one, none at either end, spaces to
// U+2581 and one of them in front. [Model.Split] then takes the path with the
// highest sum of scores, the longer first piece where two are equal; a character
// that no piece covers is [Unknown].
package spm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// The ids that every model of this family has.
const (
	Unknown int32 = 0
	Begin   int32 = 1
	End     int32 = 2
)

// unknownPenalty is how much worse than the worst piece an unknown character is.
const unknownPenalty = 10

// Sections are the parts of a model as they are stored; numbers are little
// endian.
type Sections struct {
	Labels   []byte // a byte a node: the edge that leads to it
	Children []byte // uint32 a node and one more: its first child; the next node's is the end
	Pieces   []byte // uint32 a node: piece id and one, or 0
	Scores   []byte // float32 a piece
	Units    []byte // the character map's double array, uint32 each
	Texts    []byte // what characters become, each ended by a zero
}

// Model splits text. It is safe for concurrent use.
type Model struct {
	Sections
	unknown float64
}

// New checks the sections' sizes and keeps them.
func New(s Sections) (*Model, error) {
	nodes := len(s.Labels)
	switch {
	case nodes == 0 || len(s.Children) != 4*(nodes+1) || len(s.Pieces) != 4*nodes:
		return nil, errors.New("load the tokeniser: the trie's parts don't fit together")
	case len(s.Scores) == 0 || len(s.Scores)%4 != 0:
		return nil, fmt.Errorf("load the tokeniser: %d bytes of scores", len(s.Scores))
	case len(s.Units) == 0 || len(s.Units)%4 != 0:
		return nil, fmt.Errorf("load the tokeniser: %d bytes of character map", len(s.Units))
	}
	m := &Model{Sections: s, unknown: math.Inf(1)}
	for i := range m.Size() {
		m.unknown = min(m.unknown, m.score(i))
	}
	m.unknown -= unknownPenalty
	return m, nil
}

// Size is the number of pieces; every id is below it.
func (m *Model) Size() int { return len(m.Scores) / 4 }

func (m *Model) score(id int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(m.Scores[4*id:])))
}

func number(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }

// child returns the node that edge c leads to from node, or 0: the root is
// nobody's child.
func (m *Model) child(node int, c byte) int {
	lo, end := int(number(m.Children, node)), int(number(m.Children, node+1))
	for hi := end; lo < hi; {
		mid := (lo + hi) / 2
		if m.Labels[mid] < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < end && m.Labels[lo] == c {
		return lo
	}
	return 0
}

// Build lays a model out: the piece with id i is pieces[i]; charsmap is the
// precompiled map of the model file. Where a piece occurs twice the later id
// counts.
func Build(pieces []string, scores []float32, charsmap []byte) (Sections, error) {
	var s Sections
	if len(pieces) == 0 || len(pieces) != len(scores) {
		return s, fmt.Errorf("build the tokeniser: %d pieces and %d scores", len(pieces), len(scores))
	}
	if len(charsmap) < 4 {
		return s, errors.New("build the tokeniser: there is no character map")
	}
	size := int(binary.LittleEndian.Uint32(charsmap))
	if size <= 0 || size%4 != 0 || 4+size > len(charsmap) {
		return s, fmt.Errorf("build the tokeniser: a character map of %d in %d bytes", size, len(charsmap))
	}
	s.Units, s.Texts = charsmap[4:4+size], charsmap[4+size:]
	for _, v := range scores {
		s.Scores = binary.LittleEndian.AppendUint32(s.Scores, math.Float32bits(v))
	}

	order := make([]int, len(pieces))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return strings.Compare(pieces[a], pieces[b]) })
	// A node is the run [from, to) of the sorted pieces that share depth bytes.
	type node struct{ from, to, depth int }
	queue := []node{{0, len(order), 0}}
	s.Labels = []byte{0}
	for i := 0; i < len(queue); i++ {
		n := queue[i]
		s.Children = binary.LittleEndian.AppendUint32(s.Children, uint32(len(queue)))
		at, id := n.from, 0
		for ; at < n.to && len(pieces[order[at]]) == n.depth; at++ {
			id = order[at] + 1
		}
		s.Pieces = binary.LittleEndian.AppendUint32(s.Pieces, uint32(id))
		for at < n.to {
			c, from := pieces[order[at]][n.depth], at
			for at < n.to && pieces[order[at]][n.depth] == c {
				at++
			}
			queue = append(queue, node{from, at, n.depth + 1})
			s.Labels = append(s.Labels, c)
		}
	}
	s.Children = binary.LittleEndian.AppendUint32(s.Children, uint32(len(queue)))
	return s, nil
}
