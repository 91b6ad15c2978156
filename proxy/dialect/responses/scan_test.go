package responses

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
)

func scanned(t *testing.T, body string) *dialect.Request {
	t.Helper()
	req, err := Dialect{}.Scan([]byte(body))
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	return req
}

// seen is an item in the words of a test.
type seen struct {
	Role   dialect.Role
	ID     string
	Text   string
	Kinds  []dialect.PartKind
	Calls  []dialect.Call
	CallID string
	First  int
}

func TestScanItems(t *testing.T) {
	req := scanned(t, `{ "model" : "gpt-5" , "input" : [
		{"role":"system","content":"You help."},
		{"content":"before the role: caf\u00e9 \/ \ud83d\ude00","role":"developer","type":"message"},
		{"type":"message","id":"msg_u","role":"user","content":[{"type":"input_image","image_url":"data:x"},{"text":"Look","type":"input_text"},{"type":"input_text","text":"here"},{"type":"input_file","file_id":"f"}]},
		{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"content":null,"encrypted_content":"ENC"},
		{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"One.","annotations":[]},{"type":"refusal","refusal":"No."}]},
		{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\":\"\u00e9\"}"},
		{"arguments":{"b": 1.0},"name":"g","call_id":"c2","type":"function_call"},
		{"type":"custom_tool_call","call_id":"c3","name":"patch","input":"raw"},
		{"type":"local_shell_call","call_id":"c4","id":"lsh_1","action":{"type":"exec","command":["ls"]}},
		{"type":"web_search_call","id":"ws_1","status":"completed"},
		{"type":"function_call_output","id":"fco_1","call_id":"c1","output":"rain"},
		{"type":"function_call_output","call_id":"c2","output":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"u"},{"type":"input_text","text":"b"}],"status":"failed"},
		{"type":"custom_tool_call_output","call_id":"c3","output":"ok"},
		{"type":"shell_call_output","call_id":"c5","output":[{"stdout":"files","stderr":"","outcome":{"type":"exit","exit_code":0}}]},
		{"type":"computer_call_output","call_id":"c6","output":{"type":"computer_screenshot","image_url":"u"}},
		{"type":"mcp_approval_response","approval_request_id":"a","approve":true},
		{"type":"item_reference","id":"msg_9"},
		{"id":"msg_10"},
		{"type":"compaction","id":"cmp_1","encrypted_content":"ENC"},
		{"type":"of_tomorrow","text":"?"},
		{"role":"user","content":[]},
		{"role":"user","content":{"odd":1}},
		{"role":"critic","content":"x"},
		{"output":"stray","role":"user","content":[{"type":"input_image"}],"summary":[{"type":"summary_text","text":"stray"}]},
		{"role":"assistant","content":"Prefill:"}
	]}`)
	const text, binary, thought = dialect.TextPart, dialect.BinaryPart, dialect.ReasoningPart
	want := []seen{
		{Role: dialect.System, Text: "You help.", Kinds: []dialect.PartKind{text}},
		{Role: dialect.Developer, Text: "before the role: café / 😀", Kinds: []dialect.PartKind{text}},
		{Role: dialect.User, ID: "msg_u", Text: "Look\nhere", Kinds: []dialect.PartKind{binary, text, text, binary}, First: 1},
		{Role: dialect.Assistant, ID: "rs_1", Kinds: []dialect.PartKind{thought}},
		{Role: dialect.Assistant, ID: "msg_1", Text: "One.\nNo.", Kinds: []dialect.PartKind{text, text}},
		{Role: dialect.Assistant, ID: "fc_1", Calls: []dialect.Call{{ID: "c1", Name: "f", Arguments: `{"a":"é"}`}}},
		{Role: dialect.Assistant, Calls: []dialect.Call{{ID: "c2", Name: "g", Arguments: `{"b": 1.0}`}}},
		{Role: dialect.Assistant, Calls: []dialect.Call{{ID: "c3", Name: "patch", Arguments: "raw"}}},
		{Role: dialect.Assistant, ID: "lsh_1", Calls: []dialect.Call{{ID: "c4", Name: "local_shell", Arguments: `{"type":"exec","command":["ls"]}`}}},
		{Role: dialect.Assistant, ID: "ws_1", Calls: []dialect.Call{{Name: "web_search"}}},
		{Role: dialect.Tool, ID: "fco_1", Text: "rain", Kinds: []dialect.PartKind{text}, CallID: "c1"},
		{Role: dialect.Tool, Text: "a\nb", Kinds: []dialect.PartKind{text, binary, text}, CallID: "c2"},
		{Role: dialect.Tool, Text: "ok", Kinds: []dialect.PartKind{text}, CallID: "c3"},
		{Role: dialect.Tool, Text: "files", Kinds: []dialect.PartKind{text}, CallID: "c5"},
		{Role: dialect.Tool, CallID: "c6"},
		{Role: dialect.Tool},
		{Role: dialect.Unknown, ID: "msg_9"},
		{Role: dialect.Unknown, ID: "msg_10"},
		{Role: dialect.Unknown, ID: "cmp_1"},
		{Role: dialect.Unknown},
		{Role: dialect.User, First: -1},
		{Role: dialect.User},
		{Role: dialect.Unknown, Text: "x", Kinds: []dialect.PartKind{text}},
		{Role: dialect.User, Kinds: []dialect.PartKind{binary}, First: -1},
		{Role: dialect.Assistant, Text: "Prefill:", Kinds: []dialect.PartKind{text}},
	}
	var got []seen
	for _, m := range req.Messages {
		s := seen{Role: m.Role, ID: m.ID, Text: m.Text(), Calls: m.Calls, CallID: m.CallID}
		if m.Role == dialect.User {
			s.First = m.Slot.First
		}
		for _, p := range m.Parts {
			s.Kinds = append(s.Kinds, p.Kind)
			if p.TextAt > 0 && dialect.Unquote(req.Body[p.TextAt:p.TextEnd()]) != p.Text() {
				t.Errorf("part %q: its bounds hold %s", p.Text(), req.Body[p.TextAt:p.TextEnd()])
			}
		}
		got = append(got, s)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("items (-want +got):\n%s", d)
	}
	if p := req.Messages[2].Parts[0]; p.Type != "input_image" || p.Size != len(`{"type":"input_image","image_url":"data:x"}`) {
		t.Errorf("image part: %+v", p)
	}
	if p := req.Messages[11].Parts[0]; p.CallID != "c2" || !p.Failed {
		t.Errorf("part of a failed output: %+v", p)
	}
}

