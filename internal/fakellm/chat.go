package fakellm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// chatRequest is a request of chat completions, as far as it is read.
type chatRequest struct {
	Model    string            `json:"model"`
	Stream   bool              `json:"stream"`
	Messages []json.RawMessage `json:"messages"`
	Options  struct {
		Usage bool `json:"include_usage"`
	} `json:"stream_options"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	Format struct {
		Type   string `json:"type"`
		Schema struct {
			Name string `json:"name"`
		} `json:"json_schema"`
	} `json:"response_format"`
}

func parseChat(body []byte) (request, chatRequest, error) {
	var in chatRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, in, fmt.Errorf("read the body: %w", err)
	}
	if len(in.Messages) == 0 {
		return request{}, in, errNoMessages
	}
	req := request{
		model: in.Model, stream: in.Stream, format: in.Format.Type, schema: in.Format.Schema.Name,
		raw: in.Messages, sum: sha256.Sum256(body),
	}
	for _, t := range in.Tools {
		req.tools = append(req.tools, t.Function.Name)
	}
	for _, raw := range in.Messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
			Calls   []struct {
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return req, in, fmt.Errorf("read a message: %w", err)
		}
		out := message{role: m.Role, text: textOf(m.Content)}
		for _, c := range m.Calls {
			out.calls = append(out.calls, call{c.Function.Name, c.Function.Arguments})
		}
		req.messages = append(req.messages, out)
	}
	return req, in, nil
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request, body []byte) {
	req, in, err := parseChat(body)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	rep := decide(req)
	u := s.usage(req.raw, rep.text).chat()
	if req.stream {
		if !in.Options.Usage {
			u = nil
		}
		s.streamChat(w, r, req, rep, u)
		return
	}
	msg := map[string]any{"role": "assistant", "content": rep.text}
	finish := "stop"
	if len(rep.calls) > 0 {
		msg["content"], msg["tool_calls"], finish = nil, chatCalls(req, rep, false), "tool_calls"
	}
	if rep.thought != "" {
		msg["reasoning_content"] = rep.thought
	}
	s.answer(w, r, map[string]any{
		"id": req.id("chatcmpl-"), "object": "chat.completion", "created": time.Now().Unix(), "model": req.model,
		"choices": []any{map[string]any{"index": 0, "message": msg, "finish_reason": finish}},
		"usage":   u,
	})
}

func chatCalls(req request, rep reply, stream bool) []any {
	var out []any
	for i, c := range rep.calls {
		v := map[string]any{
			"id": req.callID("call_", i), "type": "function",
			"function": map[string]any{"name": c.name, "arguments": c.arguments},
		}
		if stream {
			v["index"] = i
		}
		out = append(out, v)
	}
	return out
}

// streamChat streams an answer; usage is nil where the client doesn't want it.
func (s *Server) streamChat(w http.ResponseWriter, r *http.Request, req request, rep reply, usage map[string]any) {
	e := s.events(w, r)
	created := time.Now().Unix()
	chunk := func(choices ...any) map[string]any {
		return map[string]any{"id": req.id("chatcmpl-"), "object": "chat.completion.chunk", "created": created, "model": req.model, "choices": choices}
	}
	send := func(delta map[string]any, finish any) {
		e.send("", chunk(map[string]any{"index": 0, "delta": delta, "finish_reason": finish}))
	}
	send(map[string]any{"role": "assistant", "content": ""}, nil)
	for _, piece := range pieces(rep.thought) {
		send(map[string]any{"reasoning_content": piece}, nil)
	}
	finish := "stop"
	if len(rep.calls) > 0 {
		finish = "tool_calls"
		send(map[string]any{"tool_calls": chatCalls(req, rep, true)}, nil)
	}
	for _, piece := range pieces(rep.text) {
		send(map[string]any{"content": piece}, nil)
	}
	send(map[string]any{}, finish)
	if usage != nil {
		last := chunk()
		last["choices"], last["usage"] = []any{}, usage
		e.send("", last)
	}
	if !e.gone {
		_, _ = fmt.Fprint(w, "data: [DONE]\n\n") // nothing to do for a client that has gone
	}
}
