// Package embedding turns texts into vectors with the encoder that is built into
// the binary: no server, no key, no file to fetch.
//
// [Open] gives a [Builtin] that works at once, from the weights in the binary, which
// are read in place. [Builtin.Warm], meant for the time after the listener is open,
// does what would make the first question slow. Nothing is ever written.
//
// Texts to be found go through [Builtin.Embed], questions through
// [Builtin.EmbedQuery]: they differ in how much of a long text is read. Vectors
// have 512 numbers and unit length, so their dot product is their cosine. Which
// vectors may be compared with which is the business of whoever stores them, by
// [Builtin.Name] and [Builtin.Dim].
package embedding

import (
	"context"
	"fmt"

	"hindsight/store/embedding/use"
)

// How much of a text is read, in pieces of the tokeniser: of a document its
// beginning, of a question its first and its last words, where people put what
// they want. A piece has at most 48 bytes, and more bytes than below can't matter
// but for white space, so a text of megabytes costs no more than these.
const (
	documentPieces = 128
	questionHead   = 24
	questionTail   = 40

	documentBytes     = 8 << 10
	questionHeadBytes = 2 << 10
	questionTailBytes = 4 << 10
)

// batchTokens bounds the working memory of one call: about 10 KB a token.
const batchTokens = 256

// Builtin is the built-in embedder. It is safe for concurrent use; one call works
// on one core.
type Builtin struct {
	encoder *use.Encoder
}

// Open loads the encoder. The error tells of weights that don't fit this program,
// which no directory or machine can cause.
func Open() (*Builtin, error) {
	encoder, err := use.New()
	if err != nil {
		return nil, fmt.Errorf("open the built-in embedder: %w", err)
	}
	return &Builtin{encoder: encoder}, nil
}

// Name names the model and its form; vectors of another name are not comparable.
func (b *Builtin) Name() string { return "use-multilingual-3-int8" }

// Dim is the number of values in a vector.
func (b *Builtin) Dim() int { return use.Dim }

// Embed gives the vector of each text, as something to be found: of a long one
// the first 128 pieces (about 100 words) are read. A text without a word gets the
// vector of an unknown one. The error is only ever ctx's.
func (b *Builtin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	values := make([]float32, len(texts)*use.Dim)
	for i := range out {
		out[i], values = values[:use.Dim:use.Dim], values[use.Dim:]
	}
	var flat []int32
	var ids [][]int32
	for from := 0; from < len(texts); {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("embed %d texts: %w", len(texts), err)
		}
		flat, ids = flat[:0], ids[:0]
		at := from
		for ; at < len(texts) && (at == from || len(flat)+documentPieces+2 <= batchTokens); at++ {
			before := len(flat)
			flat = b.encoder.Tokens(flat, clip(texts[at], documentBytes, 0), documentPieces, 0)
			ids = append(ids, flat[before:])
		}
		b.encoder.Encode(ids, out[from:at])
		from = at
	}
	return out, nil
}

// EmbedQuery gives the vector of a question. Of a long one 64 pieces are read, 24
// from its beginning and 40 from its end. The error is only ever ctx's.
func (b *Builtin) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("embed a question: %w", err)
	}
	out := make([]float32, use.Dim)
	ids := b.encoder.Tokens(make([]int32, 0, 128), clip(text, questionHeadBytes, questionTailBytes), questionHead, questionTail)
	b.encoder.Encode([][]int32{ids}, [][]float32{out})
	return out, nil
}

// Warm makes the first question as fast as the later ones: it reads the pages that
// every question needs and embeds a sentence, in about a tenth of a second, during
// which other calls are served.
func (b *Builtin) Warm(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	b.encoder.Preload()
	// The error is ctx's, and then nobody waits for a warm encoder any more.
	_, _ = b.EmbedQuery(ctx, "What do you remember about me? 你还记得我什么？")
}
