package responses

import (
	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// Names in a part that may stand once alone.
const (
	oncePartType = iota
	oncePartText
	oncePartOther
)

// written is what stands under one name of an item.
type written struct {
	parts []dialect.Part
	slot  dialect.Slot
}

// content takes an item's content, output or summary: a string or an array of
// parts; anything else has no place for a block.
func (s *scanner) content() written {
	first := len(s.parts)
	var slot dialect.Slot
	switch s.Peek() {
	case scan.String:
		lit, start := s.Literal()
		s.parts = append(reserve(s, s.parts), text(lit, start))
		slot = dialect.Slot{Start: start, End: start + len(lit)}
	case scan.Array:
		start := s.Pos()
		for s.Array(); s.Element(); {
			s.parts = append(reserve(s, s.parts), s.part())
		}
		slot = dialect.Slot{Start: start, End: s.Pos(), Array: true, First: leading(s.parts[first:])}
	default:
		s.Skip()
	}
	w := written{slot: slot}
	if n := len(s.parts); n > first {
		w.parts = s.parts[first:n:n]
	}
	return w
}

// leading is the index of the first text part, -1 if there is none.
func leading(parts []dialect.Part) int {
	for i, p := range parts {
		if p.Kind == dialect.TextPart {
			return i
		}
	}
	return -1
}

// text is the part that a string is.
func text(lit []byte, start int) dialect.Part {
	p := dialect.NewTextPart(dialect.TextPart, "input_text", lit, start, start+len(lit))
	p.TextAt = start
	return p
}

// part takes one element of an array of parts.
func (s *scanner) part() dialect.Part {
	if s.Peek() != scan.Object {
		start, end := s.Skip()
		return dialect.Part{Kind: dialect.OtherPart, Start: start, End: end}
	}
	var seen uint64
	var typ string
	var lit []byte
	var at int
	start := s.Pos()
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "type":
			s.Once(&seen, oncePartType)
			typ = s.Text()
		case "text":
			s.Once(&seen, oncePartText)
			if l, a := s.Literal(); l != nil {
				lit, at = l, a
			}
		case "refusal", "stdout":
			s.Once(&seen, oncePartOther)
			if l, a := s.Literal(); lit == nil {
				lit, at = l, a
			}
		default:
			s.Skip()
		}
	}
	p := dialect.NewTextPart(kind(typ, lit != nil), typ, lit, start, s.Pos())
	p.TextAt = at
	if p.Kind == dialect.BinaryPart {
		p.Size = p.End - p.Start
	}
	return p
}

// kind sorts a part by its type. The names beside OpenAI's own are those that
// gateways let through.
func kind(typ string, hasText bool) dialect.PartKind {
	switch typ {
	case "input_text", "output_text", "text", "refusal", "": // a shell's output has no type
		if hasText {
			return dialect.TextPart
		}
	case "input_image", "input_file", "input_audio", "output_audio", "computer_screenshot", "image_url", "file":
		return dialect.BinaryPart
	case "summary_text", "reasoning_text":
		return dialect.ReasoningPart
	}
	return dialect.OtherPart
}
