package spm

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Splitter is the working memory of [Model.Split], kept between calls. The zero
// value is ready. It serves one caller at a time.
type Splitter struct {
	raw   []byte
	text  []byte
	best  []float64 // highest score of a path that ends before this byte
	from  []int32   // where the path's last piece starts
	piece []int32   // and its id
}

// Split appends the ids of text's pieces to dst, without [Begin] and [End]. A
// text that is empty in its normal form is one [Unknown]. Bytes that are no UTF-8
// count as U+FFFD.
func (m *Model) Split(w *Splitter, dst []int32, text string) []int32 {
	w.raw = append(w.raw[:0], strings.ToValidUTF8(text, "\uFFFD")...)
	w.text = m.Normalize(w.text[:0], w.raw)
	n := len(w.text)
	if n == 0 {
		return append(dst, Unknown)
	}
	w.best = slices.Grow(w.best[:0], n+1)[:n+1]
	w.from = slices.Grow(w.from[:0], n+1)[:n+1]
	w.piece = slices.Grow(w.piece[:0], n+1)[:n+1]
	for i := range w.best {
		w.best[i] = math.Inf(-1)
	}
	w.best[0] = 0
	// Every character has at least its unknown piece, so each border that is
	// looked at has a path to it. Scores add up in float64, as the reference
	// does: ties would fall differently in float32.
	for i := 0; i < n; {
		_, size := utf8.DecodeRune(w.text[i:])
		covered := false
		for j, node := i, 0; j < n; j++ {
			if node = m.child(node, w.text[j]); node == 0 {
				break
			}
			if id := number(m.Pieces, node); id > 0 {
				w.offer(i, j+1, int32(id-1), m.score(int(id-1)))
				covered = covered || j+1 == i+size
			}
		}
		if !covered {
			w.offer(i, i+size, Unknown, m.unknown)
		}
		i += size
	}
	first := len(dst)
	for at := n; at > 0; at = int(w.from[at]) {
		dst = append(dst, w.piece[at])
	}
	slices.Reverse(dst[first:])
	return dst
}

// offer takes the piece from i to j if the path through it is the best so far;
// an equal one that came first stays.
func (w *Splitter) offer(i, j int, id int32, score float64) {
	if score += w.best[i]; score > w.best[j] {
		w.best[j], w.from[j], w.piece[j] = score, int32(i), id
	}
}
