package llm

import "encoding/json"

// composeResponses is a request's body. Nothing of it is to be kept there.
func composeResponses(model string, r Request, f Form) map[string]any {
	body := map[string]any{
		"model":        model,
		"instructions": r.System,
		"input":        []message{{"user", r.User}},
		"stream":       true,
		"store":        false,
	}
	switch f {
	case BySchema:
		body["text"] = map[string]any{"format": map[string]any{"type": f, "name": r.Name, "strict": true, "schema": r.Schema}}
	case ByObject:
		body["text"] = map[string]any{"format": map[string]any{"type": f}}
	case ByTool:
		body["tools"] = []any{map[string]any{"type": "function", "name": r.Name, "parameters": r.Schema, "strict": false}}
		body["tool_choice"] = map[string]any{"type": "function", "name": r.Name}
	}
	return body
}

// response is an answer as it stands at its end.
type response struct {
	Output []struct {
		Type    string `json:"type"`
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
		Arguments string `json:"arguments"`
	} `json:"output"`
	Status string `json:"status"`
	Usage  struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
	} `json:"usage"`
}

// end takes what an answer's last event says of all of it.
func (r response) end(a *Answer) error {
	a.Input, a.Output = r.Usage.Input, r.Usage.Output
	a.Cut = a.Cut || r.Status == "incomplete"
	if r.Status == "failed" || r.Status == "cancelled" {
		return errFault
	}
	return nil
}

func wholeResponses(raw []byte, a *Answer) error {
	var r response
	if json.Unmarshal(raw, &r) != nil {
		return errNoJSON
	}
	for _, o := range r.Output {
		for _, c := range o.Content {
			if o.Type == "message" && c.Type == "output_text" {
				a.Text += c.Text
			}
		}
		if o.Type == "function_call" {
			a.args += o.Arguments
		}
	}
	return r.end(a)
}

func eventResponses(data []byte, a *Answer) (finished bool, err error) {
	var e struct {
		Type     string   `json:"type"`
		Delta    string   `json:"delta"`
		Response response `json:"response"`
	}
	if json.Unmarshal(data, &e) != nil {
		return false, nil //nolint:nilerr // an event whose delta is of another kind
	}
	switch e.Type {
	case "response.output_text.delta":
		a.Text += e.Delta
	case "response.function_call_arguments.delta":
		a.args += e.Delta
	case "response.completed", "response.incomplete", "response.failed":
		return true, e.Response.end(a)
	case "error":
		return false, errFault
	}
	return false, nil
}