func TestScanStringInput(t *testing.T) {
	for name, body := range map[string]string{
		"instructions before": `{"instructions":"Be \"brief\".","input":"Hi \u00e9"}`,
		"instructions behind": `{"input":"Hi \u00e9","instructions":"Be \"brief\"."}`,
	} {
		req := scanned(t, body)
		if len(req.Messages) != 2 || req.Messages[0].Role != dialect.System || req.Messages[0].Text() != `Be "brief".` ||
			req.Messages[1].Role != dialect.User || req.Messages[1].Text() != "Hi é" {
			t.Errorf("%s: %+v", name, req.Messages)
		}
	}
	if req := scanned(t, `{"instructions":null,"input":"Hi"}`); len(req.Messages) != 1 {
		t.Errorf("no instructions: %+v", req.Messages)
	}
}

// Where the provider holds the words, there may be none in the request.
func TestScanWithoutInput(t *testing.T) {
	for _, body := range []string{
		`{"prompt":{"id":"pmpt_1"}}`, `{"previous_response_id":"resp_1"}`, `{"conversation":"conv_1","input":null}`, `{"conversation":{"id":"conv_1"},"input":[]}`,
	} {
		if req := scanned(t, body); len(req.Messages) != 0 {
			t.Errorf("%s: %+v", body, req.Messages)
		}
	}
}

