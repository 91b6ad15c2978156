// Package dialect holds what the proxy must know of a wire format: where the
// turns are, where a block may go and how an answer reads. One subpackage a
// format implements [Dialect]. Requests are scanned, never unmarshalled: a
// [Request] holds slices into the body that it was scanned from, and a splice
// copies every other byte as it came.
package dialect

import (
	"bytes"
	"errors"
	"strings"

	"hindsight/proxy/dialect/scan"
)

// ErrUnknown says that a body is not of a shape that the scanner can vouch
// for: not JSON, no messages, duplicate keys where they matter. Such a body is
// forwarded as it came.
var ErrUnknown = errors.New("body of an unknown shape")

// Dialect is one wire format. Implementations hold no state and are safe for
// concurrent use.
type Dialect interface {
	// Name is the dialect's name in records and logs: chat, responses, messages.
	Name() string
	// Scan reads a request body. The result points into body, which must not
	// change while it is used. The error wraps [ErrUnknown] and says what the
	// scanner met; the body's text is never part of it.
	Scan(body []byte) (*Request, error)
	// Inserts says which bytes go where, so that each block stands at the head
	// (or tail) of its message; everything else stays byte-identical. They come
	// in the order of their places, no two at one. An error means that a message
	// can't take a block.
	Inserts(req *Request, blocks []Block, opt SpliceOptions) ([]Insert, error)
	// ReadAnswer reads a whole or cut answer: JSON, or an event stream when
	// stream is set. It never fails: what it can't read it leaves out.
	ReadAnswer(raw []byte, stream bool) Answer
	// Ended says whether tail, the last bytes of an event stream so far, holds
	// the format's own end mark, after which a client may stop reading.
	Ended(tail []byte) bool
	// Error is the body of an error of ours in the format's own shape.
	Error(status int, code, message string) []byte
}

// Block is a text to insert into the message at index Message.
type Block struct {
	Message int
	Text    string
}

// Insert is a piece to put into a body before its byte At.
type Insert struct {
	At    int
	Bytes []byte
}

// Splice is the body with the inserts, as the pieces that it is made of: the
// body is shared, not copied.
func Splice(body []byte, inserts []Insert) [][]byte {
	pieces := make([][]byte, 0, 2*len(inserts)+1)
	done := 0
	for _, in := range inserts {
		pieces = append(pieces, body[done:in.At], in.Bytes)
		done = in.At
	}
	return append(pieces, body[done:])
}

// SpliceOptions say where in its message a block goes (see the configuration:
// inject.position, inject.array).
type SpliceOptions struct {
	// Tail puts the block behind the client's text; default is its head.
	Tail bool
	// Inline inserts into an existing text part of an array instead of adding
	// a part.
	Inline bool
}

// Role is a message's role, normalised over the dialects.
type Role string

// The roles. A tool result that its dialect sends inside a user message is a
// part of kind ToolResultPart there.
const (
	System    Role = "system"
	Developer Role = "developer"
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
	Unknown   Role = "unknown" // kept, never touched
)

// Request is what a scanner saw. Zero values mean absent. It is for one goroutine
// at a time: its texts are decoded when somebody asks for them.
type Request struct {
	Body     []byte
	Model    string
	Stream   bool
	Messages []Message

	HasTools   bool
	Structured bool // JSON demanded (response_format) or a tool forced
	// SchemaKeys are the top-level properties of a demanded JSON schema.
	SchemaKeys []string
	MaxTokens  int // the least of max_tokens, max_completion_tokens, max_output_tokens

	// Identity signals of the body, as sent.
	User, SafetyIdentifier, PromptCacheKey, SessionID string
	PreviousResponseID, Conversation                  string
	Metadata, ClientMetadata                          map[string]string
	Store                                             bool
	Background                                        bool
}

// Message is one item of the history.
type Message struct {
	Role   Role
	Name   string // the `name` of a chat message
	ID     string // the item's own id, where the dialect has one
	Parts  []Part
	Calls  []Call // tool calls of an assistant message
	CallID string // which call a tool message answers

	// Slot is the dialect's own note of where a block may go.
	Slot Slot
}

// Slot is where a block may go in a message: byte offsets into the body. Only
// the dialect that made it reads it.
type Slot struct {
	Start, End int  // of the content value
	Array      bool // content is an array of parts
	First      int  // index in Parts of the text part that the block precedes, -1 if none
}

// PartKind is the kind of a content part.
type PartKind string

// The kinds of a part.
const (
	TextPart       PartKind = "text"
	ToolResultPart PartKind = "tool_result"
	BinaryPart     PartKind = "binary" // image, audio, file; Type says which
	ReasoningPart  PartKind = "reasoning"
	OtherPart      PartKind = "other"
)

// Part is one piece of a message's content. A string content is one TextPart.
type Part struct {
	Kind   PartKind
	Type   string // the wire's own word
	CallID string // of a tool result
	Failed bool   // a tool result that says it is an error
	Size   int    // bytes on the wire of a binary part
	// Start and End bound the whole part in the body (the string with its
	// quotes, or the object with its braces).
	Start, End int
	// TextAt is where the text's literal begins in the body, its quote
	// included; 0 where there is no text.
	TextAt int

	lit     []byte  // the text's JSON literal with quotes, nil if none
	decoded *string // of a literal with escapes: what it says, once somebody asked
}

// Call is one tool call of an assistant.
type Call struct {
	ID, Name  string
	Arguments string
}

// NewTextPart makes a part over a JSON string literal, quotes included.
func NewTextPart(kind PartKind, typ string, lit []byte, start, end int) Part {
	p := Part{Kind: kind, Type: typ, lit: lit, Start: start, End: end}
	if bytes.IndexByte(lit, '\\') >= 0 {
		p.decoded = new(string)
	}
	return p
}

// TextEnd is where the text's literal ends in the body.
func (p Part) TextEnd() int { return p.TextAt + len(p.lit) }

// Text is the part's text: without escapes a view of the body, else decoded once
// and kept with the part and its copies.
func (p Part) Text() string {
	if p.decoded == nil {
		return scan.Plain(p.lit)
	}
	if *p.decoded == "" { // what has an escape in it isn't empty
		*p.decoded = Unquote(p.lit)
	}
	return *p.decoded
}

// Text joins the message's text parts with newlines.
func (m Message) Text() string {
	var only string
	n := 0
	for _, p := range m.Parts {
		if p.Kind == TextPart {
			only = p.Text()
			n++
		}
	}
	if n <= 1 {
		return only
	}
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind != TextPart {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p.Text())
	}
	return b.String()
}

// Unquote decodes a JSON string literal that a scanner has found valid. A
// literal without escapes is returned as a view of the same bytes, which must
// not change afterwards.
func Unquote(lit []byte) string { return scan.Unquote(lit) }

// Answer is what an upstream's answer says, read from its bytes.
type Answer struct {
	ID    string // the provider's id of the answer
	Model string
	Text  string // of choice 0
	// Texts are the texts that make up Text, where the answer came as several
	// messages, which a client sends back one by one.
	Texts     []string
	Reasoning string
	Calls     []Call
	ItemIDs   []string // provider's ids of items, where the dialect has them
	Finish    string   // finish reason as sent
	Choices   int      // how many choices were seen
	Usage     Usage
	// Whole says that the answer came to its own end: a finish reason, the
	// end mark or a complete JSON document.
	Whole bool
}

// Usage is the upstream's own count of tokens.
type Usage struct{ Input, Output, Cached int }
