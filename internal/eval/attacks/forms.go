package attacks

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"
)

// Form is the dialect in which the conversations are played.
type Form string

// The dialects.
const (
	Chat      Form = "chat"
	Responses Form = "responses"
	Messages  Form = "messages"
)

// Forms are all of them.
func Forms() []Form { return []Form{Chat, Responses, Messages} }

// formOf is the dialect of a path.
func formOf(path string) Form {
	switch {
	case strings.HasSuffix(path, "/responses"):
		return Responses
	case strings.HasSuffix(path, "/messages"):
		return Messages
	}
	return Chat
}

func (f Form) path() string {
	return map[Form]string{Chat: "/v1/chat/completions", Responses: "/v1/responses", Messages: "/v1/messages"}[f]
}

// head are the headers of a request.
func (f Form) head() []string {
	if f == Messages {
		return []string{"x-api-key: eval", "anthropic-version: 2023-06-01"}
	}
	return []string{"Authorization: Bearer eval"}
}

// request is a request's body; the conversation goes with every one.
func (f Form) request(model string, history []any) map[string]any {
	switch f {
	case Responses:
		return map[string]any{"model": model, "input": history, "store": false}
	case Messages:
		return map[string]any{"model": model, "messages": history, "max_tokens": 1024}
	}
	return map[string]any{"model": model, "messages": history}
}

func said(role, text string) map[string]any { return map[string]any{"role": role, "content": text} }

// line is what a client sends for a line; call is the one that a tool answers.
func (f Form) line(l Line, call string) any {
	if l.Role != "tool" {
		return said(l.Role, l.Text)
	}
	switch f {
	case Responses:
		return map[string]any{"type": "function_call_output", "call_id": call, "output": l.Text}
	case Messages:
		return map[string]any{"role": "user", "content": []any{map[string]any{"type": "tool_result", "tool_use_id": call, "content": l.Text}}}
	}
	return map[string]any{"role": "tool", "tool_call_id": call, "content": l.Text}
}

// reply is an answer's body: a text, or the call of a tool.
func (f Form) reply(model, text, call string) map[string]any {
	const tool = "look_up"
	arguments := map[string]string{"of": call}
	asText := func() string { return `{"of":"` + call + `"}` }
	switch f {
	case Responses:
		item := map[string]any{"type": "message", "id": "msg_" + rand.Text(), "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": text, "annotations": []any{}}}}
		if call != "" {
			item = map[string]any{"type": "function_call", "id": "fc_" + rand.Text(), "call_id": call, "name": tool, "arguments": asText(), "status": "completed"}
		}
		return map[string]any{"id": "resp_" + rand.Text(), "object": "response", "status": "completed", "model": model, "output": []any{item},
			"usage": map[string]int{"input_tokens": 9, "output_tokens": 9, "total_tokens": 18}}
	case Messages:
		part, stop := map[string]any{"type": "text", "text": text}, "end_turn"
		if call != "" {
			part, stop = map[string]any{"type": "tool_use", "id": call, "name": tool, "input": arguments}, "tool_use"
		}
		return map[string]any{"id": "msg_" + rand.Text(), "type": "message", "role": "assistant", "model": model, "content": []any{part}, "stop_reason": stop,
			"usage": map[string]int{"input_tokens": 9, "output_tokens": 9}}
	}
	message := said("assistant", text)
	if call != "" {
		function := map[string]string{"name": tool, "arguments": asText()}
		message["content"], message["tool_calls"] = nil, []any{map[string]any{"id": call, "type": "function", "function": function}}
	}
	return map[string]any{"id": "chatcmpl-" + model, "object": "chat.completion", "model": model,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}}
}

// answered is what of an answer goes into the history.
func (f Form) answered(raw []byte) ([]any, error) {
	var v struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
		} `json:"choices"`
		Output  []json.RawMessage `json:"output"`
		Content json.RawMessage   `json:"content"`
	}
	err := json.Unmarshal(raw, &v)
	var out []any
	for _, c := range v.Choices {
		out = append(out, c.Message)
	}
	for _, item := range v.Output {
		out = append(out, item)
	}
	if v.Content != nil {
		out = append(out, map[string]any{"role": "assistant", "content": v.Content})
	}
	if err != nil || len(out) == 0 {
		return nil, fmt.Errorf("read the answer: %w: %s", err, raw)
	}
	return out, nil
}

// asked is what is read of a request, in whatever dialect.
type asked struct {
	Model    string `json:"model"`
	Messages []item `json:"messages"`
	Input    items  `json:"input"`
}

type item struct {
	Role    string          `json:"role"`
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
}

// items are a Responses request's, which may be one text.
type items []item

// UnmarshalJSON implements [json.Unmarshaler].
func (i *items) UnmarshalJSON(b []byte) error {
	if b[0] == '"' {
		*i = items{{Role: "user", Content: append(json.RawMessage{}, b...)}}
		return nil
	}
	return json.Unmarshal(b, (*[]item)(i))
}

func (a asked) history() []item { return append(a.Messages, a.Input...) }

// fromClient says whether a line is the user's, or the result of a tool.
func (i item) fromClient() bool {
	return i.Role == "user" || i.Role == "tool" || i.Type == "function_call_output"
}
