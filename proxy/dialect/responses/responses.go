// Package responses is the dialect of OpenAI's responses API. Hand a request's
// body to [Dialect.Scan]; give the result with the blocks that it shall carry
// to [Dialect.Inserts]; give what came back to [Dialect.ReadAnswer].
//
// Every input item is a message of the request: a call of the model is one of
// the assistant's with a call in it, its output one of a tool. A string input
// is one user message. `instructions`, where they are sent, come first as a
// system message, so that whoever looks for a system text finds it; nothing
// is ever put into them. Items that only the provider can read (reasoning,
// references, compactions) keep their ids and say nothing.
//
// A scan vouches for the whole body or for nothing: what isn't JSON, or holds
// twice a key that decides what an item says, is an error, because two readers
// could take it for two different requests. What it doesn't know it steps
// over, and a splice copies it as it came.
package responses

import (
	"bytes"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/chat"
	"hindsight/proxy/sse"
)

// Dialect implements [dialect.Dialect] for the responses API.
type Dialect struct{}

var _ dialect.Dialect = Dialect{}

// Name is "responses".
func (Dialect) Name() string { return "responses" }

// Ended says whether the last event in tail is one with which a response ends.
// Such an event holds the whole response: it is recognised only if tail
// reaches back to its beginning. The blank line behind it may still be on its
// way.
func (Dialect) Ended(tail []byte) bool {
	if !bytes.HasSuffix(bytes.TrimRight(tail, "\r\n"), []byte("}")) {
		return false
	}
	last := ""
	for e := range sse.Events(lastEvent(tail)) {
		last, _ = head(e)
	}
	return ends(last)
}

// lastEvent cuts tail down to its last event, so that the events before it
// needn't be read again with each piece of a stream.
func lastEvent(tail []byte) []byte {
	end := len(bytes.TrimRight(tail, "\r\n"))
	from := 0
	for _, blank := range []string{"\n\n", "\r\n\r\n", "\r\r"} {
		if i := bytes.LastIndex(tail[:end], []byte(blank)); i >= 0 {
			from = max(from, i+len(blank))
		}
	}
	return tail[from:]
}

// ends says whether an event is a response's last one.
func ends(event string) bool {
	switch event {
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		return true
	}
	return false
}

// Error is OpenAI's error document, the same as that of chat completions.
func (Dialect) Error(status int, code, message string) []byte {
	return chat.Dialect{}.Error(status, code, message)
}
