package chat

import (
	"slices"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

func (s *scanner) messages() {
	for s.Array(); s.Element(); {
		s.req.Messages = append(reserve(s, s.req.Messages), s.message())
	}
}

// reserve makes room for one more, and when it must grow, for as many as the
// rest of the body will hold if it goes on like this. That leaves less behind
// than doubling: half the garbage on a long history.
func reserve[T any](s *scanner, all []T) []T {
	n := len(all)
	if n < cap(all) {
		return all
	}
	rest := len(s.req.Body) - s.Pos()
	more := n * rest / (s.Pos() + 1)
	return slices.Grow(all, min(max(more+more/8, n/2, 4), 8*n+8))
}

// message takes one message, which must be an object.
func (s *scanner) message() dialect.Message {
	var seen uint64
	m := dialect.Message{Role: dialect.Unknown}
	first := len(s.parts)
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "role":
			s.Once(&seen, onceRole)
			m.Role = role(s.Text())
		case "content":
			s.Once(&seen, onceContent)
			m.Slot = s.content()
		case "name":
			s.Once(&seen, onceName)
			m.Name = s.Text()
		case "id":
			s.Once(&seen, onceID)
			m.ID = s.Text()
		case "tool_calls":
			s.Once(&seen, onceToolCalls)
			m.Calls = s.calls(m.Calls)
		case "function_call": // before tool_calls
			s.Once(&seen, onceCall)
			if call, ok := s.function(); ok {
				m.Calls = append(m.Calls, call)
			}
		case "tool_call_id":
			s.Once(&seen, onceToolCallID)
			m.CallID = s.Text()
		default:
			s.Skip()
		}
	}
	if n := len(s.parts); n > first {
		m.Parts = s.parts[first:n:n]
	}
	return m
}

func role(word string) dialect.Role {
	switch word {
	case "system":
		return dialect.System
	case "developer":
		return dialect.Developer
	case "user":
		return dialect.User
	case "assistant":
		return dialect.Assistant
	case "tool", "function":
		return dialect.Tool
	default:
		return dialect.Unknown
	}
}

// content takes a message's content, a string or an array of parts; anything
// else has no place for a block.
func (s *scanner) content() dialect.Slot {
	switch s.Peek() {
	case scan.String:
		lit, start := s.Literal()
		s.parts = append(reserve(s, s.parts), text(lit, start))
		return dialect.Slot{Start: start, End: start + len(lit)}
	case scan.Array:
		start, first := s.Pos(), len(s.parts)
		for s.Array(); s.Element(); {
			s.parts = append(reserve(s, s.parts), s.part())
		}
		return dialect.Slot{Start: start, End: s.Pos(), Array: true, First: leading(s.parts[first:])}
	default:
		s.Skip()
		return dialect.Slot{}
	}
}

// leading is the index of the first text part behind the last tool result, -1
// if there is none.
func leading(parts []dialect.Part) int {
	first := -1
	for i := len(parts) - 1; i >= 0 && parts[i].Kind != dialect.ToolResultPart; i-- {
		if parts[i].Kind == dialect.TextPart {
			first = i
		}
	}
	return first
}

// text is the part that a string is.
func text(lit []byte, start int) dialect.Part {
	p := dialect.NewTextPart(dialect.TextPart, "text", lit, start, start+len(lit))
	p.TextAt = start
	return p
}

// part takes one element of a content array.
func (s *scanner) part() dialect.Part {
	switch s.Peek() {
	case scan.Object:
	case scan.String: // some servers take bare strings among the parts
		return text(s.Literal())
	default:
		start, end := s.Skip()
		return dialect.Part{Kind: dialect.OtherPart, Start: start, End: end}
	}
	var seen uint64
	var typ, callID string
	var failed bool
	var lit []byte
	var at int
	start := s.Pos()
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "type":
			s.Once(&seen, onceType)
			typ = s.Text()
		case "text":
			s.Once(&seen, onceText)
			lit, at = s.Literal()
		case "refusal":
			s.Once(&seen, onceRefusal)
			if l, a := s.Literal(); lit == nil {
				lit, at = l, a
			}
		case "tool_use_id":
			s.Once(&seen, onceToolUseID)
			callID = s.Text()
		case "is_error":
			s.Once(&seen, onceIsError)
			failed = s.True()
		default:
			s.Skip()
		}
	}
	p := dialect.NewTextPart(kind(typ, lit != nil), typ, lit, start, s.Pos())
	p.TextAt, p.CallID, p.Failed = at, callID, failed
	if p.Kind == dialect.BinaryPart {
		p.Size = p.End - p.Start
	}
	return p
}

// kind sorts a part by its type. The names beside OpenAI's own are those that
// gateways let through.
func kind(typ string, hasText bool) dialect.PartKind {
	switch typ {
	case "text":
		if hasText {
			return dialect.TextPart
		}
	case "image_url", "input_audio", "file", "audio_url", "video_url", "image", "audio", "video", "document":
		return dialect.BinaryPart
	case "tool_result":
		return dialect.ToolResultPart
	case "thinking", "reasoning":
		return dialect.ReasoningPart
	}
	return dialect.OtherPart
}
