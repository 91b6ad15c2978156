package responses

import (
	"fmt"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// Names that may stand once alone, as bits of a set. Each object has a set of
// its own.
const (
	onceInput = iota
	onceInstructions
	onceModel
	onceStream
	onceTools
	onceText
	onceToolChoice
	onceMaxOutputTokens
	oncePrevious
	onceConversation
	onceUser
	onceSafetyIdentifier
	oncePromptCacheKey
	onceSessionID
	onceMetadata
	onceClientMetadata
	onceStore
	onceBackground
)

// scanner fills one request from one body.
type scanner struct {
	*scan.Cursor
	req *dialect.Request
	// parts holds the parts of all items: one growing slice costs less than one
	// an item.
	parts  []dialect.Part
	prompt bool // the words come from a prompt that the provider keeps
}

// Scan reads a request body, see [dialect.Dialect]. A request that leaves its
// words to the provider (a stored prompt, a conversation that only goes on) has
// no messages.
func (Dialect) Scan(body []byte) (*dialect.Request, error) {
	s := scanner{Cursor: scan.New(body), req: &dialect.Request{Body: body, Store: true}}
	instructions := s.request()
	if err := s.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", dialect.ErrUnknown, err)
	}
	req := s.req
	if len(req.Messages) == 0 && !s.prompt && req.PreviousResponseID == "" && req.Conversation == "" {
		return nil, fmt.Errorf("%w: no input", dialect.ErrUnknown)
	}
	if instructions != nil {
		// They may stand anywhere in the body, and count before all.
		req.Messages = append(req.Messages, dialect.Message{})
		copy(req.Messages[1:], req.Messages)
		req.Messages[0] = *instructions
	}
	return req, nil
}

// request takes the body and returns its instructions as a message, nil if it
// has none.
func (s *scanner) request() (instructions *dialect.Message) {
	var seen uint64
	req := s.req
	for s.Object(); s.Member(); {
		switch string(s.Name()) {
		case "input":
			s.Once(&seen, onceInput)
			s.input()
		case "instructions":
			s.Once(&seen, onceInstructions)
			if lit, at := s.Literal(); lit != nil {
				instructions = &dialect.Message{Role: dialect.System, Parts: []dialect.Part{text(lit, at)}}
			}
		case "model":
			s.Once(&seen, onceModel)
			req.Model = s.Text()
		case "stream":
			s.Once(&seen, onceStream)
			req.Stream = s.True()
		case "tools":
			s.Once(&seen, onceTools)
			s.tools()
		case "text":
			s.Once(&seen, onceText)
			s.within("format", s.format)
		case "tool_choice":
			s.Once(&seen, onceToolChoice)
			s.toolChoice()
		case "max_output_tokens":
			s.Once(&seen, onceMaxOutputTokens)
			if n, ok := s.Int(); ok && n > 0 {
				req.MaxTokens = n
			}
		case "previous_response_id":
			s.Once(&seen, oncePrevious)
			req.PreviousResponseID = s.Text()
		case "conversation":
			s.Once(&seen, onceConversation)
			s.conversation()
		case "prompt":
			s.prompt = s.Peek() == scan.Object
			s.Skip()
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
		case "store": // a response is kept unless that is refused
			s.Once(&seen, onceStore)
			req.Store = !s.refused()
		case "background":
			s.Once(&seen, onceBackground)
			req.Background = s.True()
		default:
			s.Skip()
		}
	}
	return instructions
}
