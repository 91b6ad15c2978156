package store

import (
	"fmt"
	"math"
	"slices"
)

// EmbeddingModel says where vectors come from. Two models whose vectors may be
// compared have the same name, the same dimension, and give a fixed sentence the
// same vector, Fingerprint.
type EmbeddingModel struct {
	Name        string    `json:"name"`
	Dim         int       `json:"dim"`
	Fingerprint []float32 `json:"fingerprint"`
}

// nearEnough is how much two values of a fingerprint may differ.
const nearEnough = 0.001

// Same says whether vectors of the two may be compared.
func (m EmbeddingModel) Same(o EmbeddingModel) bool {
	return m.Name == o.Name && m.Dim == o.Dim &&
		slices.EqualFunc(m.Fingerprint, o.Fingerprint, func(x, y float32) bool { return math.Abs(float64(x-y)) <= nearEnough })
}

// OtherModel is the error of vectors that lie in the data and are of another
// model than the configured one.
type OtherModel struct {
	Stored, Configured EmbeddingModel
}

// Error names both and says what mends it.
func (e *OtherModel) Error() string {
	a, b := e.Stored, e.Configured
	if a.Name == b.Name && a.Dim == b.Dim {
		return fmt.Sprintf("the embedder %s gives other vectors than when the data was embedded: run `hindsight reembed`", a.Name)
	}
	return fmt.Sprintf("the data's vectors are of %s (%d dimensions), the configured embedder is %s (%d): set HINDSIGHT_EMBEDDER back, or run `hindsight reembed`",
		a.Name, a.Dim, b.Name, b.Dim)
}

// EmbeddingProgress says how far the memories are embedded.
type EmbeddingProgress struct {
	Embedder string `json:"embedder" doc:"The configured model."`
	Embedded int    `json:"embedded" doc:"Memories that have its vector."`
	Memories int    `json:"memories" doc:"Memories that should."`
	Reason   string `json:"reason" doc:"Why recall goes by words alone; empty where it doesn't."`
}
