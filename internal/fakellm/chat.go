package fakellm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// chatRequest is what the rules may look at.
type chatRequest struct {
	Model    string        `json:"model"`
	Stream   bool          `json:"stream"`
	Messages []chatMessage `json:"messages"`
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

	raw []json.RawMessage // the messages' own bytes
}

type chatMessage struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	Calls   []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	CallID string `json:"tool_call_id"`
}

// text is the message's text, parts joined.
func (m chatMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// reply is what a rule decides: a text, or tool calls.
type reply struct {
	text  string
	calls []call
}

type call struct{ name, arguments string }

func parseChat(body []byte) (chatRequest, error) {
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		return req, fmt.Errorf("read the body: %w", err)
	}
	if len(req.Messages) == 0 {
		return req, errNoMessages
	}
	var raw struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &raw); err != nil {
		return req, fmt.Errorf("read the messages: %w", err)
	}
	req.raw = raw.Messages
	return req, nil
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request, body []byte) {
	req, err := parseChat(body)
	if err != nil {
		fail(w, http.StatusBadRequest, err.Error())
		return
	}
	rep := decide(req)
	sum := sha256.Sum256(body)
	id := "chatcmpl-" + hex.EncodeToString(sum[:12])
	u := s.usage(req, rep.text)
	if req.Stream {
		s.stream(w, r, req, rep, id, u)
		return
	}
	msg := map[string]any{"role": "assistant", "content": rep.text}
	finish := "stop"
	if len(rep.calls) > 0 {
		msg["content"], msg["tool_calls"], finish = nil, wireCalls(rep.calls, sum, false), "tool_calls"
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"id": id, "object": "chat.completion", "created": time.Now().Unix(), "model": req.Model,
		"choices": []any{map[string]any{"index": 0, "message": msg, "finish_reason": finish}},
		"usage":   u,
	})
}

// wireCalls renders tool calls. Their ids follow from the request, so that the
// server stays without state, and are as random as a provider's.
func wireCalls(calls []call, sum [32]byte, stream bool) []any {
	var out []any
	for i, c := range calls {
		v := map[string]any{
			"id": fmt.Sprintf("call_%s%d", hex.EncodeToString(sum[12:24]), i), "type": "function",
			"function": map[string]any{"name": c.name, "arguments": c.arguments},
		}
		if stream {
			v["index"] = i
		}
		out = append(out, v)
	}
	return out
}

func (s *Server) stream(w http.ResponseWriter, r *http.Request, req chatRequest, rep reply, id string, usage map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	created := time.Now().Unix()
	send := func(choices []any, usage map[string]any) bool {
		chunk := map[string]any{"id": id, "object": "chat.completion.chunk", "created": created, "model": req.Model, "choices": choices}
		if usage != nil {
			chunk["usage"] = usage
		}
		b, _ := json.Marshal(chunk) // strings and numbers only
		if _, err := fmt.Fprintf(w, "data: %s\n\n", b); err != nil || flush.Flush() != nil {
			return false
		}
		if s.cfg.Delay == 0 {
			return true
		}
		select {
		case <-time.After(s.cfg.Delay):
			return true
		case <-r.Context().Done():
			return false
		}
	}
	choice := func(delta map[string]any, finish any) []any {
		return []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}
	}
	if !send(choice(map[string]any{"role": "assistant", "content": ""}, nil), nil) {
		return
	}
	finish := "stop"
	if len(rep.calls) > 0 {
		finish = "tool_calls"
		var sum [32]byte
		b, _ := hex.DecodeString(strings.TrimPrefix(id, "chatcmpl-"))
		copy(sum[12:], b)
		if !send(choice(map[string]any{"tool_calls": wireCalls(rep.calls, sum, true)}, nil), nil) {
			return
		}
	}
	for _, piece := range pieces(rep.text) {
		if !send(choice(map[string]any{"content": piece}, nil), nil) {
			return
		}
	}
	if !send(choice(map[string]any{}, finish), nil) {
		return
	}
	if req.Options.Usage && !send([]any{}, usage) {
		return
	}
	_, _ = fmt.Fprint(w, "data: [DONE]\n\n") // nothing to do for a client that has gone
}

// pieces cuts a text into the parts of a stream, about a word each.
func pieces(s string) []string {
	var out []string
	for len(s) > 0 {
		n := strings.IndexByte(s[1:], ' ') + 1
		if n == 0 || n > 24 {
			n = min(len(s), 12)
			for n < len(s) && s[n]&0xc0 == 0x80 {
				n++
			}
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out
}
