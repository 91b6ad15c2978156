package messages

import (
	"bytes"
	"strings"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

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
			m.Slot = s.content(&m.Calls)
		default:
			s.Skip()
		}
	}
	m.Parts = s.since(first)
	if m.Role != dialect.Assistant {
		m.Calls = nil // the model alone calls tools
	}
	return m
}

func role(word string) dialect.Role {
	switch word {
	case "user":
		return dialect.User
	case "assistant":
		return dialect.Assistant
	case "system":
		return dialect.System
	case "developer":
		return dialect.Developer
	default:
		return dialect.Unknown
	}
}

// content takes a content, a string or an array of parts; anything else has no
// place for a block. Tool calls among the parts go to calls.
func (s *scanner) content(calls *[]dialect.Call) dialect.Slot {
	switch s.Peek() {
	case scan.String:
		lit, start := s.Literal()
		p := dialect.NewTextPart(dialect.TextPart, "text", lit, start, start+len(lit))
		p.TextAt = start
		s.parts = append(reserve(s, s.parts), p)
		return dialect.Slot{Start: start, End: start + len(lit)}
	case scan.Array:
		start, first := s.Pos(), len(s.parts)
		for s.Array(); s.Element(); {
			s.parts = append(reserve(s, s.parts), s.part(calls))
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

// part takes one element of a content array.
func (s *scanner) part(calls *[]dialect.Call) dialect.Part {
	if s.Peek() != scan.Object {
		start, end := s.Skip()
		return dialect.Part{Kind: dialect.OtherPart, Start: start, End: end}
	}
	var seen uint64
	var typ, resultOf string
	var call dialect.Call
	var failed bool
	var text, result literal
	var input []byte
	start := s.Pos()
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "type":
			s.Once(&seen, onceType)
			typ = s.Text()
		case "text":
			s.Once(&seen, onceText)
			text.bytes, text.at = s.Literal()
		case "id":
			s.Once(&seen, onceID)
			call.ID = s.Text()
		case "name":
			s.Once(&seen, onceName)
			call.Name = s.Text()
		case "input":
			s.Once(&seen, onceInput)
			from, to := s.Skip()
			input = s.req.Body[from:to]
		case "tool_use_id":
			s.Once(&seen, onceToolUseID)
			resultOf = s.Text()
		case "content":
			s.Once(&seen, onceResult)
			result = s.result()
		case "is_error":
			s.Once(&seen, onceIsError)
			failed = s.True()
		default:
			s.Skip()
		}
	}
	k := kind(typ, text.bytes != nil)
	switch {
	case k == dialect.ToolResultPart:
		text = result
	case k != dialect.TextPart:
		text = literal{}
	}
	if calls != nil && calling(typ) {
		call.Arguments = string(input)
		*calls = append(*calls, call)
	}
	p := dialect.NewTextPart(k, typ, text.bytes, start, s.Pos())
	p.TextAt = text.at
	switch k {
	case dialect.ToolResultPart:
		p.CallID, p.Failed = resultOf, failed
	case dialect.BinaryPart:
		p.Size = p.End - p.Start
	}
	return p
}

// kind sorts a part by its type. Whatever is a tool's result by its name is
// one: results of tools that run at the provider are of types of their own.
func kind(typ string, hasText bool) dialect.PartKind {
	switch typ {
	case "text":
		if hasText {
			return dialect.TextPart
		}
	case "image", "document", "container_upload":
		return dialect.BinaryPart
	case "thinking", "redacted_thinking":
		return dialect.ReasoningPart
	}
	if strings.HasSuffix(typ, "tool_result") {
		return dialect.ToolResultPart
	}
	return dialect.OtherPart
}

// calling says whether a part of this type calls a tool, here or at the
// provider.
func calling(typ string) bool {
	switch typ {
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return true
	}
	return false
}

// literal is a JSON string literal, quotes included. at is where it stands in
// the body, 0 if it doesn't in one piece.
type literal struct {
	bytes []byte
	at    int
}

// result takes a tool result's content: a string, or an array whose text parts
// are joined by newlines.
func (s *scanner) result() literal {
	var all literal
	if s.Peek() != scan.Array {
		all.bytes, all.at = s.Literal()
		return all
	}
	texts := 0
	for s.Array(); s.Element(); {
		lit, at := s.resultPart()
		if lit == nil {
			continue
		}
		switch texts++; texts {
		case 1:
			all = literal{lit, at}
			continue
		case 2:
			all = literal{bytes: bytes.Clone(all.bytes)}
		}
		all.bytes = append(all.bytes[:len(all.bytes)-1], `\n`...)
		all.bytes = append(all.bytes, lit[1:]...)
	}
	return all
}

// resultPart takes one part of a tool result and returns its text's literal,
// nil if it has none.
func (s *scanner) resultPart() (lit []byte, at int) {
	if s.Peek() != scan.Object {
		s.Skip()
		return nil, 0
	}
	for s.Object(); s.Member(); {
		if string(s.Name()) == "text" {
			lit, at = s.Literal()
		} else {
			s.Skip()
		}
	}
	return lit, at
}
