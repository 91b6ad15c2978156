package chat

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

// seen is a message in the words of a test.
type seen struct {
	Role   dialect.Role
	Name   string
	Text   string
	Kinds  []dialect.PartKind
	Calls  []dialect.Call
	CallID string
	First  int
}

func TestScanMessages(t *testing.T) {
	req := scanned(t, `{ "model" : "gpt-4.1" , "messages" : [
		{"role":"system","content":"You help."},
		{"content":"before the role: caf\u00e9 \/ \ud83d\ude00","role":"developer"},
		{"role":"user","name":"ann","content":[{"type":"image_url","image_url":{"url":"data:x"}},{"text":"Look","type":"text"},{"type":"text","text":"here"}]},
		{"role":"assistant","content":null,"reasoning_content":"hm","tool_calls":[
			{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":\"\u00e9\"}"}},
			{"function":{"arguments":{"b": 1.0},"name":"g"},"id":"c2"},
			{"id":"c3","type":"custom","custom":{"name":"h","input":"raw"}}]},
		{"role":"tool","tool_call_id":"c1","content":"done"},
		{"role":"assistant","function_call":{"name":"old","arguments":"{}"},"content":""},
		{"role":"function","name":"old","content":"x"},
		{"role":"assistant","content":[{"type":"refusal","refusal":"No."}]},
		{"role":"user","content":[]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"x","is_error":true},{"type":"text","text":"and"},{"type":"input_audio","input_audio":{}},"bare",{"type":"new_kind"},7]},
		{"role":"user","content":[{"type":"text","text":"a"},{"type":"tool_result"}]},
		{"role":"user","content":{"odd":1}},
		{"role":"narrator"},
		{"role":"assistant","content":"Prefill:"}
	]}`)
	const text, binary = dialect.TextPart, dialect.BinaryPart
	want := []seen{
		{Role: dialect.System, Text: "You help.", Kinds: []dialect.PartKind{text}},
		{Role: dialect.Developer, Text: "before the role: café / 😀", Kinds: []dialect.PartKind{text}},
		{Role: dialect.User, Name: "ann", Text: "Look\nhere", Kinds: []dialect.PartKind{binary, text, text}, First: 1},
		{Role: dialect.Assistant, Calls: []dialect.Call{{ID: "c1", Name: "f", Arguments: `{"a":"é"}`}, {ID: "c2", Name: "g", Arguments: `{"b": 1.0}`}, {ID: "c3", Name: "h", Arguments: "raw"}}},
		{Role: dialect.Tool, Text: "done", Kinds: []dialect.PartKind{text}, CallID: "c1"},
		{Role: dialect.Assistant, Kinds: []dialect.PartKind{text}, Calls: []dialect.Call{{Name: "old", Arguments: "{}"}}},
		{Role: dialect.Tool, Name: "old", Text: "x", Kinds: []dialect.PartKind{text}},
		{Role: dialect.Assistant, Kinds: []dialect.PartKind{dialect.OtherPart}, First: -1},
		{Role: dialect.User, First: -1},
		{Role: dialect.User, Text: "and\nbare", Kinds: []dialect.PartKind{dialect.ToolResultPart, text, binary, text, dialect.OtherPart, dialect.OtherPart}, First: 1},
		{Role: dialect.User, Text: "a", Kinds: []dialect.PartKind{text, dialect.ToolResultPart}, First: -1},
		{Role: dialect.User},
		{Role: dialect.Unknown},
		{Role: dialect.Assistant, Text: "Prefill:", Kinds: []dialect.PartKind{text}},
	}
	var got []seen
	for _, m := range req.Messages {
		s := seen{Role: m.Role, Name: m.Name, Text: m.Text(), Calls: m.Calls, CallID: m.CallID, First: m.Slot.First}
		for _, p := range m.Parts {
			s.Kinds = append(s.Kinds, p.Kind)
			if p.TextAt > 0 && dialect.Unquote(req.Body[p.TextAt:p.TextEnd()]) != p.Text() {
				t.Errorf("part %q: its bounds hold %s", p.Text(), req.Body[p.TextAt:p.TextEnd()])
			}
		}
		got = append(got, s)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("messages (-want +got):\n%s", d)
	}
	if p := req.Messages[2].Parts[0]; p.Type != "image_url" || p.Size != len(`{"type":"image_url","image_url":{"url":"data:x"}}`) {
		t.Errorf("image part: %+v", p)
	}
	if p := req.Messages[9].Parts[0]; p.CallID != "t1" || !p.Failed {
		t.Errorf("tool result part: %+v", p)
	}
	if p := req.Messages[7].Parts[0]; p.Text() != "No." {
		t.Errorf("refusal part: %q", p.Text())
	}
	if req.Model != "gpt-4.1" || req.Stream {
		t.Errorf("model %q, stream %v", req.Model, req.Stream)
	}
}

