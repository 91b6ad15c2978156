package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hindsight/internal/fakellm"
)

// provider is an upstream that speaks the responses API and keeps what was said,
// as OpenAI does. The scripted model decides what is said.
type provider struct {
	w *world

	mu            sync.Mutex
	n             int
	responses     map[string][]json.RawMessage // by id, with everything before
	conversations map[string][]json.RawMessage
	items         map[string]json.RawMessage
}

// newOpenAI is a world with such an upstream. Requests of other paths go to the
// model as they are.
func newOpenAI(t *testing.T, env ...string) *world {
	t.Helper()
	w := newWorld(t, env...)
	p := &provider{
		w: w, responses: map[string][]json.RawMessage{}, conversations: map[string][]json.RawMessage{}, items: map[string]json.RawMessage{},
	}
	w.answer = p.answer
	return w
}

// responsesBody is what the provider reads of a request.
type responsesBody struct {
	Instructions string          `json:"instructions"`
	Input        json.RawMessage `json:"input"`
	Stream       bool            `json:"stream"`
	Previous     string          `json:"previous_response_id"`
	Conversation string          `json:"conversation"`
}

func (p *provider) answer(rw http.ResponseWriter, r *http.Request, body []byte) bool {
	if strings.Contains(string(body), "hindsight_memories") || !strings.HasSuffix(r.URL.Path, "/responses") || r.Method != http.MethodPost {
		return false
	}
	var req responsesBody
	if err := json.Unmarshal(body, &req); err != nil {
		http.Error(rw, err.Error(), http.StatusBadRequest)
		return true
	}
	history := p.history(req)
	chat := ask(p.w.model, p.chat(req.Instructions, history)).body
	p.mu.Lock()
	p.n++
	id, output := fmt.Sprintf("resp_%08dQx7Tb2Kd9Lm4Rz", p.n), outputOf(p.n, chat)
	history = append(history, output...)
	p.responses[id] = history
	if req.Conversation != "" {
		p.conversations[req.Conversation] = history
	}
	for _, raw := range output {
		var it struct{ ID string }
		_ = json.Unmarshal(raw, &it) // it was made here
		p.items[it.ID] = raw
	}
	p.mu.Unlock()
	writeResponse(rw, id, output, usageOf(chat), req.Stream)
	return true
}

// history is what the model gets to see: what is kept, and what is new.
func (p *provider) history(req responsesBody) []json.RawMessage {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []json.RawMessage
	all = append(all, p.responses[req.Previous]...)
	all = append(all, p.conversations[req.Conversation]...)
	var text string
	if json.Unmarshal(req.Input, &text) == nil {
		return append(all, userItem(text))
	}
	var items []json.RawMessage
	_ = json.Unmarshal(req.Input, &items) // else nothing is new
	for _, raw := range items {
		var it struct{ Type, ID string }
		if json.Unmarshal(raw, &it) == nil && it.Type == "item_reference" {
			raw = p.items[it.ID]
		}
		if raw != nil {
			all = append(all, raw)
		}
	}
	return all
}

// chat is a history as a chat completion's request.
func (p *provider) chat(instructions string, items []json.RawMessage) string {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
		Calls   []call `json:"tool_calls,omitempty"`
		CallID  string `json:"tool_call_id,omitempty"`
	}
	var out []message
	if instructions != "" {
		out = append(out, message{Role: "system", Content: instructions})
	}
	for _, raw := range items {
		var it struct {
			Type, Role, Name, Arguments, Output string
			CallID                              string `json:"call_id"`
			Content                             json.RawMessage
		}
		if err := json.Unmarshal(raw, &it); err != nil {
			p.w.t.Errorf("an item that no provider takes: %s: %v", raw, err)
		}
		switch {
		case it.Type == "function_call":
			out = append(out, message{Role: "assistant", Calls: []call{{it.CallID, "function", function{it.Name, it.Arguments}}}})
		case it.Type == "function_call_output":
			out = append(out, message{Role: "tool", CallID: it.CallID, Content: it.Output})
		case it.Role != "":
			var texts []string
			for _, b := range blocksOf(it.Content) {
				texts = append(texts, b.Text)
			}
			out = append(out, message{Role: it.Role, Content: strings.Join(texts, "\n")})
		}
	}
	body, _ := json.Marshal(map[string]any{"model": fakellm.Model, "messages": out}) // strings alone
	return string(body)
}

