package inject

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
)

// degradedWords says in header and answer that recall went by words alone.
const degradedWords = "words"

// vectorShare is the part of the deadline that the question's vector may take.
const vectorShare = 0.5

// vector begins to embed the question and returns a function that waits for it.
// late says that there should have been a vector.
func (e *Engine) vector(ctx context.Context, q query) func() (v []float32, late bool) {
	if e.cfg.Embedder == nil || q.idle || strings.TrimSpace(q.meaning) == "" {
		return func() ([]float32, bool) { return nil, false }
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(vectorShare*float64(e.cfg.Deadline)))
	type answer struct {
		v   []float32
		err error
	}
	got := make(chan answer, 1)
	go func() {
		defer cancel()
		v, err := e.cfg.Embedder.Question(ctx, q.meaning)
		got <- answer{v, err}
	}()
	return func() ([]float32, bool) {
		a := <-got
		if a.err != nil {
			e.log.Debug("recall by words alone", "err", a.err)
			return nil, true
		}
		return a.v, false
	}
}

// null is what cosines look like where nothing answers: the vectors of the
// background, by its language.
type null struct{ latin, han [][]float32 }

// Warm embeds the background against which the gate judges vectors. Until it has
// been done, vectors order what is found but admit nothing. The error is the
// embedder's.
func (e *Engine) Warm(ctx context.Context) error {
	if e.cfg.Embedder == nil {
		return nil
	}
	n := new(null)
	for _, part := range []struct {
		to    *[][]float32
		texts []string
	}{{&n.latin, backgroundEnglish()}, {&n.han, backgroundChinese()}} {
		for some := range slices.Chunk(part.texts, 16) {
			vectors, err := e.cfg.Embedder.Embed(ctx, some)
			if err != nil {
				return fmt.Errorf("embed the background: %w", err)
			}
			*part.to = append(*part.to, vectors...)
		}
	}
	e.null.Store(n)
	return nil
}

// spread is the middle and the deviation of a question's cosines with the
// background; the zero one knows nothing.
type spread struct{ mean, deviation float64 }

// against measures a question against the background in its language.
func (e *Engine) against(q query, v []float32) spread {
	n := e.null.Load()
	if n == nil || len(v) == 0 {
		return spread{}
	}
	texts := n.latin
	if mostlyHan(q.text) {
		texts = n.han
	}
	var sum, squares float64
	for _, t := range texts {
		c := 0.0
		for i := range min(len(t), len(v)) {
			c += float64(t[i]) * float64(v[i])
		}
		sum += c
		squares += c * c
	}
	k := float64(len(texts))
	mean := sum / k
	return spread{mean, math.Sqrt(max(squares/k-mean*mean, 1e-6))}
}

func mostlyHan(s string) bool {
	han, other := 0, 0
	for _, r := range s {
		if unicode.Is(unicode.Han, r) {
			han++
		} else if unicode.IsLetter(r) {
			other++
		}
	}
	return 2*han > other // a character is a word, a letter a part of one
}

// above is how many deviations a cosine lies above the background's middle.
func (j judge) above(cosine float64) float64 {
	if j.null.deviation == 0 {
		return 0
	}
	return (cosine - j.null.mean) / j.null.deviation
}

// What vectors count at the gate: nothing up to meantFrom deviations, then
// meantGain for each.
const (
	meantFrom = 3.0
	meantGain = 0.15
)

func meant(above float64) float64 { return max(0, above-meantFrom) * meantGain }
