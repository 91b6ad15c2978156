// Package slot says where in a body blocks go, and in which bytes. It is the
// same for every wire format whose messages are strings or arrays of parts:
// call [Inserts] with the format's own text part.
package slot

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// Part opens a text part of a format, up to its text.
type Part string

// The text parts of the formats: of chat completions and messages, and of a
// user's item in responses.
const (
	Text      Part = `{"type":"text","text":"`
	InputText Part = `{"type":"input_text","text":"`
)

// What surrounds a block otherwise: a line of its own in a string, the end of a
// part in an array.
const (
	newline   = `\n`
	partClose = `"}`
)

// insert is one piece to put into a body: what stands around the text is JSON
// already, the text is escaped.
type insert struct {
	at                  int
	before, open, after string
}

// Inserts places the blocks, see [dialect.Dialect]. Only user messages take
// one, each a single one.
//
// In a string, be it a message's content or the whole input, the block stands
// first, then a newline, then the client's bytes. In an array it is a part of
// its own, directly before the first text part behind the last tool result;
// without such a text part (an image alone) it is the first part behind the tool
// results, or of all. At the tail it stands behind the text, or is the last part.
func Inserts(req *dialect.Request, blocks []dialect.Block, opt dialect.SpliceOptions, part Part) ([]dialect.Insert, error) {
	inserts := make([]dialect.Insert, 0, len(blocks))
	for _, b := range blocks {
		if b.Message < 0 || b.Message >= len(req.Messages) {
			return nil, fmt.Errorf("insert into message %d of %d: no such message", b.Message, len(req.Messages))
		}
		in, err := place(&req.Messages[b.Message], opt, part)
		if err != nil {
			return nil, fmt.Errorf("insert into message %d: %w", b.Message, err)
		}
		inserts = append(inserts, dialect.Insert{At: in.at, Bytes: in.around(scan.Clean(b.Text))})
	}
	slices.SortFunc(inserts, func(a, b dialect.Insert) int { return cmp.Compare(a.At, b.At) })
	for i := range inserts {
		if i > 0 && inserts[i].At == inserts[i-1].At {
			return nil, errors.New("insert two blocks into one message")
		}
	}
	return inserts, nil
}

// around is the insert's bytes with a text in it, in one buffer of their size.
func (in insert) around(text string) []byte {
	out := make([]byte, 0, len(in.before)+len(in.open)+scan.EscapedLen(text)+len(in.after))
	out = append(out, in.before...)
	out = append(out, in.open...)
	out = scan.AppendEscaped(out, text)
	return append(out, in.after...)
}

// place finds where in a message a block goes.
func place(m *dialect.Message, opt dialect.SpliceOptions, part Part) (insert, error) {
	switch {
	case m.Role != dialect.User:
		return insert{}, errors.New("not a user message")
	case m.Slot.End == 0:
		return insert{}, errors.New("content is neither text nor parts")
	case !m.Slot.Array:
		return beside(m.Slot.Start, m.Slot.End, opt), nil
	}
	if opt.Inline {
		if p, ok := textPart(m, opt); ok {
			return beside(p.TextAt, p.TextEnd(), opt), nil
		}
	}
	return among(m, opt, string(part)), nil
}

// beside puts a block into the string literal that stands from start to end.
// The newline also keeps the block away from half a surrogate pair.
func beside(start, end int, opt dialect.SpliceOptions) insert {
	if opt.Tail {
		return insert{at: end - 1, before: newline}
	}
	return insert{at: start + 1, after: newline}
}

// textPart is the part that the block stands before, or behind.
func textPart(m *dialect.Message, opt dialect.SpliceOptions) (dialect.Part, bool) {
	if m.Slot.First < 0 {
		return dialect.Part{}, false
	}
	last := m.Slot.First
	if opt.Tail {
		for i, p := range m.Parts {
			if p.Kind == dialect.TextPart {
				last = i
			}
		}
	}
	return m.Parts[last], true
}

// among puts a block into an array as a part of its own.
func among(m *dialect.Message, opt dialect.SpliceOptions, open string) insert {
	if len(m.Parts) == 0 {
		return insert{at: m.Slot.Start + 1, open: open, after: partClose}
	}
	next := m.Slot.First
	if next < 0 {
		next = 0
		for i, p := range m.Parts {
			if p.Kind == dialect.ToolResultPart {
				next = i + 1
			}
		}
	}
	if opt.Tail || next == len(m.Parts) {
		return insert{at: m.Parts[len(m.Parts)-1].End, before: ",", open: open, after: partClose}
	}
	return insert{at: m.Parts[next].Start, open: open, after: partClose + ","}
}
