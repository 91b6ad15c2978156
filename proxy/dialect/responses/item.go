package responses

import (
	"slices"
	"strings"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// Names in an item that may stand once alone.
const (
	onceType = iota
	onceRole
	onceContent
	onceOutput
	onceID
	onceCallID
	onceName
	onceStatus
)

// input takes a string, which is one user message, or the array of items.
func (s *scanner) input() {
	switch s.Peek() {
	case scan.String:
		lit, start := s.Literal()
		s.parts = append(s.parts, text(lit, start))
		s.req.Messages = append(s.req.Messages, dialect.Message{
			Role: dialect.User, Parts: s.parts, Slot: dialect.Slot{Start: start, End: start + len(lit)},
		})
	case scan.Array:
		for s.Array(); s.Element(); {
			s.req.Messages = append(reserve(s, s.req.Messages), s.item())
		}
	case scan.Null:
		s.Skip()
	default:
		s.Fail("input expected")
	}
}

// reserve makes room for one more, and when it must grow, for as many as the
// rest of the body will hold if it goes on like this. The one place more is
// for the instructions.
func reserve[T any](s *scanner, all []T) []T {
	n := len(all)
	if n+1 < cap(all) {
		return all
	}
	rest := len(s.req.Body) - s.Pos()
	more := n * rest / (s.Pos() + 1)
	return slices.Grow(all, min(max(more+more/8, n/2, 4), 8*n+8))
}

// item takes one item, which must be an object.
func (s *scanner) item() dialect.Message {
	var seen uint64
	var typ, role string
	var content, output, summary written
	var failed bool
	var call callText
	m := dialect.Message{}
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "type":
			s.Once(&seen, onceType)
			typ = s.Text()
		case "role":
			s.Once(&seen, onceRole)
			role = s.Text()
		case "content":
			s.Once(&seen, onceContent)
			content = s.content()
		case "output":
			s.Once(&seen, onceOutput)
			output = s.content()
		case "id":
			s.Once(&seen, onceID)
			m.ID = s.Text()
		case "call_id":
			s.Once(&seen, onceCallID)
			m.CallID = s.Text()
		case "name":
			s.Once(&seen, onceName)
			m.Name = s.Text()
		case "arguments", "input", "action", "operation", "code", "queries":
			call.take(s.Cursor, s.req.Body)
		case "status":
			s.Once(&seen, onceStatus)
			failed = s.Text() == "failed"
		case "summary":
			summary = s.content()
		default:
			s.Skip()
		}
	}
	switch {
	case typ == "message" || typ == "" && role != "":
		m.Role, m.Parts, m.Slot = roleOf(role), content.parts, content.slot
	case typ == "reasoning":
		m.Role, m.Parts = dialect.Assistant, append(summary.parts, content.parts...)
		for i := range m.Parts {
			m.Parts[i].Kind = dialect.ReasoningPart
		}
	case answersCall(typ):
		m.Role, m.Parts, m.Slot = dialect.Tool, output.parts, output.slot
		for i := range m.Parts {
			m.Parts[i].CallID, m.Parts[i].Failed = m.CallID, failed
		}
	case callName(typ) != "":
		m.Role = dialect.Assistant
		m.Calls = []dialect.Call{{ID: m.CallID, Name: nameOf(typ, m.Name), Arguments: call.text()}}
		m.CallID, m.Name = "", ""
	default:
		m.Role = dialect.Unknown
	}
	return m
}

func roleOf(word string) dialect.Role {
	switch word {
	case "system":
		return dialect.System
	case "developer":
		return dialect.Developer
	case "user":
		return dialect.User
	case "assistant":
		return dialect.Assistant
	default:
		return dialect.Unknown
	}
}

// answersCall says whether an item is what the client's side says to a call:
// its output, or a person's yes or no to it.
func answersCall(typ string) bool {
	return strings.HasSuffix(typ, "_output") || typ == "mcp_approval_response"
}

// callName is the tool of a call that has no other name: web_search of a
// web_search_call. It is empty for an item that is no call.
func callName(typ string) string {
	name, ok := strings.CutSuffix(typ, "_call")
	if !ok {
		return ""
	}
	return name
}

func nameOf(typ, name string) string {
	if name != "" {
		return name
	}
	return callName(typ)
}

// callText is what a call says, under whichever name: a string, or another
// value as it stands.
type callText []byte

// take takes the next value, if it is the first of the call that says something.
func (t *callText) take(c *scan.Cursor, doc []byte) {
	if len(*t) > 0 || c.Peek() == scan.Null {
		c.Skip()
		return
	}
	start, end := c.Skip()
	*t = doc[start:end]
}

func (t callText) text() string {
	if len(t) > 0 && t[0] == '"' {
		return scan.Unquote(t)
	}
	return string(t)
}
