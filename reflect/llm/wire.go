package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Dialect is a wire format, by the name that sessions have it under.
type Dialect string

// The dialects.
const (
	Chat      Dialect = "chat"
	Responses Dialect = "responses"
	Messages  Dialect = "messages"
)

// wire is how one dialect asks and answers. whole reads an answer that came in
// one piece, event one server-sent event of it; they say whether the model has
// finished.
type wire struct {
	path    string // behind the base's /v1
	headers map[string]string
	forms   []Form // the best first
	compose func(model string, r Request, f Form) map[string]any
	whole   func(raw []byte, a *Answer) error
	event   func(data []byte, a *Answer) (finished bool, err error)
}

// speaking is how a dialect is spoken.
func speaking(d Dialect) (wire, bool) {
	switch d {
	case Chat:
		return wire{
			path: "/chat/completions", forms: []Form{BySchema, ByObject, ByTool, ByWords},
			compose: composeChat, whole: wholeChat, event: eventChat,
		}, true
	case Responses:
		return wire{
			path: "/responses", forms: []Form{BySchema, ByObject, ByTool, ByWords},
			compose: composeResponses, whole: wholeResponses, event: eventResponses,
		}, true
	case Messages:
		return wire{
			path: "/messages", forms: []Form{ByTool, ByWords}, headers: map[string]string{"Anthropic-Version": "2023-06-01"},
			compose: composeMessages, whole: wholeMessages, event: eventMessages,
		}, true
	}
	return wire{}, false
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

var (
	errFault  = errors.New("the server broke the answer off with an error")
	errNoJSON = errors.New("the answer is no JSON document")
)

// address is where a dialect is spoken under a base, with one /v1.
func address(base, path string) string {
	at, query, _ := strings.Cut(base, "?")
	at = strings.TrimRight(at, "/")
	switch {
	case strings.HasSuffix(at, path):
	case strings.HasSuffix(at, "/v1"), strings.Contains(at, "/openai/deployments/"):
		at += path
	default:
		at += "/v1" + path
	}
	if query != "" {
		return at + "?" + query
	}
	return at
}

func readWhole(r io.Reader, d wire, a *Answer, limit int) error {
	raw, err := io.ReadAll(io.LimitReader(r, int64(limit)*8))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	return d.whole(raw, a)
}

// readStream reads server-sent events. A stream that ends without the model
// having finished is an error: half an answer reads like a whole one.
func readStream(r io.Reader, d wire, a *Answer, limit int) error {
	in := bufio.NewReaderSize(r, 32<<10)
	finished := false
	looked := 0
	for len(a.Text)+len(a.args) < limit {
		if n := len(a.Text) + len(a.args); n > looked+loopStep {
			if looked = n; loops(a.Text) || loops(a.args) {
				break
			}
		}
		line, err := in.ReadBytes('\n')
		if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("data:")); ok {
			data = bytes.TrimSpace(data)
			if string(data) == "[DONE]" {
				return nil
			}
			if json.Valid(data) { // what isn't JSON is no piece of the answer
				end, err := d.event(data, a)
				if err != nil {
					return err
				}
				finished = finished || end
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) && finished:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		default:
			return fmt.Errorf("read the answer: %w", err)
		}
	}
	a.Cut = true // a model that loops: what it said first may be good
	return nil
}

// A model that loops says one thing over and over until somebody stops it, which a
// small one does for as long as its context lasts.
const (
	loopStep  = 1 << 10 // bytes between two looks
	loopPiece = 192     // bytes that are said again
	loopTimes = 4
)

// loops says whether an answer's end has been said several times before.
func loops(s string) bool {
	if len(s) < loopPiece*loopTimes {
		return false
	}
	at := len(s) - loopPiece
	return strings.Count(s[:at], s[at:]) >= loopTimes-1
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}
