package extract

import (
	_ "embed"
	"encoding/json"
	"strings"
	"time"
)

// system is the fixed part of the question: the same bytes in every call, so
// that a provider's prompt cache holds it.
//
//go:embed prompt.txt
var system string

// Schema is the JSON Schema of the answer, named SchemaName.
//
//go:embed schema.json
var Schema json.RawMessage

// SchemaName is the schema's name in a request.
const SchemaName = "hindsight_memories"

type eventLine struct {
	ID        string    `json:"id"`
	Role      Role      `json:"role"`
	Turn      int       `json:"turn"`
	Time      time.Time `json:"time"`
	Name      string    `json:"name,omitempty"`
	Text      string    `json:"text"`
	Failed    bool      `json:"failed,omitempty"`
	Untrusted bool      `json:"untrusted,omitempty"`
}

type noteLine struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Text string `json:"text"`
}

// Prompt is the question about a material: the fixed part, and the data as one
// JSON object a line. A line can't be left from inside: JSON escapes its ends.
// Secrets are taken out before anything leaves the house.
func Prompt(m Material) (fixed, data string) {
	var b strings.Builder
	line := func(v any) {
		enc := json.NewEncoder(&b) // ends each value with a newline
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // strings, numbers and times only
	}
	if m.Instructions != "" {
		b.WriteString("What the operator cares about:\n" + strings.TrimSpace(m.Instructions) + "\n\n")
	}
	b.WriteString("Look back at this part of a conversation.\n<events>\n")
	for _, e := range m.Events {
		line(eventLine{e.ID, e.Role, e.Turn, e.Time.Truncate(time.Second), e.Name, Redact(e.Text), e.Failed, e.Untrusted})
	}
	b.WriteString("</events>\n<existing>\n")
	for _, n := range m.Existing {
		line(noteLine{n.ID, string(n.Type), n.Text})
	}
	b.WriteString("</existing>\n<injected>\n")
	for _, n := range m.Injected {
		line(noteLine{n.ID, string(n.Type), n.Text})
	}
	b.WriteString("</injected>\n")
	return system, b.String()
}
