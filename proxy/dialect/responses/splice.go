package responses

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// insert is one piece to put into a body: before and after are JSON already,
// what stands between them is escaped.
type insert struct {
	at            int
	before, after string
}

// What surrounds a block: a line of its own in a string, a part in an array.
const (
	newline   = `\n`
	partOpen  = `{"type":"input_text","text":"`
	partClose = `"}`
)

// Inserts places the blocks, see [dialect.Dialect]. Only user messages take
// one, each a single one; never is there a new item.
//
// In a string, be it a message's content or the whole input, the block stands
// first, then a newline, then the client's bytes. In an array it is a part of
// its own, directly before the first text part; without one (an image alone) it
// is the first part. At the tail it stands behind the text, or is the last
// part.
func (Dialect) Inserts(req *dialect.Request, blocks []dialect.Block, opt dialect.SpliceOptions) ([]dialect.Insert, error) {
	inserts := make([]dialect.Insert, 0, len(blocks))
	for _, b := range blocks {
		if b.Message < 0 || b.Message >= len(req.Messages) {
			return nil, fmt.Errorf("insert into item %d of %d: no such item", b.Message, len(req.Messages))
		}
		in, err := place(&req.Messages[b.Message], opt)
		if err != nil {
			return nil, fmt.Errorf("insert into item %d: %w", b.Message, err)
		}
		inserts = append(inserts, dialect.Insert{At: in.at, Bytes: in.around(scan.Clean(b.Text))})
	}
	slices.SortFunc(inserts, func(a, b dialect.Insert) int { return cmp.Compare(a.At, b.At) })
	for i := range inserts {
		if i > 0 && inserts[i].At == inserts[i-1].At {
			return nil, errors.New("insert two blocks into one item")
		}
	}
	return inserts, nil
}

// around is the insert's bytes with a text in it, in one buffer of their size.
func (in insert) around(text string) []byte {
	out := make([]byte, 0, len(in.before)+scan.EscapedLen(text)+len(in.after))
	out = append(out, in.before...)
	out = scan.AppendEscaped(out, text)
	return append(out, in.after...)
}

// place finds where in a message a block goes.
func place(m *dialect.Message, opt dialect.SpliceOptions) (insert, error) {
	switch {
	case m.Role != dialect.User:
		return insert{}, errors.New("not a user message")
	case m.Slot.End == 0:
		return insert{}, errors.New("content is neither text nor parts")
	case !m.Slot.Array:
		return beside(m.Slot.Start, m.Slot.End, opt), nil
	}
	if i := neighbour(m, opt); i >= 0 && opt.Inline {
		return beside(m.Parts[i].TextAt, m.Parts[i].TextEnd(), opt), nil
	}
	return among(m, opt), nil
}

// beside puts a block into the string literal that stands from start to end.
// The newline also keeps the block away from half a surrogate pair.
func beside(start, end int, opt dialect.SpliceOptions) insert {
	if opt.Tail {
		return insert{at: end - 1, before: newline}
	}
	return insert{at: start + 1, after: newline}
}

// neighbour is the index of the text part that the block stands before, or
// behind; -1 if there is none.
func neighbour(m *dialect.Message, opt dialect.SpliceOptions) int {
	if !opt.Tail {
		return m.Slot.First
	}
	for i := len(m.Parts) - 1; i >= 0; i-- {
		if m.Parts[i].Kind == dialect.TextPart {
			return i
		}
	}
	return -1
}

// among puts a block into an array as a part of its own.
func among(m *dialect.Message, opt dialect.SpliceOptions) insert {
	switch {
	case len(m.Parts) == 0:
		return insert{at: m.Slot.Start + 1, before: partOpen, after: partClose}
	case opt.Tail:
		return insert{at: m.Parts[len(m.Parts)-1].End, before: "," + partOpen, after: partClose}
	}
	return insert{at: m.Parts[max(m.Slot.First, 0)].Start, before: partOpen, after: partClose + ","}
}