func TestScanOptions(t *testing.T) {
	tests := map[string]struct {
		options string
		want    dialect.Request
	}{
		"none":                 {``, dialect.Request{}},
		"stream":               {`"stream":true,"stream_options":{"include_usage":false}`, dialect.Request{Stream: true}},
		"nulls":                {`"model":null,"stream":null,"tools":null,"tool_choice":null,"response_format":null,"user":null,"metadata":null,"max_tokens":null,"guided_json":null,"store":null,"function_call":null,"functions":null,"client_metadata":null,"grammar":null`, dialect.Request{}},
		"other types":          {`"model":1,"stream":"true","tools":{},"tool_choice":1,"response_format":"json","user":7,"metadata":[1],"max_tokens":"9"`, dialect.Request{}},
		"odd numbers":          {`"seed":9007199254740993,"temperature":1.0,"top_p":1e400,"max_tokens":1e400`, dialect.Request{}},
		"unknown at top":       {`"enable_thinking":false,"vllm_xargs":{"a":1,"a":2},"enable_thinking":true`, dialect.Request{}},
		"least limit":          {`"max_tokens":900,"max_completion_tokens":32.0`, dialect.Request{MaxTokens: 32}},
		"no limit":             {`"max_tokens":-1,"max_completion_tokens":500`, dialect.Request{MaxTokens: 500}},
		"tools":                {`"tools":[{"type":"function"}],"tool_choice":"auto"`, dialect.Request{HasTools: true}},
		"functions":            {`"functions":[{}],"function_call":"none"`, dialect.Request{HasTools: true}},
		"no tools":             {`"tools":[]`, dialect.Request{}},
		"required":             {`"tool_choice":"required"`, dialect.Request{Structured: true}},
		"one tool":             {`"tool_choice":{"type":"function","function":{"name":"f"}}`, dialect.Request{Structured: true}},
		"one function":         {`"function_call":{"name":"f"}`, dialect.Request{Structured: true}},
		"allowed, free":        {`"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`, dialect.Request{}},
		"allowed, forced":      {`"tool_choice":{"allowed_tools":{"tools":[],"mode":"required"},"type":"allowed_tools"}`, dialect.Request{Structured: true}},
		"free object":          {`"tool_choice":{"type":"auto"}`, dialect.Request{}},
		"format text":          {`"response_format":{"type":"text"}`, dialect.Request{}},
		"format JSON":          {`"response_format":{"type":"json_object"}`, dialect.Request{Structured: true}},
		"format schema":        {`"response_format":{"json_schema":{"name":"x","schema":{"type":"object","required":["a"],"properties":{"a":{"properties":{"in":{}}},"\u0062":true}}},"type":"json_schema"}`, dialect.Request{Structured: true, SchemaKeys: []string{"a", "b"}}},
		"schema without names": {`"response_format":{"type":"json_schema","json_schema":{"schema":{"properties":null}}}`, dialect.Request{Structured: true}},
		"guided":               {`"guided_json":{"properties":{"city":{}}}`, dialect.Request{Structured: true, SchemaKeys: []string{"city"}}},
		"grammar":              {`"grammar":"root ::= x"`, dialect.Request{Structured: true}},
		"identity": {
			`"user":"ann","safety_identifier":"s","prompt_cache_key":"p","session_id":"o","metadata":{"chat_id":"c","n":1,"user_id":"u"},"client_metadata":{"session_id":"x"},"store":true`,
			dialect.Request{User: "ann", SafetyIdentifier: "s", PromptCacheKey: "p", SessionID: "o", Store: true, Metadata: map[string]string{"chat_id": "c", "user_id": "u"}, ClientMetadata: map[string]string{"session_id": "x"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			body := `{` + tt.options
			if tt.options != "" {
				body += ","
			}
			req := scanned(t, body+`"messages":[{"role":"user","content":"hi"}]}`)
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
		"nothing":               ``,
		"not JSON":              `hello`,
		"a list":                `[` + user + `]`,
		"a string":              `"messages"`,
		"no messages":           `{"model":"m"}`,
		"empty messages":        `{"messages":[]}`,
		"null messages":         `{"messages":null}`,
		"messages of text":      `{"messages":["hi"]}`,
		"messages as object":    `{"messages":` + user + `}`,
		"trailing garbage":      `{"messages":[` + user + `]}x`,
		"two documents":         `{"messages":[` + user + `]}{}`,
		"cut":                   `{"messages":[` + user + `]`,
		"fault behind messages": `{"messages":[` + user + `],"a":01}`,
		"raw newline":           "{\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}",
		"invalid UTF-8":         "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
		"byte order mark":       "\ufeff{\"messages\":[" + user + "]}",
		"two messages lists":    `{"messages":[` + user + `],"messages":[]}`,
		"two models":            `{"model":"a","messages":[` + user + `],"model":"b"}`,
		"two streams":           `{"stream":true,"stream":false,"messages":[` + user + `]}`,
		"two users":             `{"user":"a","user":"b","messages":[` + user + `]}`,
		"two metadata ids":      `{"metadata":{"user_id":"a","user_id":"b"},"messages":[` + user + `]}`,
		"escaped twin on top":   `{"messages":[` + user + `],"m\u0065ssages":[]}`,
		"two roles":             `{"messages":[{"role":"user","role":"system","content":"x"}]}`,
		"escaped twin":          `{"messages":[{"role":"user","content":"x","\u0072ole":"system"}]}`,
		"two contents":          `{"messages":[{"role":"user","content":"x","content":null}]}`,
		"two tool calls":        `{"messages":[{"role":"assistant","tool_calls":[],"tool_calls":[]}]}`,
		"two types":             `{"messages":[{"role":"user","content":[{"type":"text","type":"image_url","text":"x"}]}]}`,
		"two texts":             `{"messages":[{"role":"user","content":[{"type":"text","text":"x","\u0074ext":"y"}]}]}`,
		"too deep":              `{"messages":[` + user + `],"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
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
	_, err := Dialect{}.Scan([]byte(`{"messages":[{"role":"user","content":"my secret" "x"}]}`))
	if err == nil || strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "comma expected at byte 50") {
		t.Errorf("got %v", err)
	}
}
