package fakellm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"

	"hindsight/store"
)

// messagesRequest is a request of Anthropic's messages, as far as it is read.
type messagesRequest struct {
	Model     string            `json:"model"`
	Stream    bool              `json:"stream"`
	MaxTokens int               `json:"max_tokens"`
	System    json.RawMessage   `json:"system"`
	Messages  []json.RawMessage `json:"messages"`
	Tools     []struct {
		Name string `json:"name"`
	} `json:"tools"`
	Output struct {
		Format struct {
			Type string `json:"type"`
		} `json:"format"`
	} `json:"output_config"`
}

// contentBlock is a block of a message's content.
type contentBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Result    string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
}

func parseMessages(body []byte) (request, messagesRequest, error) {
	var in messagesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, in, fmt.Errorf("read the body: %w", err)
	}
	if len(in.Messages) == 0 {
		return request{}, in, errNoMessages
	}
	req := request{model: in.Model, stream: in.Stream, format: in.Output.Format.Type, sum: sha256.Sum256(body)}
	if len(in.System) > 0 {
		req.raw = append(req.raw, in.System)
		req.messages = append(req.messages, message{role: "system", text: textOf(in.System)})
	}
	for _, t := range in.Tools {
		req.tools = append(req.tools, t.Name)
	}
	var open map[string]bool // the calls that the last message left open
	for i, raw := range in.Messages {
		var m struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		}
		if err := json.Unmarshal(raw, &m); err != nil {
			return req, in, fmt.Errorf("messages.%d: %w", i, err)
		}
		blocks, err := blocksOf(m.Content)
		if err == nil {
			open, err = closes(open, m.Role, blocks)
		}
		if err != nil {
			return req, in, fmt.Errorf("messages.%d: %w", i, err)
		}
		req.raw = append(req.raw, raw)
		req.messages = append(req.messages, ofBlocks(m.Role, blocks)...)
	}
	if n := markers(body); n > 4 {
		return req, in, fmt.Errorf("a maximum of 4 blocks with cache_control may be provided, found %d", n)
	}
	return req, in, nil
}

func blocksOf(content json.RawMessage) ([]contentBlock, error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []contentBlock{{Type: "text", Text: text}}, nil
	}
	var blocks []contentBlock
	if err := json.Unmarshal(content, &blocks); err != nil {
		return nil, fmt.Errorf("read the content: %w", err)
	}
	for _, b := range blocks {
		switch {
		case b.Type == "text" && b.Text == "":
			return nil, fmt.Errorf("text content blocks must be non-empty")
		case b.Type == "thinking" && b.Signature != seal(b.Thinking):
			return nil, fmt.Errorf("invalid signature in thinking block")
		}
	}
	return blocks, nil
}

// closes holds a message against Anthropic's law: the results of all calls of
// a message stand at the beginning of the next one. It returns the calls that
// this message leaves open. A system message between them is no answer.
func closes(open map[string]bool, role string, blocks []contentBlock) (map[string]bool, error) {
	if role == "system" {
		return open, nil
	}
	calls := map[string]bool{}
	begun := false // something else than a result has come
	for _, b := range blocks {
		switch b.Type {
		case "tool_result":
			if begun || !open[b.Result] {
				return nil, fmt.Errorf("unexpected tool_use_id found in tool_result blocks: %s", b.Result)
			}
			delete(open, b.Result)
			continue
		case "tool_use":
			calls[b.ID] = true
		}
		begun = true
	}
	for id := range open {
		return nil, fmt.Errorf("tool_use ids were found without tool_result blocks immediately after: %s", id)
	}
	return calls, nil
}

// ofBlocks is a message as the rules see it: each tool result first, as one of
// its own.
func ofBlocks(role string, blocks []contentBlock) []message {
	var out []message
	m := message{role: role}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			if m.text != "" {
				m.text += "\n"
			}
			m.text += b.Text
		case "tool_use":
			m.calls = append(m.calls, call{b.Name, string(b.Input)})
		case "tool_result":
			out = append(out, message{role: "tool", text: textOf(b.Content)})
		}
	}
	if m.text != "" || len(m.calls) > 0 || len(out) == 0 {
		out = append(out, m)
	}
	return out
}

