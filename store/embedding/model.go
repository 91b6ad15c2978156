package embedding

import (
	"context"
	"errors"
	"fmt"
	"math"

	"hindsight/store"
)

// Model turns texts into vectors of unit length: [Builtin], or an [Endpoint].
type Model interface {
	Name() string
	// Embed gives the vector of each text, as something to be found.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
	// EmbedQuery gives the vector of a question.
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

var (
	_ Model = (*Builtin)(nil)
	_ Model = (*Endpoint)(nil)
)

// fixed is the sentence whose vector tells models apart that have one name.
const fixed = "Hindsight remembers: the red bicycle stands behind the old library. 红色的自行车停在旧图书馆后面。"

// identify asks a model for what its vectors are known by.
func identify(ctx context.Context, m Model) (store.EmbeddingModel, error) {
	v, err := m.Embed(ctx, []string{fixed})
	if err != nil {
		return store.EmbeddingModel{}, fmt.Errorf("identify the embedding model: %w", err)
	}
	return store.EmbeddingModel{Name: m.Name(), Dim: len(v[0]), Fingerprint: v[0]}, nil
}

// Text is what of a memory is embedded: its text, after its subject where the
// text doesn't name it.
func Text(m *store.Memory) string {
	if m.Subject == "" || contains(m.Text, m.Subject) {
		return m.Text
	}
	return m.Subject + ": " + m.Text
}

// errNoVector is the error of a vector without a direction.
var errNoVector = errors.New("the vector is zero or not a number")

// normalise gives a vector unit length.
func normalise(v []float32) error {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 1e-12) || math.IsInf(sum, 0) {
		return errNoVector
	}
	scale := float32(1 / math.Sqrt(sum))
	for i := range v {
		v[i] *= scale
	}
	return nil
}
