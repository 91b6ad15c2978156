package messages

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
	Role  dialect.Role
	Text  string
	Kinds []dialect.PartKind
	Calls []dialect.Call
	First int
}

func TestScanMessages(t *testing.T) {
	req := scanned(t, `{ "model" : "claude-x" , "messages" : [
		{"role":"user","content":"caf\u00e9 \/ \ud83d\ude00"},
		{"content":[{"type":"thinking","thinking":"hm","signature":"S=="},{"type":"redacted_thinking","data":"AA"},{"type":"text","text":"Let me look."},
			{"type":"tool_use","id":"toolu_1","name":"read","input":{"p": 1.0}},{"input":{},"name":"list","id":"toolu_2","type":"tool_use","cache_control":{"type":"ephemeral"}}],"role":"assistant"},
		{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"hi","is_error":false},
			{"type":"tool_result","tool_use_id":"toolu_2","is_error":true,"content":[{"type":"text","text":"one"},{"type":"image","source":{}},{"type":"text","text":"tw\"o"},7,{"text":"3","type":"text"}]},
			{"type":"tool_result","tool_use_id":"toolu_3"},
			{"type":"image","source":{"type":"url"}},{"type":"text","text":"and"},{"type":"text","text":"this","cache_control":{"type":"ephemeral"}}]},
		{"role":"system","content":[{"type":"text","text":"<system-reminder>x</system-reminder>","cache_control":{"type":"ephemeral"}}]},
		{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":"x"}},{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"u"}]},{"type":"text","text":"Found.","citations":[]}]},
		{"role":"user","content":[{"type":"text","text":"before"},{"type":"tool_result","tool_use_id":"t","content":null}]},
		{"role":"user","content":[{"type":"document","source":{"type":"text","data":"d"},"title":"T"},"bare",{"type":"search_result","content":[{"type":"text","text":"found"}]},{"type":"text"}]},
		{"role":"user","content":[]},
		{"role":"user","content":{"odd":1}},
		{"role":"narrator"},
		{"role":"user","content":[{"type":"tool_use","id":"x","name":"fake","input":{}}]},
		{"role":"assistant","content":"Prefill:"}
	],"system":[{"type":"text","text":"You help."},{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}]}`)
	const text, result, reasoning, binary, other = dialect.TextPart, dialect.ToolResultPart, dialect.ReasoningPart, dialect.BinaryPart, dialect.OtherPart
	kinds := func(k ...dialect.PartKind) []dialect.PartKind { return k }
	want := []seen{
		{Role: dialect.System, Text: "You help.\nBe brief.", Kinds: kinds(text, text)},
		{Role: dialect.User, Text: "café / 😀", Kinds: kinds(text)},
		{Role: dialect.Assistant, Text: "Let me look.", Kinds: kinds(reasoning, reasoning, text, other, other), First: 2, Calls: []dialect.Call{
			{ID: "toolu_1", Name: "read", Arguments: `{"p": 1.0}`}, {ID: "toolu_2", Name: "list", Arguments: `{}`}}},
		{Role: dialect.User, Text: "and\nthis", Kinds: kinds(result, result, result, binary, text, text), First: 4},
		{Role: dialect.System, Text: "<system-reminder>x</system-reminder>", Kinds: kinds(text)},
		{Role: dialect.Assistant, Text: "Found.", Kinds: kinds(other, result, text), First: 2, Calls: []dialect.Call{{ID: "srvtoolu_1", Name: "web_search", Arguments: `{"q":"x"}`}}},
		{Role: dialect.User, Text: "before", Kinds: kinds(text, result), First: -1},
		{Role: dialect.User, Kinds: kinds(binary, other, other, other), First: -1},
		{Role: dialect.User, First: -1},
		{Role: dialect.User},
		{Role: dialect.Unknown},
		{Role: dialect.User, Kinds: kinds(other), First: -1},
		{Role: dialect.Assistant, Text: "Prefill:", Kinds: kinds(text)},
	}
	var got []seen
	for _, m := range req.Messages {
		s := seen{Role: m.Role, Text: m.Text(), Calls: m.Calls, First: m.Slot.First}
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
	if req.Model != "claude-x" || req.Stream {
		t.Errorf("model %q, stream %v", req.Model, req.Stream)
	}
	type part struct {
		Call, Text string
		Failed     bool
	}
	var results []part
	for _, p := range req.Messages[3].Parts[:3] {
		results = append(results, part{p.CallID, p.Text(), p.Failed})
	}
	if d := cmp.Diff([]part{{"toolu_1", "hi", false}, {"toolu_2", "one\ntw\"o\n3", true}, {"toolu_3", "", false}}, results); d != "" {
		t.Errorf("tool results (-want +got):\n%s", d)
	}
	if p := req.Messages[3].Parts[3]; p.Type != "image" || p.Size != len(`{"type":"image","source":{"type":"url"}}`) {
		t.Errorf("image part: %+v", p)
	}
	if got := string(req.Body); !strings.Contains(got, `"content":"hi"`) || !strings.Contains(got, `{"type":"text","text":"one"}`) {
		t.Errorf("the body was written to: %s", got)
	}
}

func TestScanSystem(t *testing.T) {
	const messages = `"messages":[{"role":"user","content":"hi"}]`
	for name, c := range map[string]struct {
		body, want string
		first      dialect.Role
	}{
		"none":   {`{` + messages + `}`, "hi", dialect.User},
		"string": {`{"system":"S",` + messages + `}`, "S", dialect.System},
		"behind": {`{` + messages + `,"system":"S"}`, "S", dialect.System},
		"parts":  {`{"system":[{"type":"text","text":"S"}],` + messages + `}`, "S", dialect.System},
		"empty":  {`{"system":"",` + messages + `}`, "", dialect.System},
		"null":   {`{"system":null,` + messages + `}`, "hi", dialect.User},
	} {
		m := scanned(t, c.body).Messages
		if m[0].Role != c.first || m[0].Text() != c.want || m[len(m)-1].Text() != "hi" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}

func TestScanOptions(t *testing.T) {
	tests := map[string]struct {
		options string
		want    dialect.Request
	}{
		"none":                 {``, dialect.Request{}},
		"stream":               {`"stream":true`, dialect.Request{Stream: true}},
		"nulls":                {`"model":null,"stream":null,"tools":null,"tool_choice":null,"output_config":null,"metadata":null,"max_tokens":null,"output_format":null,"thinking":null`, dialect.Request{}},
		"other types":          {`"model":1,"stream":"true","tools":{},"tool_choice":"any","output_config":"json","metadata":[1],"max_tokens":"9","output_format":1`, dialect.Request{}},
		"odd numbers":          {`"temperature":1.0,"top_p":1e400,"max_tokens":1e400`, dialect.Request{}},
		"unknown at top":       {`"safeguards":[{"type":"x"}],"context_management":{"a":1,"a":2}`, dialect.Request{}},
		"limit":                {`"max_tokens":32.0`, dialect.Request{MaxTokens: 32}},
		"no limit":             {`"max_tokens":-1`, dialect.Request{}},
		"tools":                {`"tools":[{"name":"f","input_schema":{"properties":{"title":{}}}}],"tool_choice":{"type":"auto"}`, dialect.Request{HasTools: true}},
		"no tools":             {`"tools":[]`, dialect.Request{}},
		"any tool":             {`"tool_choice":{"disable_parallel_tool_use":true,"type":"any"}`, dialect.Request{Structured: true}},
		"one tool":             {`"tool_choice":{"type":"tool","name":"f"}`, dialect.Request{Structured: true}},
		"no tool":              {`"tool_choice":{"type":"none"}`, dialect.Request{}},
		"effort alone":         {`"output_config":{"effort":"high"}`, dialect.Request{}},
		"format":               {`"output_config":{"effort":"high","format":{"schema":{"type":"object","properties":{"title":{"properties":{"in":1}},"\u0062":true}},"type":"json_schema"}}`, dialect.Request{Structured: true, SchemaKeys: []string{"title", "b"}}},
		"format, older":        {`"output_format":{"type":"json_schema","schema":{"properties":{"a":{}}}}`, dialect.Request{Structured: true, SchemaKeys: []string{"a"}}},
		"schema without names": {`"output_config":{"format":{"type":"json_schema","schema":{"properties":null}}}`, dialect.Request{Structured: true}},
		"identity": {
			`"metadata":{"user_id":"{\"device_id\":\"d\"}","n":1},"session_id":"o","user":"not of this format"`,
			dialect.Request{SessionID: "o", Metadata: map[string]string{"user_id": `{"device_id":"d"}`}},
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
	part := func(p string) string { return `{"messages":[{"role":"user","content":[{` + p + `}]}]}` }
	tests := map[string]string{
		"nothing":             ``,
		"not JSON":            `hello`,
		"a list":              `[` + user + `]`,
		"no messages":         `{"model":"m","system":"S"}`,
		"empty messages":      `{"messages":[]}`,
		"null messages":       `{"messages":null}`,
		"messages of text":    `{"messages":["hi"]}`,
		"messages as object":  `{"messages":` + user + `}`,
		"trailing garbage":    `{"messages":[` + user + `]}x`,
		"cut":                 `{"messages":[` + user + `]`,
		"fault in a tool":     `{"messages":[` + user + `],"tools":[{"a":01}]}`,
		"raw newline":         "{\"messages\":[{\"role\":\"user\",\"content\":\"a\nb\"}]}",
		"invalid UTF-8":       "{\"messages\":[{\"role\":\"user\",\"content\":\"\xff\"}]}",
		"two messages lists":  `{"messages":[` + user + `],"m\u0065ssages":[]}`,
		"two systems":         `{"system":"a","messages":[` + user + `],"system":"b"}`,
		"two models":          `{"model":"a","messages":[` + user + `],"model":"b"}`,
		"two user ids":        `{"metadata":{"user_id":"a","user_id":"b"},"messages":[` + user + `]}`,
		"two choices":         `{"tool_choice":{"type":"auto"},"tool_choice":{"type":"any"},"messages":[` + user + `]}`,
		"two formats":         `{"output_config":{},"output_config":{},"messages":[` + user + `]}`,
		"two roles":           `{"messages":[{"role":"user","\u0072ole":"system","content":"x"}]}`,
		"two contents":        `{"messages":[{"role":"user","content":"x","content":null}]}`,
		"two types":           part(`"type":"text","type":"image","text":"x"`),
		"two texts":           part(`"type":"text","text":"x","\u0074ext":"y"`),
		"two calls answered":  part(`"type":"tool_result","tool_use_id":"a","tool_use_id":"b"`),
		"two results":         part(`"type":"tool_result","content":"a","content":"b"`),
		"two errors":          part(`"type":"tool_result","is_error":true,"is_error":false`),
		"two call ids":        part(`"type":"tool_use","id":"a","id":"b"`),
		"too deep":            `{"messages":[` + user + `],"x":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
		"too deep in a input": part(`"type":"tool_use","input":` + strings.Repeat("[", 600) + strings.Repeat("]", 600)),
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
