// Package chat is the dialect of OpenAI's chat completions, which most servers
// and gateways speak, Azure's deployments path included. Hand a request's body
// to [Dialect.Scan]; give the result with the blocks that it shall carry to
// [Dialect.Splice]; give what came back to [Dialect.ReadAnswer].
//
// A scan vouches for the whole body or for nothing: what isn't JSON, or holds
// twice a key that decides what a message says, is an error, because two
// readers could take it for two different requests. What it doesn't know it
// steps over, and a splice copies it as it came.
package chat

import (
	"bytes"
	"net/http"

	"hindsight/proxy/dialect"
	"hindsight/proxy/dialect/scan"
)

// Dialect implements [dialect.Dialect] for chat completions.
type Dialect struct{}

var _ dialect.Dialect = Dialect{}

// Name is "chat".
func (Dialect) Name() string { return "chat" }

// Ended says whether the end of tail holds the line "data: [DONE]". Hand it the
// last 32 bytes or more; the beginning of a short tail counts as the beginning
// of a line, and the line needs no end yet, because some clients stop reading
// right there. It is asked after every read, so it looks at no more than that.
func (Dialect) Ended(tail []byte) bool {
	const looked = 64
	long := len(tail) > looked
	if long {
		tail = tail[len(tail)-looked:]
	}
	i := bytes.LastIndex(tail, []byte("[DONE]"))
	if i < 0 {
		return false
	}
	line, ok := bytes.CutSuffix(bytes.TrimSuffix(tail[:i], []byte(" ")), []byte("data:"))
	if !ok {
		return false
	}
	if len(line) == 0 {
		return !long
	}
	return line[len(line)-1] == '\n' || line[len(line)-1] == '\r'
}

// Error is OpenAI's error document. An empty code is null there.
func (Dialect) Error(status int, code, message string) []byte {
	b := append([]byte(nil), `{"error":{"message":`...)
	b = scan.AppendQuoted(b, message)
	b = append(b, `,"type":`...)
	b = scan.AppendQuoted(b, errorType(status))
	b = append(b, `,"param":null,"code":`...)
	if code == "" {
		b = append(b, "null"...)
	} else {
		b = scan.AppendQuoted(b, code)
	}
	return append(b, "}}"...)
}

// errorType is the word that OpenAI's libraries know for a status.
func errorType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= 500:
		return "server_error"
	default:
		return "invalid_request_error"
	}
}
