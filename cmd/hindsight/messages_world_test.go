package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"hindsight/inject"
	"hindsight/internal/fakellm"
)

// newAnthropic is a world whose upstream speaks Anthropic's messages too: the
// scripted model decides, in another clothing. Requests of other paths go to
// the model as they are.
func newAnthropic(t *testing.T, env ...string) *world {
	t.Helper()
	w := newWorld(t, env...)
	w.answer = w.speakMessages
	return w
}

func (w *world) speakMessages(rw http.ResponseWriter, r *http.Request, body []byte) bool {
	if !strings.HasSuffix(r.URL.Path, "/messages") || strings.Contains(string(body), "hindsight_memories") {
		return false
	}
	writeMessages(rw, ask(w.model, chatOf(body)).body, strings.Contains(string(body), `"stream":true`))
	return true
}

// block is a content block as the scripted model needs it.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	Result  string          `json:"tool_use_id,omitempty"`
	Content json.RawMessage `json:"content,omitempty"`
}

func blocksOf(content json.RawMessage) []block {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}
	}
	var all []block
	_ = json.Unmarshal(content, &all) // else nothing is said
	return all
}

// chatOf is a messages request as a chat completion.
func chatOf(body []byte) string {
	var req struct {
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
	}
	_ = json.Unmarshal(body, &req) // else the model refuses what comes out
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
	add := func(role string, content json.RawMessage) {
		m := message{Role: role}
		var texts []string
		for _, b := range blocksOf(content) {
			switch b.Type {
			case "text":
				texts = append(texts, b.Text)
			case "tool_use":
				m.Calls = append(m.Calls, call{b.ID, "function", function{b.Name, string(b.Input)}})
			case "tool_result":
				out = append(out, message{Role: "tool", CallID: b.Result, Content: blocksOf(b.Content)[0].Text})
			}
		}
		if m.Content = strings.Join(texts, "\n"); m.Content != "" || len(m.Calls) > 0 {
			out = append(out, m)
		}
	}
	if len(req.System) > 0 {
		add("system", req.System)
	}
	for _, m := range req.Messages {
		add(m.Role, m.Content)
	}
	chat, _ := json.Marshal(map[string]any{"model": fakellm.Model, "messages": out}) // strings alone
	return string(chat)
}

// writeMessages answers with what the model said.
func writeMessages(rw http.ResponseWriter, chat []byte, stream bool) {
	var v struct {
		ID      string
		Choices []struct {
			Message struct {
				Content string
				Calls   []struct {
					ID       string
					Function struct{ Name, Arguments string }
				} `json:"tool_calls"`
			}
		}
		Usage usage
	}
	if json.Unmarshal(chat, &v) != nil || len(v.Choices) == 0 {
		rw.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(rw, `{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, chat)
		return
	}
	said, stop := v.Choices[0].Message, "end_turn"
	var content []block
	if said.Content != "" {
		content = append(content, block{Type: "text", Text: said.Content})
	}
	for _, c := range said.Calls {
		stop = "tool_use"
		content = append(content, block{Type: "tool_use", ID: c.ID, Name: c.Function.Name, Input: json.RawMessage(c.Function.Arguments)})
	}
	parts, _ := json.Marshal(content)
	head := fmt.Sprintf(`"id":"msg_%s","type":"message","role":"assistant","model":%q,"usage":{"input_tokens":%d,"cache_read_input_tokens":%d,"output_tokens":7}`,
		v.ID, fakellm.Model, v.Usage.Prompt-v.Usage.Details.Cached, v.Usage.Details.Cached)
	if !stream {
		rw.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(rw, `{%s,"content":%s,"stop_reason":%q,"stop_sequence":null}`, head, parts, stop)
		return
	}
	rw.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	event := func(name, rest string) {
		io.WriteString(rw, "event: "+name+"\ndata: {\"type\":\""+name+"\""+rest+"}\n\n")
	}
	event("message_start", `,"message":{`+head+`,"content":[],"stop_reason":null}`)
	event("ping", "")
	for i, b := range content {
		text, _ := json.Marshal(b.Text)
		input, _ := json.Marshal(string(b.Input))
		delta := `{"type":"text_delta","text":` + string(text) + `}`
		if b.Type == "tool_use" {
			delta = `{"type":"input_json_delta","partial_json":` + string(input) + `}`
		}
		b.Text, b.Input = "", nil
		begin, _ := json.Marshal(b)
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, begin))
		event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, i, delta))
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, i))
	}
	event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":9}`, stop))
	event("message_stop", "")
}

// sendMessages posts a body to Anthropic's route.
func (w *world) sendMessages(body string, headers ...string) reply {
	w.t.Helper()
	return post(w.t, w.st.proxyURL()+"/v1/messages", body, append([]string{"Anthropic-Version: 2023-06-01"}, headers...)...)
}

// messagesBody is a request with these messages.
func messagesBody(messages ...string) string {
	return `{"model":"` + fakellm.Model + `","max_tokens":1024,"system":"You are a helper.\nBe brief.","messages":[` + strings.Join(messages, ",") + `]}`
}

// userSays is a user message whose content is a string.
func userSays(words string) string {
	quoted, _ := json.Marshal(words)
	return `{"role":"user","content":` + string(quoted) + `}`
}

// answered is an answer as the client's next request has it.
func (w *world) answered(r reply) string {
	w.t.Helper()
	var v struct{ Content json.RawMessage }
	if r.status != http.StatusOK {
		w.t.Fatalf("status %d: %s", r.status, r.body)
	}
	w.decode(r.body, &v)
	return `{"role":"assistant","content":` + string(v.Content) + `}`
}

// blockIn is the block of ours in each message of a request to Anthropic, ""
// where there is none: at the head of a string, or a part of its own.
func (a arrived) blockIn(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, raw := range a.messages(t) {
		var m struct{ Content json.RawMessage }
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, b := range blocksOf(m.Content) {
			if b.Type != "text" || !inject.HasBlock(b.Text) {
				continue
			}
			if found != "" {
				t.Errorf("two blocks in %s", raw)
			}
			found = strings.TrimSuffix(strings.TrimSuffix(b.Text, inject.Strip(b.Text)), "\n")
		}
		out = append(out, found)
	}
	return out
}
