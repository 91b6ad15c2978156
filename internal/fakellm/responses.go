package fakellm

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// responsesRequest is a request of OpenAI's responses, as far as it is read or
// said back.
type responsesRequest struct {
	Model        string          `json:"model"`
	Stream       bool            `json:"stream"`
	Instructions *string         `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Previous     string          `json:"previous_response_id"`
	Store        *bool           `json:"store"`
	Include      []string        `json:"include"`
	Metadata     json.RawMessage `json:"metadata"`
	Tools        json.RawMessage `json:"tools"`
	ToolChoice   json.RawMessage `json:"tool_choice"`
	Text         json.RawMessage `json:"text"`
}

// item is an item of the input, as far as the rules look at it.
type inputItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Input     string          `json:"input"`
	Output    json.RawMessage `json:"output"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

// failure is a refusal with the code that clients look at.
type failure struct{ code, message string }

func (f *failure) Error() string { return f.message }

func (s *Server) parseResponses(body []byte) (request, responsesRequest, error) {
	var in responsesRequest
	if err := json.Unmarshal(body, &in); err != nil {
		return request{}, in, fmt.Errorf("read the body: %w", err)
	}
	req := request{model: in.Model, stream: in.Stream, sum: sha256.Sum256(body)}
	if in.Instructions != nil {
		text, _ := json.Marshal(*in.Instructions) // a string
		req.raw = append(req.raw, text)
		req.messages = append(req.messages, message{role: "system", text: *in.Instructions})
	}
	var tools []struct {
		Name string `json:"name"`
	}
	var text struct {
		Format struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"format"`
	}
	_, _ = json.Unmarshal(in.Tools, &tools), json.Unmarshal(in.Text, &text) // a strange shape offers nothing
	for _, t := range tools {
		req.tools = append(req.tools, t.Name)
	}
	if text.Format.Type != "text" {
		req.format, req.schema = text.Format.Type, text.Format.Name
	}
	items, err := s.kept.history(in.Previous)
	if err != nil {
		return req, in, err
	}
	fresh, err := s.kept.input(in.Input)
	if err != nil {
		return req, in, err
	}
	items = append(items, fresh...)
	if len(items) == 0 {
		return req, in, &failure{"missing_required_parameter", "input: at least one item is needed"}
	}
	req.raw = append(req.raw, items...)
	ms, err := ofItems(items)
	req.messages = append(req.messages, ms...)
	return req, in, err
}

// ofItems is a list of items as the rules see it. Calls that stand side by
// side are one message's. A result without its call is refused, as OpenAI does.
func ofItems(items []json.RawMessage) ([]message, error) {
	var out []message
	calls := map[string]bool{}
	for i, raw := range items {
		var it inputItem
		if err := json.Unmarshal(raw, &it); err != nil {
			return nil, fmt.Errorf("input[%d]: %w", i, err)
		}
		switch it.Type {
		case "function_call", "custom_tool_call":
			calls[it.CallID] = true
			c := call{it.Name, it.Arguments + it.Input}
			if n := len(out) - 1; n >= 0 && len(out[n].calls) > 0 {
				out[n].calls = append(out[n].calls, c)
			} else {
				out = append(out, message{role: "assistant", calls: []call{c}})
			}
		case "function_call_output", "custom_tool_call_output":
			if !calls[it.CallID] {
				return nil, fmt.Errorf("no tool call found for function call output with call_id %s", it.CallID)
			}
			out = append(out, message{role: "tool", text: textOf(it.Output)})
		case "reasoning":
			if it.Encrypted != "" && it.Encrypted != seal(textOf(it.Summary)) {
				return nil, &failure{"invalid_encrypted_content", "the encrypted content could not be verified"}
			}
		case "message", "":
			out = append(out, message{role: it.Role, text: textOf(it.Content)})
		}
	}
	return out, nil
}

func (s *Server) responses(w http.ResponseWriter, r *http.Request, body []byte) {
	req, in, err := s.parseResponses(body)
	if err != nil {
		failResponses(w, http.StatusBadRequest, err)
		return
	}
	rep := decide(req)
	u := s.usage(req.raw, rep.text)
	output := outputOf(req, rep, slices.Contains(in.Include, "reasoning.encrypted_content"))
	v := responseOf(req, in)
	if in.Store == nil || *in.Store {
		done := finished(v, output, u)
		s.kept.add(req, in, output, done)
	}
	if req.stream {
		s.streamResponses(w, r, v, output, u)
		return
	}
	s.answer(w, r, finished(v, output, u))
}

// responseOf is the response before anything is said.
func responseOf(req request, in responsesRequest) map[string]any {
	or := func(raw json.RawMessage, other string) json.RawMessage {
		if len(raw) == 0 {
			raw = json.RawMessage(other)
		}
		return raw
	}
	var previous any
	if in.Previous != "" {
		previous = in.Previous
	}
	return map[string]any{
		"id": req.id("resp_"), "object": "response", "created_at": time.Now().Unix(), "status": "in_progress", "model": req.model,
		"error": nil, "incomplete_details": nil, "instructions": in.Instructions, "metadata": or(in.Metadata, "{}"),
		"output": []any{}, "parallel_tool_calls": true, "previous_response_id": previous, "store": in.Store == nil || *in.Store,
		"temperature": 1, "top_p": 1, "tool_choice": or(in.ToolChoice, `"auto"`), "tools": or(in.Tools, "[]"),
		"text": or(in.Text, `{"format":{"type":"text"}}`), "truncation": "disabled", "usage": nil,
	}
}

// finished is a copy of a response with all that was said.
func finished(v map[string]any, output []map[string]any, u usage) map[string]any {
	done := make(map[string]any, len(v))
	for name, e := range v {
		done[name] = e
	}
	done["status"], done["output"], done["usage"] = "completed", output, u.responses()
	return done
}

// outputOf is the answer's items: the thought, the message, the calls.
func outputOf(req request, rep reply, sealed bool) []map[string]any {
	out := []map[string]any{}
	if rep.thought != "" {
		it := map[string]any{"id": req.id("rs_"), "type": "reasoning", "summary": []any{map[string]any{"type": "summary_text", "text": rep.thought}}}
		if sealed {
			it["encrypted_content"] = seal(rep.thought)
		}
		out = append(out, it)
	}
	if rep.text != "" {
		out = append(out, map[string]any{
			"id": req.id("msg_"), "type": "message", "role": "assistant", "status": "completed", "content": []any{outputText(rep.text)},
		})
	}
	for i, c := range rep.calls {
		out = append(out, map[string]any{
			"id": req.callID("fc_", i), "type": "function_call", "status": "completed",
			"call_id": req.callID("call_", i), "name": c.name, "arguments": c.arguments,
		})
	}
	return out
}

func outputText(text string) map[string]any {
	return map[string]any{"type": "output_text", "text": text, "annotations": []any{}, "logprobs": []any{}}
}

func failResponses(w http.ResponseWriter, status int, err error) {
	var code any
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	writeJSON(w, status, map[string]any{"error": map[string]any{
		"message": err.Error(), "type": "invalid_request_error", "param": nil, "code": code,
	}})
}

// responseByID answers the routes below a kept response: GET and DELETE of it,
// and the items that the model saw.
func (s *Server) responseByID(w http.ResponseWriter, r *http.Request) {
	_, rest, _ := strings.Cut(r.URL.Path, "/responses/")
	id, sub, _ := strings.Cut(rest, "/")
	kept, ok := s.kept.get(id)
	switch {
	case !ok:
		failResponses(w, http.StatusNotFound, fmt.Errorf("response with id '%s' not found", id))
	case r.Method == http.MethodGet && sub == "":
		writeJSON(w, http.StatusOK, kept.response)
	case r.Method == http.MethodGet && sub == "input_items":
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": kept.input, "has_more": false})
	case r.Method == http.MethodDelete && sub == "":
		s.kept.remove(id)
		writeJSON(w, http.StatusOK, map[string]any{"id": id, "object": "response", "deleted": true})
	default:
		fail(w, http.StatusNotFound, "no such route: "+r.Method+" "+r.URL.Path)
	}
}
