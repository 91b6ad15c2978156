// Package messages is the dialect of Anthropic's messages API. Hand a
// request's body to [Dialect.Scan]; give the result with the blocks that it
// shall carry to [Dialect.Inserts]; give what came back to
// [Dialect.ReadAnswer].
//
// The format differs from chat completions in what a scan makes of it:
//   - The system prompt stands beside the messages. It becomes the first
//     [dialect.Message] for whoever looks for it there, and never takes a
//     block. A message's index is therefore one more than in the body where
//     there is a system prompt.
//   - Tool results are parts of user messages, calls are parts of assistant
//     messages. Of a result the text alone is read.
//   - Some clients end a request with messages of role system inside the
//     messages; they are kept as such.
//
// A scan vouches for the whole body or for nothing, as that of chat does.
// Nothing here makes, moves or counts a cache_control: what the client marked
// stays marked, and a block is never marked.
package messages

import (
	"bytes"
	"net/http"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
	"hindsight/proxy/sse"
)

// Dialect implements [dialect.Dialect] for messages.
type Dialect struct{}

var _ dialect.Dialect = Dialect{}

// Name is "messages".
func (Dialect) Name() string { return "messages" }

// Ended says whether tail holds the event message_stop. Hand it the last 256
// bytes or more; the beginning of tail counts as the beginning of a line, and
// the event needs no blank line yet, because a client that reads by line has
// seen it.
func (Dialect) Ended(tail []byte) bool {
	if !bytes.Contains(tail, []byte(messageStop)) {
		return false // spares nearly every read the rest
	}
	for e := range sse.Events(tail) {
		for ev := range eventsIn(e.Data) {
			if ev.kind == messageStop {
				return true
			}
		}
	}
	return false
}

// Error is Anthropic's error document, which has no place for a code.
func (Dialect) Error(status int, _, message string) []byte {
	b := append([]byte(nil), `{"type":"error","error":{"type":`...)
	b = scan.AppendQuoted(b, errorType(status))
	b = append(b, `,"message":`...)
	b = scan.AppendQuoted(b, message)
	return append(b, "}}"...)
}

// errorType is the word that Anthropic's libraries know for a status.
func errorType(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case 529: // Anthropic's own
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}
