package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// chat is OpenAI's chat completions.
type chat struct{}

func (chat) suffix() string { return "/chat/completions" }

// answer is the assistant message of the client's own history.
func (chat) answer(c Conversation, i int, own string) json.RawMessage {
	if m := nextMessage(c, i); m != nil {
		return m
	}
	text, _ := json.Marshal(own)
	return json.RawMessage(`{"role":"assistant","content":` + string(text) + `}`)
}

// person is the user that the body names.
func (chat) person(body []byte) string {
	var b struct {
		Safety string `json:"safety_identifier"`
		User   string `json:"user"`
	}
	_ = json.Unmarshal(body, &b) // not an object: no user
	if b.Safety != "" {
		return b.Safety
	}
	return b.User
}

func (chat) answered(body []byte) bool { return hasAssistant(body) }

func (chat) write(w http.ResponseWriter, msg json.RawMessage, n int, stream bool) {
	id := fmt.Sprintf("chatcmpl-replay-%d", n)
	if !stream {
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
