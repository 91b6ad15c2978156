package admin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Payload is what an event says: a text alone, or a text with what belongs to
// it.
type Payload struct {
	Text       string `json:"text"`
	Name       string `json:"name,omitempty"`
	CallID     string `json:"call_id,omitempty"`
	Failed     bool   `json:"failed,omitempty"`
	ThirdParty string `json:"third_party,omitempty"`

	wrong, why string // what of it can't be read
}

// Schema describes a payload. What doesn't fit is named by fault, more exactly
// than a schema with two forms can.
func (Payload) Schema(huma.Registry) *huma.Schema {
	text := func(doc string) *huma.Schema { return &huma.Schema{Type: "string", Description: doc} }
	return &huma.Schema{
		Description: "The text alone, or an object with these fields. Of a user_input the text is what the person said, and third_party what stood in the message without being theirs; of a tool_call it holds the arguments, of a tool_result what came back.",
		Properties: map[string]*huma.Schema{
			"text":        text("What was said."),
			"name":        text("The tool's name."),
			"call_id":     text("Joins a tool_result to its tool_call."),
			"failed":      {Type: "boolean", Description: "The tool reported an error."},
			"third_party": text("Documents and notices that came with a user_input."),
		},
	}
}

// UnmarshalJSON takes both forms. It never fails: see fault.
func (p *Payload) UnmarshalJSON(raw []byte) error {
	*p = Payload{}
	switch raw = bytes.TrimSpace(raw); {
	case len(raw) > 0 && raw[0] == '"':
		return json.Unmarshal(raw, &p.Text)
	case len(raw) == 0 || raw[0] != '{':
		p.wrong, p.why = "payload", "is neither a text nor an object"
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	into := map[string]any{"text": &p.Text, "name": &p.Name, "call_id": &p.CallID, "failed": &p.Failed, "third_party": &p.ThirdParty}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		to, known := into[name]
		switch {
		case !known:
			p.wrong, p.why = "payload."+name, "isn't a field of a payload"
		case json.Unmarshal(fields[name], to) != nil:
			p.wrong, p.why = "payload."+name, "is of the wrong kind"
		}
	}
	return nil
}

// fault names the field of an event's payload that can't be recorded.
func (p Payload) fault(kind store.EventKind) (field, why string) {
	switch {
	case p.wrong != "":
		return p.wrong, p.why
	case strings.TrimSpace(p.Text) == "" && p.ThirdParty == "" && kind != store.ToolCall && kind != store.ToolResult:
		return "payload.text", "is empty"
	case kind == store.ToolCall && p.Name == "":
		return "payload.name", "is missing: which tool was called"
	case p.ThirdParty != "" && kind != store.UserInput:
		return "payload.third_party", fmt.Sprintf("belongs to a user_input, not to a %s", kind)
	case p.Failed && kind != store.ToolResult:
		return "payload.failed", fmt.Sprintf("belongs to a tool_result, not to a %s", kind)
	}
	for name, v := range map[string]string{"name": p.Name, "call_id": p.CallID} {
		if len(v) > store.MaxID {
			return "payload." + name, fmt.Sprintf("is longer than %d bytes", store.MaxID)
		}
	}
	return "", ""
}
