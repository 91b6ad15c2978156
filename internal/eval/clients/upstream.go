package clients

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// Upstream answers each replayed request with what the client's own history
// says the model answered, so that the next captured request fits. It is the
// upstream of the proxy under test.
type Upstream struct {
	mu   sync.Mutex
	next json.RawMessage // the assistant message to answer with
	n    int
}

// script sets the answer to the next request: the assistant message that
// follows the request's messages in a later request of its conversation, or a
// text of its own.
func (u *Upstream) script(c Conversation, i int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n++
	own, _ := json.Marshal(fmt.Sprintf("Answer %d of the replay.", u.n))
	u.next = json.RawMessage(`{"role":"assistant","content":` + string(own) + `}`)
	mine := messages(c.Requests[i])
	for _, later := range c.Requests[i+1:] {
		theirs := messages(later)
		if len(theirs) <= len(mine) || later.Kind != c.Requests[i].Kind {
			continue
		}
		var m struct {
			Role string `json:"role"`
		}
		if json.Unmarshal(theirs[len(mine)], &m) == nil && m.Role == "assistant" {
			u.next = fill(theirs[len(mine)])
			return
		}
	}
}

func messages(r Request) []json.RawMessage {
	var b struct {
		Messages []json.RawMessage `json:"messages"`
	}
	_ = json.Unmarshal(r.Body, &b) // not a chat completion: no messages
	return b.Messages
}

// ServeHTTP answers with the scripted message, as JSON or as a stream.
func (u *Upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	var req struct {
		Stream bool `json:"stream"`
	}
	_ = json.Unmarshal(raw, &req) // a GET has no body
	u.mu.Lock()
	msg, n := u.next, u.n
	u.mu.Unlock()
	id := fmt.Sprintf("chatcmpl-replay-%d", n)
	if !req.Stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"id":%q,"object":"chat.completion","model":"replay","choices":[{"index":0,"message":%s,"finish_reason":"stop"}]}`, id, msg)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: {\"id\":%q,\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":null}]}\n\n", id, delta(msg))
	fmt.Fprintf(w, "data: {\"id\":%q,\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", id)
}

// delta is a message as the delta of one chunk: tool calls get an index, text
// parts become a string.
func delta(msg json.RawMessage) []byte {
	var m map[string]any
	if json.Unmarshal(msg, &m) != nil {
		return msg
	}
	if calls, ok := m["tool_calls"].([]any); ok {
		for i, c := range calls {
			if call, ok := c.(map[string]any); ok {
				call["index"] = i
			}
		}
	}
	if parts, ok := m["content"].([]any); ok {
		text := ""
		for _, p := range parts {
			if part, ok := p.(map[string]any); ok {
				s, _ := part["text"].(string)
				text += s
			}
		}
		m["content"] = text
	}
	out, _ := json.Marshal(m) // it was JSON before
	return out
}