func TestScanOptions(t *testing.T) {
	tests := map[string]struct {
		options string
		want    dialect.Request
	}{
		"none":                 {``, dialect.Request{Store: true}},
		"stream":               {`"stream":true,"stream_options":{"include_obfuscation":false}`, dialect.Request{Stream: true, Store: true}},
		"nulls":                {`"model":null,"stream":null,"tools":null,"tool_choice":null,"text":null,"user":null,"metadata":null,"max_output_tokens":null,"store":null,"background":null,"client_metadata":null,"conversation":null,"previous_response_id":null,"prompt":null`, dialect.Request{Store: true}},
		"other types":          {`"model":1,"stream":"true","tools":{},"tool_choice":1,"text":"json","user":7,"metadata":[1],"max_output_tokens":"9","store":0,"conversation":7`, dialect.Request{Store: true}},
		"odd numbers":          {`"seed":9007199254740993,"temperature":1.0,"top_p":1e400,"max_output_tokens":1e400`, dialect.Request{Store: true}},
		"unknown at top":       {`"vllm_xargs":{"a":1,"a":2},"x":1,"x":2`, dialect.Request{Store: true}},
		"not stored":           {`"store":false`, dialect.Request{}},
		"stored, background":   {`"store":true,"background":true`, dialect.Request{Store: true, Background: true}},
		"limit":                {`"max_output_tokens":32.0`, dialect.Request{Store: true, MaxTokens: 32}},
		"tools":                {`"tools":[{"type":"function"}],"tool_choice":"auto"`, dialect.Request{Store: true, HasTools: true}},
		"no tools":             {`"tools":[]`, dialect.Request{Store: true}},
		"required":             {`"tool_choice":"required"`, dialect.Request{Store: true, Structured: true}},
		"one tool":             {`"tool_choice":{"type":"function","name":"f"}`, dialect.Request{Store: true, Structured: true}},
		"allowed, free":        {`"tool_choice":{"type":"allowed_tools","mode":"auto","tools":[]}`, dialect.Request{Store: true}},
		"allowed, forced":      {`"tool_choice":{"tools":[],"mode":"required","type":"allowed_tools"}`, dialect.Request{Store: true, Structured: true}},
		"format text":          {`"text":{"format":{"type":"text"},"verbosity":"low"}`, dialect.Request{Store: true}},
		"format JSON":          {`"text":{"format":{"type":"json_object"}}`, dialect.Request{Store: true, Structured: true}},
		"format schema":        {`"text":{"format":{"name":"x","schema":{"type":"object","required":["a"],"properties":{"a":{"properties":{"in":{}}},"\u0062":true}},"type":"json_schema"}}`, dialect.Request{Store: true, Structured: true, SchemaKeys: []string{"a", "b"}}},
		"schema without names": {`"text":{"format":{"type":"json_schema","schema":{"properties":null}}}`, dialect.Request{Store: true, Structured: true}},
		"chain":                {`"previous_response_id":"resp_1"`, dialect.Request{Store: true, PreviousResponseID: "resp_1"}},
		"conversation":         {`"conversation":"conv_1"`, dialect.Request{Store: true, Conversation: "conv_1"}},
		"conversation object":  {`"conversation":{"x":1,"id":"conv_1"}`, dialect.Request{Store: true, Conversation: "conv_1"}},
		"identity": {
			`"user":"ann","safety_identifier":"s","prompt_cache_key":"p","session_id":"o","metadata":{"chat_id":"c","n":1,"user_id":"u"},"client_metadata":{"session_id":"x"}`,
			dialect.Request{User: "ann", SafetyIdentifier: "s", PromptCacheKey: "p", SessionID: "o", Store: true, Metadata: map[string]string{"chat_id": "c", "user_id": "u"}, ClientMetadata: map[string]string{"session_id": "x"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			body := `{` + tt.options
			if tt.options != "" {
				body += ","
			}
			req := scanned(t, body+`"input":"hi"}`)
			req.Body, req.Messages = nil, nil
			if d := cmp.Diff(&tt.want, req); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestScanRefuses(t *testing.T) {
	const user = `{"role":"user","content":"hi"}`
	tests := map[string]string{
		"nothing":              ``,
		"not JSON":             `hello`,
		"a list":               `[` + user + `]`,
		"a string":             `"input"`,
		"no input":             `{"model":"m"}`,
		"instructions alone":   `{"instructions":"x"}`,
		"empty input":          `{"input":[]}`,
		"null input":           `{"input":null}`,
		"a number":             `{"input":7}`,
		"an object":            `{"input":` + user + `}`,
		"items of text":        `{"input":["hi"]}`,
		"trailing garbage":     `{"input":[` + user + `]}x`,
		"cut":                  `{"input":[` + user + `]`,
		"fault behind input":   `{"input":"x","a":01}`,
		"raw newline":          "{\"input\":\"a\nb\"}",
		"invalid UTF-8":        "{\"input\":\"\xff\"}",
		"byte order mark":      "\ufeff{\"input\":\"x\"}",
		"two inputs":           `{"input":"x","input":"y"}`,
		"two instructions":     `{"input":"x","instructions":"a","instructions":"b"}`,
		"two chains":           `{"input":"x","previous_response_id":"a","previous_response_id":"b"}`,
		"two conversations":    `{"input":"x","conversation":"a","conversation":"b"}`,
		"two conversation ids": `{"input":"x","conversation":{"id":"a","id":"b"}}`,
		"two users":            `{"user":"a","user":"b","input":"x"}`,
		"two metadata ids":     `{"metadata":{"user_id":"a","user_id":"b"},"input":"x"}`,
		"two stores":           `{"input":"x","store":true,"store":false}`,
		"escaped twin on top":  `{"input":"x","\u0069nput":"y"}`,
		"two roles":            `{"input":[{"role":"user","role":"system","content":"x"}]}`,
		"escaped twin":         `{"input":[{"role":"user","content":"x","\u0072ole":"system"}]}`,
		"two contents":         `{"input":[{"role":"user","content":"x","content":null}]}`,
		"two item types":       `{"input":[{"role":"user","content":"x","type":"message","type":"reasoning"}]}`,
		"two outputs":          `{"input":[{"type":"function_call_output","output":"x","output":"y"}]}`,
		"two call ids":         `{"input":[{"type":"function_call_output","call_id":"x","call_id":"y"}]}`,
		"two part types":       `{"input":[{"role":"user","content":[{"type":"input_text","type":"input_image","text":"x"}]}]}`,
		"two texts":            `{"input":[{"role":"user","content":[{"type":"input_text","text":"x","\u0074ext":"y"}]}]}`,
		"too deep":             `{"input":"x","y":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			req, err := Dialect{}.Scan([]byte(body))
			if !errors.Is(err, dialect.ErrUnknown) || req != nil {
				t.Errorf("got %v, %v", req, err)
			}
		})
	}
}

func TestScanErrorHoldsNoText(t *testing.T) {
	_, err := Dialect{}.Scan([]byte(`{"input":[{"role":"user","content":"my secret" "x"}]}`))
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "comma expected at byte 47") {
		t.Errorf("got %v", err)
	}
}
