package llm

import "encoding/json"

// maxMessageTokens is what the format demands a limit of: enough for a dozen
// long memories, and taken by the oldest models that are served.
const maxMessageTokens = 4096

func composeMessages(model string, r Request, f Form) map[string]any {
	body := map[string]any{
		"model":      model,
		"system":     r.System,
		"messages":   []message{{"user", r.User}},
		"max_tokens": maxMessageTokens,
		"stream":     true,
	}
	if f == ByTool {
		body["tools"] = []any{map[string]any{"name": r.Name, "description": "Takes the answer.", "input_schema": r.Schema}}
		body["tool_choice"] = map[string]any{"type": "tool", "name": r.Name}
	}
	return body
}

type messageUsage struct {
	Input       int `json:"input_tokens"`
	CacheRead   int `json:"cache_read_input_tokens"`
	CacheWrite  int `json:"cache_creation_input_tokens"`
	OutputSoFar int `json:"output_tokens"`
}

// addTo takes counts that are given; the later ones of a stream are of all of it.
func (u messageUsage) addTo(a *Answer) {
	a.Input = max(a.Input, u.Input+u.CacheRead+u.CacheWrite)
	a.Output = max(a.Output, u.OutputSoFar)
}

func wholeMessages(raw []byte, a *Answer) error {
	var m struct {
		Type    string `json:"type"`
		Content []struct {
			Type  string          `json:"type"`
			Text  string          `json:"text"`
			Input json.RawMessage `json:"input"`
		} `json:"content"`
		Stop  string       `json:"stop_reason"`
		Usage messageUsage `json:"usage"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return errNoJSON
	}
	if m.Type == "error" {
		return errFault
	}
	for _, c := range m.Content {
		switch c.Type {
		case "text":
			a.Text += c.Text
		case "tool_use":
			a.args += string(c.Input)
		}
	}
	m.Usage.addTo(a)
	a.Cut = m.Stop == "max_tokens"
	return nil
}

func eventMessages(data []byte, a *Answer) (finished bool, err error) {
	var e struct {
		Type    string `json:"type"`
		Message struct {
			Usage messageUsage `json:"usage"`
		} `json:"message"`
		Delta struct {
			Text    string `json:"text"`
			Partial string `json:"partial_json"`
			Stop    string `json:"stop_reason"`
		} `json:"delta"`
		Usage messageUsage `json:"usage"`
	}
	if json.Unmarshal(data, &e) != nil {
		return false, nil //nolint:nilerr // an event of another kind
	}
	switch e.Type {
	case "error":
		return false, errFault
	case "message_start":
		e.Message.Usage.addTo(a)
	case "content_block_delta":
		a.Text += e.Delta.Text
		a.args += e.Delta.Partial
	case "message_delta":
		e.Usage.addTo(a)
		a.Cut = a.Cut || e.Delta.Stop == "max_tokens"
	case "message_stop":
		return true, nil
	}
	return false, nil
}
