package clients

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// responses is OpenAI's responses API. A client may name an answer by its id
// alone, or send back its items by their ids: the answers have those ids.
type responses struct{}

func (responses) suffix() string { return "/responses" }

// said is the answer to one request.
type said struct {
	ID     string            `json:"id"`
	Output []json.RawMessage `json:"output"`
}

// answer is what the client's later requests show: the id that the next one
// goes on from, and the items behind this request's own.
func (responses) answer(c Conversation, i int, own string) json.RawMessage {
	var out said
	mine := itemsOf(c.Requests[i])
	for _, later := range c.Requests[i+1:] {
		if out.ID == "" {
			out.ID = previousOf(later)
		}
		for _, it := range behind(itemsOf(later), mine) {
			if it.turn() {
				break
			}
			out.Output = append(out.Output, it.said(own))
		}
		if len(out.Output) > 0 {
			break
		}
	}
	if len(out.Output) == 0 {
		out.Output = []json.RawMessage{item{}.said(own)}
	}
	raw, _ := json.Marshal(out) // it was JSON before
	return raw
}

// item is what the replay must know of an input item.
type item struct {
	Type, Role, ID string
	raw            json.RawMessage
}

// turn says whether the item is the client's own, and ends the answer before.
func (it item) turn() bool {
	return strings.HasSuffix(it.Type, "_output") || it.Role != "" && it.Role != "assistant"
}

// said is the item as the upstream said it. What is a reference now was a
// message.
func (it item) said(own string) json.RawMessage {
	if it.Type != "" && it.Type != "item_reference" {
		return fill(it.raw)
	}
	text, _ := json.Marshal(own)
	return json.RawMessage(fmt.Sprintf(`{"id":%q,"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":%s,"annotations":[]}]}`, it.ID, text))
}

// behind is what a history has more than an earlier one. One client leaves the
// tool rounds of earlier turns out. Compaction makes another history of it.
func behind(history, earlier []item) []item {
	if begins(history, earlier) {
		return history[len(earlier):]
	}
	asked := len(earlier)
	for asked > 0 && earlier[asked-1].Role != "user" {
		asked--
	}
	if asked > 0 && begins(history, earlier[:asked]) {
		return history[asked:]
	}
	return nil
}

func begins(history, earlier []item) bool {
	if len(history) <= len(earlier) {
		return false
	}
	for i, it := range earlier {
		if !bytes.Equal(history[i].raw, it.raw) {
			return false
		}
	}
	return true
}

func itemsOf(r Request) []item {
	var b struct {
		Input []json.RawMessage `json:"input"`
	}
	_ = json.Unmarshal(r.Body, &b) // a string: no items
	var out []item
	for _, raw := range b.Input {
		it := item{raw: raw}
		_ = json.Unmarshal(raw, &it) // else it is nobody's
		out = append(out, it)
	}
	return out
}

func previousOf(r Request) string { return stateOf(r.Body).Previous }

// state is what a body says of a conversation that the provider keeps.
type state struct {
	Previous     string          `json:"previous_response_id"`
	Conversation json.RawMessage `json:"conversation"`
}

func stateOf(body []byte) state {
	var s state
	_ = json.Unmarshal(body, &s) // not an object: no state
	return s
}

// person is the user that the body names.
func (responses) person(body []byte) string { return chat{}.person(body) }

func (responses) answered(body []byte) bool {
	if s := stateOf(body); s.Previous != "" || len(s.Conversation) > 0 {
		return true
	}
	for _, it := range itemsOf(Request{Body: body}) {
		if !it.turn() {
			return true
		}
	}
	return false
}

func (responses) write(w http.ResponseWriter, answer json.RawMessage, n int, stream bool) {
	var a said
	_ = json.Unmarshal(answer, &a) // else an answer without a word
	if a.ID == "" {
		a.ID = fmt.Sprintf("resp_replay_%d", n)
	}
	output, _ := json.Marshal(a.Output)
	head := fmt.Sprintf(`"id":%q,"object":"response","model":"replay","error":null`, a.ID)
	whole := fmt.Sprintf(`{%s,"status":"completed","output":%s,"usage":{"input_tokens":3,"input_tokens_details":{"cached_tokens":0},"output_tokens":1}}`, head, output)
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name, rest string) {
		fmt.Fprintf(w, "event: response.%s\ndata: {\"type\":\"response.%s\"%s}\n\n", name, name, rest)
	}
	event("created", `,"response":{`+head+`,"status":"in_progress","output":[]}`)
	for i, it := range a.Output {
		event("output_item.added", fmt.Sprintf(`,"output_index":%d,"item":%s`, i, emptied(it)))
		for j, text := range textsOf(it) {
			event("output_text.delta", fmt.Sprintf(`,"output_index":%d,"content_index":%d,"delta":%s`, i, j, text))
		}
		event("output_item.done", fmt.Sprintf(`,"output_index":%d,"item":%s`, i, it))
	}
	event("completed", `,"response":`+whole)
}

// emptied is an item as a stream begins it, without what it says.
func emptied(it json.RawMessage) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(it, &m) != nil {
		return it
	}
	for name, v := range map[string]string{"content": `[]`, "arguments": `""`} {
		if _, ok := m[name]; ok {
			m[name] = json.RawMessage(v)
		}
	}
	out, _ := json.Marshal(m) // it was JSON before
	return out
}

// textsOf are the texts of a message, as JSON.
func textsOf(it json.RawMessage) []json.RawMessage {
	var m struct {
		Type    string
		Content []struct{ Text json.RawMessage }
	}
	if json.Unmarshal(it, &m) != nil || m.Type != "message" {
		return nil
	}
	var out []json.RawMessage
	for _, p := range m.Content {
		if len(p.Text) > 0 {
			out = append(out, p.Text)
		}
	}
	return out
}
