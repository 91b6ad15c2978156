package clients

import (
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// messages is Anthropic's format.
type messages struct{}

func (messages) suffix() string { return "/messages" }

// answer is the content of the assistant message in the client's own history.
func (messages) answer(c Conversation, i int, own string) json.RawMessage {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	var text string
	switch err := json.Unmarshal(nextMessage(c, i), &m); {
	case err != nil, len(m.Content) == 0:
		text = own
	case json.Unmarshal(m.Content, &text) != nil: // not a string: the parts
		return m.Content
	}
	out, _ := json.Marshal([]map[string]string{{"type": "text", "text": text}}) // strings alone
	return out
}

// person is metadata.user_id. Claude Code puts a document there, of which the
// account is a person, or the device where it has no account.
func (messages) person(body []byte) string {
	var b struct {
		Metadata struct {
			User string `json:"user_id"`
		} `json:"metadata"`
	}
	_ = json.Unmarshal(body, &b) // not an object: no user
	var form struct {
		Account string `json:"account_uuid"`
		Device  string `json:"device_id"`
	}
	switch err := json.Unmarshal([]byte(b.Metadata.User), &form); {
	case err != nil:
		return b.Metadata.User
	case form.Account != "":
		return form.Account
	}
	return form.Device
}

func (messages) answered(body []byte) bool { return hasAssistant(body) }

func (messages) write(w http.ResponseWriter, content json.RawMessage, n int, stream bool) {
	var parts []map[string]json.RawMessage
	_ = json.Unmarshal(content, &parts) // else an answer without a word
	stop := "end_turn"
	for _, p := range parts {
		if string(p["type"]) == `"tool_use"` {
			stop = "tool_use"
		}
	}
	const usage = `{"input_tokens":3,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1}`
	head := fmt.Sprintf(`"id":"msg_replay_%d","type":"message","role":"assistant","model":"replay","stop_sequence":null,"usage":%s`, n, usage)
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{%s,"content":%s,"stop_reason":%q}`, head, content, stop)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event := func(name, rest string) { fmt.Fprintf(w, "event: %s\ndata: {\"type\":%q%s}\n\n", name, name, rest) }
	event("message_start", `,"message":{`+head+`,"content":[],"stop_reason":null}`)
	event("ping", "")
	for i, p := range parts {
		begin, deltas := streamed(p)
		event("content_block_start", fmt.Sprintf(`,"index":%d,"content_block":%s`, i, begin))
		for _, d := range deltas {
			event("content_block_delta", fmt.Sprintf(`,"index":%d,"delta":%s`, i, d))
		}
		event("content_block_stop", fmt.Sprintf(`,"index":%d`, i))
	}
	event("message_delta", fmt.Sprintf(`,"delta":{"stop_reason":%q,"stop_sequence":null},"usage":{"output_tokens":9}`, stop))
	event("message_stop", "")
}

// streamed is a part as a stream brings it: empty at first, then piece by
// piece.
func streamed(part map[string]json.RawMessage) (begin []byte, deltas []string) {
	empty := map[string]json.RawMessage{}
	for name, v := range part {
		empty[name] = v
	}
	for _, piece := range []struct{ field, kind, name string }{
		{"thinking", "thinking_delta", "thinking"}, {"signature", "signature_delta", "signature"}, {"text", "text_delta", "text"},
	} {
		if v, ok := part[piece.field]; ok {
			empty[piece.field] = json.RawMessage(`""`)
			deltas = append(deltas, fmt.Sprintf(`{"type":%q,%q:%s}`, piece.kind, piece.name, v))
		}
	}
	if input, ok := part["input"]; ok {
		empty["input"] = json.RawMessage(`{}`)
		half := len(input) / 2
		for half > 0 && !utf8.RuneStart(input[half]) {
			half--
		}
		for _, s := range []string{string(input[:half]), string(input[half:])} {
			quoted, _ := json.Marshal(s)
			deltas = append(deltas, fmt.Sprintf(`{"type":"input_json_delta","partial_json":%s}`, quoted))
		}
	}
	begin, _ = json.Marshal(empty) // it was JSON before
	return begin, deltas
}
