package llm

import "encoding/json"

// composeChat is a request's body. Neither temperature nor a limit is set:
// there are models that refuse each of them.
func composeChat(model string, r Request, f Form) map[string]any {
	body := map[string]any{
		"model":    model,
		"messages": []message{{"system", r.System}, {"user", r.User}},
		"stream":   true,
	}
	switch f {
	case BySchema:
		body["response_format"] = map[string]any{"type": f, "json_schema": map[string]any{"name": r.Name, "strict": true, "schema": r.Schema}}
	case ByObject:
		body["response_format"] = map[string]any{"type": f}
	case ByTool:
		body["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{"name": r.Name, "parameters": r.Schema}}}
		body["tool_choice"] = map[string]any{"type": "function", "function": map[string]any{"name": r.Name}}
	}
	return body
}

// chatChunk is what is read of an answer, whole or streamed.
type chatChunk struct {
	Choices []struct {
		Index   int         `json:"index"`
		Delta   chatContent `json:"delta"`
		Message chatContent `json:"message"`
		Finish  string      `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Prompt     int `json:"prompt_tokens"`
		Completion int `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type chatContent struct {
	Content string `json:"content"`
	Calls   []struct {
		Function struct {
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

func (c chatContent) addTo(a *Answer) {
	a.Text += c.Content
	for _, call := range c.Calls {
		a.args += call.Function.Arguments
	}
}

func wholeChat(raw []byte, a *Answer) error {
	if !json.Valid(raw) {
		return errNoJSON
	}
	_, err := eventChat(raw, a)
	return err
}

func eventChat(data []byte, a *Answer) (finished bool, err error) {
	var c chatChunk
	if json.Unmarshal(data, &c) != nil {
		return false, nil //nolint:nilerr // no chunk: what a server adds is no fault
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return false, errFault
	}
	if c.Usage != nil {
		a.Input, a.Output = c.Usage.Prompt, c.Usage.Completion
	}
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue
		}
		ch.Delta.addTo(a)
		ch.Message.addTo(a)
		a.Cut = a.Cut || ch.Finish == "length"
		finished = finished || ch.Finish != ""
	}
	return finished, nil
}
