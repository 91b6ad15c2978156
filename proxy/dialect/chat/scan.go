package chat

import (
	"fmt"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// Names that may stand once alone, as bits of a set. Each object has a set of
// its own.
const (
	onceMessages = iota
	onceModel
	onceStream
	onceTools
	onceFunctions
	onceResponseFormat
	onceToolChoice
	onceFunctionCall
	onceMaxTokens
	onceMaxCompletionTokens
	onceUser
	onceSafetyIdentifier
	oncePromptCacheKey
	onceSessionID
	onceMetadata
	onceClientMetadata
	onceStore
)

const (
	onceRole = iota
	onceContent
	onceName
	onceID
	onceToolCalls
	onceCall
	onceToolCallID
)

const (
	onceType = iota
	onceText
	onceRefusal
	onceToolUseID
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
	s.request()
	if err := s.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", dialect.ErrUnknown, err)
	}
	if len(s.req.Messages) == 0 {
		return nil, fmt.Errorf("%w: no messages", dialect.ErrUnknown)
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
			s.messages()
		case "model":
			s.Once(&seen, onceModel)
			req.Model = s.Text()
		case "stream":
			s.Once(&seen, onceStream)
			req.Stream = s.True()
		case "tools":
			s.Once(&seen, onceTools)
			s.tools()
		case "functions":
			s.Once(&seen, onceFunctions)
			s.tools()
		case "response_format":
			s.Once(&seen, onceResponseFormat)
			s.responseFormat()
		case "tool_choice":
			s.Once(&seen, onceToolChoice)
			s.toolChoice()
		case "function_call":
			s.Once(&seen, onceFunctionCall)
			s.toolChoice()
		case "guided_json", "json_schema": // vLLM's and llama.cpp's own
			if s.Peek() == scan.Object {
				req.Structured = true
				s.schema()
			} else {
				s.demand()
			}
		case "guided_regex", "guided_choice", "guided_grammar", "structured_outputs", "grammar":
			s.demand()
		case "max_tokens":
			s.Once(&seen, onceMaxTokens)
			s.maxTokens()
		case "max_completion_tokens":
			s.Once(&seen, onceMaxCompletionTokens)
			s.maxTokens()
		case "user":
			s.Once(&seen, onceUser)
			req.User = s.Text()
		case "safety_identifier":
			s.Once(&seen, onceSafetyIdentifier)
			req.SafetyIdentifier = s.Text()
		case "prompt_cache_key":
			s.Once(&seen, oncePromptCacheKey)
			req.PromptCacheKey = s.Text()
		case "session_id":
			s.Once(&seen, onceSessionID)
			req.SessionID = s.Text()
		case "metadata":
			s.Once(&seen, onceMetadata)
			req.Metadata = s.texts()
		case "client_metadata":
			s.Once(&seen, onceClientMetadata)
			req.ClientMetadata = s.texts()
		case "store":
			s.Once(&seen, onceStore)
			req.Store = s.True()
		default:
			s.Skip()
		}
	}
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