// markers counts the blocks with cache_control, wherever they stand.
func markers(body []byte) int {
	var count func(v any) int
	count = func(v any) int {
		n := 0
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				n += count(e)
			}
		case map[string]any:
			if v["cache_control"] != nil {
				n++
			}
			for name, e := range v {
				if name != "input" && name != "input_schema" {
					n += count(e)
				}
			}
		}
		return n
	}
	var v any
	_ = json.Unmarshal(body, &v) // it was read before
	return count(v)
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request, body []byte) {
	req, in, err := parseMessages(body)
	if err == nil && in.MaxTokens < 1 {
		err = fmt.Errorf("max_tokens: Field required")
	}
	if err != nil {
		failMessages(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	rep := decide(req)
	u := s.usage(req.raw, rep.text)
	if req.stream {
		s.streamMessages(w, r, req, rep, u)
		return
	}
	v := envelope(req, u)
	v["content"], v["stop_reason"] = contentOf(req, rep), stopReason(rep)
	s.answer(w, r, v)
}

func (s *Server) countTokens(w http.ResponseWriter, body []byte) {
	req, _, err := parseMessages(body)
	if err != nil {
		failMessages(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	n := 0
	for _, raw := range req.raw {
		n += store.Tokens(string(raw))
	}
	writeJSON(w, http.StatusOK, map[string]any{"input_tokens": n})
}

func envelope(req request, u usage) map[string]any {
	return map[string]any{
		"id": req.id("msg_"), "type": "message", "role": "assistant", "model": req.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": u.messages(),
	}
}

func stopReason(rep reply) string {
	if len(rep.calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

// contentOf is the answer's blocks: the thought, the text, the calls.
func contentOf(req request, rep reply) []map[string]any {
	out := []map[string]any{}
	if rep.thought != "" {
		out = append(out, map[string]any{"type": "thinking", "thinking": rep.thought, "signature": seal(rep.thought)})
	}
	if rep.text != "" {
		out = append(out, map[string]any{"type": "text", "text": rep.text})
	}
	for i, c := range rep.calls {
		out = append(out, map[string]any{"type": "tool_use", "id": req.callID("toolu_", i), "name": c.name, "input": json.RawMessage(c.arguments)})
	}
	return out
}

func (s *Server) streamMessages(w http.ResponseWriter, r *http.Request, req request, rep reply, u usage) {
	e := s.events(w, r)
	send := func(name string, v map[string]any) {
		v["type"] = name
		e.send(name, v)
	}
	send("message_start", map[string]any{"message": envelope(req, u)})
	send("ping", map[string]any{})
	for i, b := range contentOf(req, rep) {
		delta := func(kind, member, text string) {
			send("content_block_delta", map[string]any{"index": i, "delta": map[string]any{"type": kind, member: text}})
		}
		begin := map[string]any{"type": b["type"]}
		switch b["type"] {
		case "thinking":
			begin["thinking"], begin["signature"] = "", ""
		case "text":
			begin["text"] = ""
		default:
			begin["id"], begin["name"], begin["input"] = b["id"], b["name"], struct{}{}
		}
		send("content_block_start", map[string]any{"index": i, "content_block": begin})
		switch b["type"] {
		case "thinking":
			for _, p := range pieces(rep.thought) {
				delta("thinking_delta", "thinking", p)
			}
			delta("signature_delta", "signature", seal(rep.thought))
		case "text":
			for _, p := range pieces(rep.text) {
				delta("text_delta", "text", p)
			}
		default:
			delta("input_json_delta", "partial_json", "")
			for _, p := range pieces(string(b["input"].(json.RawMessage))) {
				delta("input_json_delta", "partial_json", p)
			}
		}
		send("content_block_stop", map[string]any{"index": i})
	}
	send("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": stopReason(rep), "stop_sequence": nil}, "usage": u.messages(),
	})
	send("message_stop", map[string]any{})
}

// failMessages is an error in Anthropic's shape.
func failMessages(w http.ResponseWriter, status int, kind, message string) {
	writeJSON(w, status, map[string]any{
		"type": "error", "error": map[string]any{"type": kind, "message": message}, "request_id": "req_scripted",
	})
}