// outputOf is what the model said, as items: a thought and the answer, or a
// call.
func outputOf(n int, chat []byte) []json.RawMessage {
	var v struct {
		Choices []struct {
			Message struct {
				Content string
				Calls   []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
	}
	if json.Unmarshal(chat, &v) != nil || len(v.Choices) == 0 {
		return nil
	}
	out := []json.RawMessage{json.RawMessage(fmt.Sprintf(`{"id":"rs_%d","type":"reasoning","summary":[],"encrypted_content":"gAAA\u002b%d=="}`, n, n))}
	m := v.Choices[0].Message
	for i, c := range m.Calls {
		out = append(out, json.RawMessage(fmt.Sprintf(`{"id":"fc_%d_%d","type":"function_call","call_id":%q,"name":%q,"arguments":%q,"status":"completed"}`, n, i, c.ID, c.Function.Name, c.Function.Arguments)))
	}
	if len(m.Calls) == 0 {
		text, _ := json.Marshal(m.Content) // a string
		out = append(out, json.RawMessage(fmt.Sprintf(`{"id":"msg_%08dHj5Wn8Vc3Yp6Sg","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":%s}]}`, n, text)))
	}
	return out
}

func usageOf(chat []byte) usage {
	var v struct{ Usage usage }
	_ = json.Unmarshal(chat, &v) // else nothing was used
	return v.Usage
}

// writeResponse answers as JSON, or as a stream that brings each text in two
// pieces.
func writeResponse(rw http.ResponseWriter, id string, output []json.RawMessage, u usage, stream bool) {
	items, _ := json.Marshal(output) // JSON already
	whole := fmt.Sprintf(`{"id":%q,"object":"response","status":"completed","model":"fake","error":null,"output":%s,"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d},"output_tokens":7}}`,
		id, items, u.Prompt, u.Details.Cached)
	if !stream {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprint(rw, whole)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream")
	event := func(name, rest string) {
		fmt.Fprintf(rw, "event: response.%s\ndata: {\"type\":\"response.%s\"%s}\n\n", name, name, rest)
	}
	event("created", fmt.Sprintf(`,"response":{"id":%q,"status":"in_progress","output":[]}`, id))
	for i, raw := range output {
		var it struct {
			ID, Type string
			Content  []struct{ Text string }
		}
		_ = json.Unmarshal(raw, &it) // it was made here
		event("output_item.added", fmt.Sprintf(`,"output_index":%d,"item":{"id":%q,"type":%q}`, i, it.ID, it.Type))
		for _, part := range it.Content {
			half := []rune(part.Text)
			for _, piece := range []string{string(half[:len(half)/2]), string(half[len(half)/2:])} {
				text, _ := json.Marshal(piece) // a string
				event("output_text.delta", fmt.Sprintf(`,"item_id":%q,"output_index":%d,"content_index":0,"delta":%s`, it.ID, i, text))
			}
		}
		event("output_item.done", fmt.Sprintf(`,"output_index":%d,"item":%s`, i, raw))
	}
	event("completed", `,"response":`+whole)
}

func userItem(text string) json.RawMessage {
	raw, _ := json.Marshal(map[string]string{"role": "user", "content": text}) // strings alone
	return raw
}

// response is what a client got from the responses route.
type response struct {
	reply
	ID     string
	Output []json.RawMessage
	Usage  struct {
		Input   int `json:"input_tokens"`
		Details struct {
			Cached int `json:"cached_tokens"`
		} `json:"input_tokens_details"`
	}
}

// text is the answer's text.
func (r response) text() string {
	for _, raw := range r.Output {
		var it struct{ Content []struct{ Text string } }
		if json.Unmarshal(raw, &it) == nil && len(it.Content) > 0 {
			return it.Content[0].Text
		}
	}
	return ""
}

// call is the id of the answer's first call, "" if there is none.
func (r response) call() string {
	for _, raw := range r.Output {
		var it struct {
			CallID string `json:"call_id"`
		}
		if json.Unmarshal(raw, &it) == nil && it.CallID != "" {
			return it.CallID
		}
	}
	return ""
}

// sendResponses posts the members of a body to the responses route and reads
// the answer, JSON or stream.
func (w *world) sendResponses(members string, headers ...string) response {
	w.t.Helper()
	r, err := w.post("/v1/responses", `{"model":"`+fakellm.Model+`",`+members+`}`, headers...)
	if err != nil || r.status != http.StatusOK {
		w.t.Fatalf("%v, status %d: %s", err, r.status, r.body)
	}
	out := response{reply: r}
	raw := r.body
	if i := strings.LastIndex(string(raw), `,"response":`); strings.HasPrefix(string(raw), "event:") && i >= 0 {
		raw = []byte(strings.TrimSuffix(strings.TrimSpace(string(raw[i+len(`,"response":`):])), "}"))
	}
	w.decode(raw, &out)
	return out
}
