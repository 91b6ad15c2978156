package inject

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"hindsight/store/index"
)

// degradedWords says in header and answer that recall went by words alone.
const degradedWords = "words"

// contextShare is the vector's weight where it holds the turns before the message.
const contextShare = 0.6

// vectorShare is the part of the deadline that the question's vector may take.
const vectorShare = 0.5

// personWaits is what a person's search lets the question's vector take: an
// endpoint that is too slow for requests still answers people.
const personWaits = 3 * time.Second

// vector begins to embed the question and returns a function that waits for it,
// for at most so long. late says that there should have been a vector.
func (e *Engine) vector(ctx context.Context, q query, wait time.Duration) func() (v []float32, late bool) {
	if e.cfg.Embedder == nil || q.idle || strings.TrimSpace(q.meaning) == "" {
		return func() ([]float32, bool) { return nil, false }
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
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

// share is what vectors weigh beside words. The turns before a message are but
// faintly in its words; in its vector they are whole.
func (q query) share() float64 {
	if q.context {
		return contextShare
	}
	return index.VectorWeight
}

// null is what cosines look like where nothing answers: the vectors of the
// background, by its language.
type null struct{ latin, han background }

type background struct{ statements, questions [][]float32 }

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
		embed func(context.Context, []string) ([][]float32, error)
	}{
		{&n.latin.statements, statementsEnglish(), e.cfg.Embedder.Embed},
		{&n.han.statements, statementsChinese(), e.cfg.Embedder.Embed},
		{&n.latin.questions, questionsEnglish(), e.cfg.Embedder.Embed},
		{&n.han.questions, questionsChinese(), e.cfg.Embedder.Embed},
	} {
		for some := range slices.Chunk(part.texts, 16) {
			vectors, err := part.embed(ctx, some)
			if err != nil {
				return fmt.Errorf("embed the background: %w", err)
			}
			*part.to = append(*part.to, vectors...)
		}
	}
	e.null.Store(n)
	return nil
}

// against is the background of one question: how near it comes to other people's
// memories, and the questions that one's own are held against. The zero one knows
// nothing.
type against struct {
	mean, deviation float64
	questions       [][]float32
}

// against measures a question against the background in its language.
func (e *Engine) against(q query, v []float32) against {
	n := e.null.Load()
	if n == nil || len(v) == 0 {
		return against{}
	}
	b := n.latin
	if mostlyHan(q.text) {
		b = n.han
	}
	a := against{questions: b.questions}
	a.mean, a.deviation = spread(b.statements, v)
	return a
}

// spread is the middle and the deviation of cosines.
func spread(texts [][]float32, v []float32) (mean, deviation float64) {
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
	mean = sum / k
	return mean, math.Sqrt(max(squares/k-mean*mean, 1e-6))
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

// above is how far a memory lies above what chance gives, in deviations: above the
// question's nearness to other people's memories, and where the memory is near to
// everybody's questions, above that.
func (j judge) above(h index.Hit) float64 {
	mean, _ := spread(j.null.questions, h.Values)
	return (h.Cosine - j.null.mean - max(0, mean)) / j.null.deviation
}

// What vectors count at the gate. Beside words they count little: a question on a
// familiar subject that nothing answers comes near to much. Who asks about himself
// is answered by meaning alone from meantAlone deviations on. Chosen with the
// questions of gate.go and 13 more in other words or in the other language.
const (
	meantFrom  = 2.0
	meantGain  = 0.05
	meantAlone = 2.9
	aloneGain  = 0.3
)

// meant is a memory's value by words and meaning together.
func (j judge) meant(value, above float64) float64 {
	value += max(0, above-meantFrom) * meantGain
	if j.q.personal {
		value = max(value, gatePersonal+(above-meantAlone)*aloneGain)
	}
	return value
}
