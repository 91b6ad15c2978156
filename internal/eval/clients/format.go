package clients

import (
	"encoding/json"
	"net/http"
	"strings"
)

// format is what the replay must know of one wire format. Each has a file of
// its own.
type format interface {
	// suffix ends the path of its requests.
	suffix() string
	// answer is what the upstream says to the conversation's request i: what
	// the client's own later history says that it said, else the text own. Its
	// form is for write alone.
	answer(c Conversation, i int, own string) json.RawMessage
	// write answers request n of the replay, as JSON or as a stream.
	write(w http.ResponseWriter, answer json.RawMessage, n int, stream bool)
	// person is the user that a body names, by the captures' own rule; "" for
	// nobody.
	person(body []byte) string
	// answered says whether the history in a body holds an answer, or refers to
	// one.
	answered(body []byte) bool
}

// formatOf is the format of a request, nil where memory doesn't look at it.
func formatOf(r Request) format {
	path, _, _ := strings.Cut(r.Path, "?")
	if r.Method != http.MethodPost {
		return nil
	}
	for _, f := range []format{chat{}, messages{}, responses{}} {
		if strings.HasSuffix(path, f.suffix()) {
			return f
		}
	}
	return nil
}

// nextMessage is the assistant message that follows the messages of request i
// in a later request of its kind, nil if there is none.
func nextMessage(c Conversation, i int) json.RawMessage {
	mine := messagesOf(c.Requests[i])
	for _, later := range c.Requests[i+1:] {
		theirs := messagesOf(later)
		if len(theirs) <= len(mine) || later.Kind != c.Requests[i].Kind {
			continue
		}
		var m struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(theirs[len(mine)], &m) == nil && m.Role == "assistant" {
			return fill(theirs[len(mine)])
		}
	}
	return nil
}

func messagesOf(r Request) []json.RawMessage {
	var b struct {
		Messages []json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(r.Body, &b) // of another format: no messages
	return b.Messages
}

// hasAssistant says whether one of a body's messages is the model's.
func hasAssistant(body []byte) bool {
	var b struct {
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(body, &b) // of another format: no messages
	for _, m := range b.Messages {
		if m.Role == "assistant" {
			return true
		}
	}
	return false
}
