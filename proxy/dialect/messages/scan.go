package messages

import (
	"fmt"
	"slices"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// Names that may stand once alone, as bits of a set. Each object has a set of
// its own.
const (
	onceMessages = iota
	onceSystem
	onceModel
	onceStream
	onceTools
	onceToolChoice
	onceOutputConfig
	onceOutputFormat
	onceMaxTokens
	onceMetadata
	onceSessionID
)

const (
	onceRole = iota
	onceContent
)

const (
	onceType = iota
	onceText
	onceID
	onceName
	onceInput
	onceToolUseID
	onceResult
	onceIsError
)

// scanner fills one request from one body.
type scanner struct {
	*scan.Cursor
	req *dialect.Request
	// parts holds the parts of all messages: one growing slice costs less than
	// one a message.
	parts []dialect.Part
}

// Scan reads a request body, see [dialect.Dialect].
func (Dialect) Scan(body []byte) (*dialect.Request, error) {
	s := scanner{Cursor: scan.New(body), req: &dialect.Request{Body: body}}
	// The system prompt may stand behind the messages, and comes first anyway.
	s.req.Messages = append(s.req.Messages, dialect.Message{})
	s.request()
	if err := s.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", dialect.ErrUnknown, err)
	}
	if len(s.req.Messages) == 1 {
		return nil, fmt.Errorf("%w: no messages", dialect.ErrUnknown)
	}
	if s.req.Messages[0].Role == "" {
		s.req.Messages = s.req.Messages[1:]
	}
	return s.req, nil
}

func (s *scanner) request() {
	var seen uint64
	req := s.req
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "messages":
			s.Once(&seen, onceMessages)
			for s.Array(); s.Element(); {
				req.Messages = append(reserve(s, req.Messages), s.message())
			}
		case "system":
			s.Once(&seen, onceSystem)
			s.system()
		case "model":
			s.Once(&seen, onceModel)
			req.Model = s.Text()
		case "stream":
			s.Once(&seen, onceStream)
			req.Stream = s.True()
		case "tools":
			s.Once(&seen, onceTools)
			s.tools()
		case "tool_choice":
			s.Once(&seen, onceToolChoice)
			s.toolChoice()
		case "output_config":
			s.Once(&seen, onceOutputConfig)
			s.within("format", s.format)
		case "output_format": // the beta's name of output_config.format
			s.Once(&seen, onceOutputFormat)
			s.format()
		case "max_tokens":
			s.Once(&seen, onceMaxTokens)
			req.MaxTokens = s.maxTokens()
		case "metadata":
			s.Once(&seen, onceMetadata)
			req.Metadata = s.texts()
		case "session_id": // gateways take it here
			s.Once(&seen, onceSessionID)
			req.SessionID = s.Text()
		default:
			s.Skip()
		}
	}
}

// system takes the system prompt, a string or an array of parts.
func (s *scanner) system() {
	first := len(s.parts)
	if s.content(nil).End > 0 {
		s.req.Messages[0] = dialect.Message{Role: dialect.System, Parts: s.since(first)}
	}
}

// since are the parts that were taken since there were first of them.
func (s *scanner) since(first int) []dialect.Part {
	n := len(s.parts)
	if n == first {
		return nil
	}
	return s.parts[first:n:n]
}

// reserve makes room for one more, and when it must grow, for as many as the
// rest of the body will hold if it goes on like this.
func reserve[T any](s *scanner, all []T) []T {
	n := len(all)
	if n < cap(all) {
		return all
	}
	rest := len(s.req.Body) - s.Pos()
	more := n * rest / (s.Pos() + 1)
	return slices.Grow(all, min(max(more+more/8, n/2, 4), 8*n+8))
}

// texts takes an object and keeps its members that are strings. A name that
// stands twice is a fault: it may say who the user is.
func (s *scanner) texts() map[string]string {
	if s.Peek() != scan.Object {
		s.Skip()
		return nil
	}
	var all map[string]string
	for s.Object(); s.Member(); {
		name := string(s.Name())
		lit, _ := s.Literal()
		if lit == nil {
			continue
		}
		if _, twice := all[name]; twice {
			s.Fail("duplicate key")
		}
		if all == nil {
			all = make(map[string]string)
		}
		all[name] = dialect.Unquote(lit)
	}
	return all
}
