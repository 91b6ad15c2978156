package chat

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
	"hindsight/proxy/sse"
)

// streamed makes an event stream of chunks.
func streamed(chunks ...string) string {
	return "data: " + strings.Join(chunks, "\n\ndata: ") + "\n\n"
}

// delta is a chunk of choice 0.
func delta(d string) string {
	return `{"id":"chatcmpl-1","model":"m-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + d + `,"finish_reason":null}],"usage":null}`
}

const (
	finish = `{"id":"chatcmpl-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage  = `{"id":"chatcmpl-1","choices":[],"usage":{"prompt_tokens":20,"completion_tokens":5,"total_tokens":25,"prompt_tokens_details":{"audio_tokens":0,"cached_tokens":16}}}`
	done   = `[DONE]`
)

func hello(whole bool) dialect.Answer {
	a := dialect.Answer{ID: "chatcmpl-1", Model: "m-1", Text: "Héllo 你好", Choices: 1, Whole: whole}
	if whole {
		a.Finish = "stop"
	}
	return a
}

func twoCalls() dialect.Answer {
	return dialect.Answer{ID: "chatcmpl-1", Model: "m-1", Choices: 1, Finish: "tool_calls", Whole: true, Calls: []dialect.Call{
		{ID: "c1", Name: "read", Arguments: `{"p":"é"}`}, {ID: "c2", Name: "list", Arguments: `{"d":1}`},
	}}
}

const toolFinish = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`

// streams are recorded forms of streams and what they say.
func streams() map[string]struct {
	raw  string
	want dialect.Answer
} {
	full := streamed(delta(`{"role":"assistant","content":""}`), delta(`{"content":"Héllo "}`), delta(`{"content":"\u4f60好"}`), finish, usage, done)
	counted := hello(true)
	counted.Usage = dialect.Usage{Input: 20, Output: 5, Cached: 16}
	reasoned := hello(true)
	reasoned.Reasoning = "First. Then."
	failed := hello(false)
	nameless := twoCalls()
	nameless.Calls[0].ID, nameless.Calls[1].ID = "", ""
	alike := twoCalls()
	alike.Calls[1].Name = "read"
	namelessAlike := twoCalls()
	namelessAlike.Calls[0].ID, namelessAlike.Calls[1].ID, namelessAlike.Calls[1].Name = "", "", "read"
	older := twoCalls()
	older.Calls = older.Calls[:1]
	older.Calls[0].ID = ""
	several := hello(true)
	several.Choices = 3
	return map[string]struct {
		raw  string
		want dialect.Answer
	}{
		"usage in a chunk without choices": {full, counted},
		"CRLF":                             {strings.ReplaceAll(full, "\n", "\r\n"), counted},
		"CR":                               {strings.ReplaceAll(full, "\n", "\r"), counted},
		"no space behind the colon":        {strings.ReplaceAll(full, "data: ", "data:"), counted},
		"comments":                         {strings.Repeat(": OPENROUTER PROCESSING\n\n", 3) + strings.ReplaceAll(full, "data: ", ": x\ndata: "), counted},
		"data over many lines":             {strings.ReplaceAll(full, `,"`, ",\ndata: \""), counted},
		"under a wrong content type":       {full, counted},
		"cut before the end":               {streamed(delta(`{"content":"Héllo "}`), delta(`{"content":"你好"}`)), hello(false)},
		"no end mark":                      {streamed(delta(`{"content":"Héllo 你好"}`), finish), hello(true)},
		"end mark alone":                   {streamed(delta(`{"content":"x"}`), done), dialect.Answer{ID: "chatcmpl-1", Model: "m-1", Text: "x", Choices: 1, Whole: true}},
		"no line end":                      {"data: " + delta(`{"content":"x"}`) + "\n\ndata: [DONE]", dialect.Answer{ID: "chatcmpl-1", Model: "m-1", Text: "x", Choices: 1, Whole: true}},
		"cut inside a character":           {streamed(delta(`{"content":"Héllo 你好"}`)) + "data: {\"choices\":[{\"delta\":{\"content\":\"\xe4", hello(false)},
		"a character in two events":        {streamed(delta("{\"content\":\"Héllo \xe4\"}"), delta("{\"content\":\"\xbd\xa0好\"}"), delta("{\"content\":\"\xe5\x90\"}")), hello(false)},
		"bad events":                       {streamed(`{"choices":[{"index":0,"delta":{"content":"no"}}]`, `nonsense`, `[]`, `7`, delta(`{"content":"Héllo 你好"}`), `{"choices":{}}`, `{"choices":[7,{"index":"x","delta":7}]}`, ``, finish, done), withChoices(hello(true), 2)},
		"error in the middle":              {streamed(delta(`{"content":"Héllo 你好"}`), `{"error":{"message":"overloaded"}}`, done), failed},
		"error event":                      {streamed(delta(`{"content":"Héllo 你好"}`)) + "event: error\ndata: {\"message\":\"x\"}\n\n" + streamed(done), failed},
		"no error":                         {streamed(delta(`{"content":"Héllo 你好"}`), `{"error":null}`, finish, done), hello(true)},
		"three choices": {streamed(`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":1,"delta":{"content":"other"},"logprobs":{"content":[{"token":"other","logprob":-0.1}]}}]}`,
			`{"choices":[{"delta":{"content":"Héllo 你好"},"logprobs":null,"finish_reason":null,"index":0},{"index":2,"delta":{"content":"third"}}]}`, `{"choices":[{"index":1,"delta":{},"finish_reason":"length"}]}`, finish, done), several},
		"reasoning_content":     {streamed(delta(`{"reasoning_content":"First. "}`), delta(`{"reasoning_content":"Then.","content":null}`), delta(`{"content":"Héllo 你好"}`), finish, done), reasoned},
		"reasoning":             {streamed(delta(`{"reasoning":"First. "}`), delta(`{"reasoning":"Then.","content":""}`), delta(`{"content":"Héllo 你好"}`), finish, done), reasoned},
		"reasoning twice":       {streamed(delta(`{"reasoning_content":"","reasoning":"First. "}`), delta(`{"reasoning_content":"First. ","reasoning":"Then."}`), delta(`{"content":"Héllo 你好"}`), finish, done), reasoned},
		"parts":                 {streamed(delta(`{"content":[{"type":"thinking","thinking":[{"type":"text","text":"First. "}]}]}`), delta(`{"content":[{"type":"thinking","thinking":"Then."},{"type":"text","text":"Héllo 你好"},7]}`), finish, done), reasoned},
		"refusal":               {streamed(delta(`{"content":null,"refusal":"Héllo "}`), delta(`{"refusal":"你好"}`), finish, done), hello(true)},
		"interleaved calls":     {streamed(delta(`{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]}`), delta(`{"tool_calls":[{"index":1,"id":"c2","function":{"name":"list","arguments":"{\"d"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"p\":\"\u00e9\"}"}},{"index":1,"function":{"arguments":"\":1}"}}]}`), toolFinish, done), twoCalls()},
		"calls without index":   {streamed(delta(`{"tool_calls":[{"id":"c1","function":{"name":"read","arguments":"{\"p\":"}}]}`), delta(`{"tool_calls":[{"id":"c2","function":{"name":"list","arguments":"{\"d"}}]}`), delta(`{"tool_calls":[{"id":"c1","function":{"arguments":"\"é\"}"}}]}`), delta(`{"tool_calls":[{"id":"c2","function":{"arguments":"\":1"}}]}`), delta(`{"tool_calls":[{"function":{"arguments":"}"}}]}`), toolFinish, done), twoCalls()},
		"calls all at index 0":  {streamed(delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"p\":\"é\"}"}}]}`), delta(`{"tool_calls":[{"index":0,"id":"c2","function":{"name":"list","arguments":"{\"d\":1}"}}]}`), toolFinish, done), twoCalls()},
		"calls without ids":     {streamed(delta(`{"tool_calls":[{"function":{"name":"read","arguments":"{\"p\":"}}]}`), delta(`{"tool_calls":[{"function":{"arguments":"\"é\"}"}}]}`), delta(`{"tool_calls":[{"id":"","function":{"name":"list","arguments":{"d":1}}}]}`), toolFinish, done), nameless},
		"alike without index":   {streamed(delta(`{"tool_calls":[{"id":"c1","function":{"name":"read","arguments":"{\"p\":\"é\"}"}}]}`), delta(`{"tool_calls":[{"id":"c2","function":{"name":"read","arguments":"{\"d\":1}"}}]}`), toolFinish, done), alike},
		"alike without ids":     {streamed(delta(`{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{\"p\":\"é\"}"}}]}`), delta(`{"tool_calls":[{"index":0,"function":{"name":"read","arguments":"{\"d\":1}"}}]}`), toolFinish, done), namelessAlike},
		"name in every piece":   {streamed(delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"{\"p\":"}}]}`), delta(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"read","arguments":"\"é\"}"}}]}`), delta(`{"tool_calls":[{"index":0,"id":"","function":{"name":"read","arguments":""}},{"index":1,"id":"c2","function":{"name":"list","arguments":"{\"d\":1}"}}]}`), toolFinish, done), twoCalls()},
		"function_call":         {streamed(delta(`{"function_call":{"name":"read","arguments":"{\"p\":"}}`), delta(`{"function_call":{"arguments":"\"é\"}"}}`), toolFinish, done), older},
		"usage of other makers": {streamed(delta(`{"content":"Héllo 你好"}`), `{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":20,"completion_tokens":5,"prompt_cache_hit_tokens":16}}],"usage":{}}`, done), counted},
	}
}

func withChoices(a dialect.Answer, n int) dialect.Answer {
	a.Choices = n
	return a
}

func TestReadStream(t *testing.T) {
	for name, tt := range streams() {
		t.Run(name, func(t *testing.T) {
			got := Dialect{}.ReadAnswer([]byte(tt.raw), name != "under a wrong content type")
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestReadDocument(t *testing.T) {
	counted := hello(true)
	counted.Usage = dialect.Usage{Input: 20, Output: 5, Cached: 16}
	several := hello(true)
	several.Choices = 2
	reasoned := hello(true)
	reasoned.Reasoning = "First."
	twins := twoCalls()
	twins.Calls[1].ID = "c1"
	tests := map[string]struct {
		raw  string
		want dialect.Answer
	}{
		"plain":     {`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":"H\u00e9llo 你好","refusal":null},"finish_reason":"stop","logprobs":null}],"usage":{"prompt_tokens":20,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":16}}}` + "\n", counted},
		"n=2":       {`{"id":"chatcmpl-1","model":"m-1","choices":[{"message":{"content":"other"},"finish_reason":"length","index":1},{"finish_reason":"stop","message":{"content":"Héllo 你好"},"index":0,"logprobs":{"content":[]}}]}`, several},
		"no index":  {`{"id":"chatcmpl-1","model":"m-1","choices":[{"message":{"content":"Héllo 你好"},"finish_reason":"stop"},{"message":{"content":"other"},"finish_reason":"length"}]}`, several},
		"reasoning": {`{"id":"chatcmpl-1","model":"m-1","choices":[{"finish_reason":"stop","message":{"reasoning_content":"First.","reasoning":"First.","content":"Héllo 你好"}}]}`, reasoned},
		"calls":     {`{"id":"chatcmpl-1","model":"m-1","choices":[{"finish_reason":"tool_calls","message":{"content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{\"p\":\"é\"}"}},{"id":"c1","function":{"name":"list","arguments":"{\"d\":1}"}}]}}]}`, twins},
		"error":     {`{"error":{"message":"no","type":"x"}}`, dialect.Answer{}},
		"empty":     {``, dialect.Answer{}},
		"no JSON":   {`<html>`, dialect.Answer{}},
		"a list":    {`[1]`, dialect.Answer{Whole: true}},
		"odd":       {`{"id":7,"choices":[{"message":{"content":7,"tool_calls":[7,{"function":7}]}}],"usage":[]}`, dialect.Answer{Choices: 1, Whole: true, Calls: []dialect.Call{{}}}},
		"cut":       {`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"message":{"content":"Hé`, dialect.Answer{ID: "chatcmpl-1", Model: "m-1"}},
		"cut late":  {`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"message":{"content":"Héllo 你好"}}],"usa`, hello(false)},
		"as stream": {`{"id":"chatcmpl-1","model":"m-1","choices":[{"index":0,"message":{"content":"Héllo 你好"},"finish_reason":"stop"}]}`, hello(true)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := Dialect{}.ReadAnswer([]byte(tt.raw), name == "as stream")
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

// piecewise reads a stream that comes in pieces.
func piecewise(pieces ...string) dialect.Answer {
	var a answer
	var s sse.Splitter
	for _, p := range pieces {
		s.Push([]byte(p), a.event)
	}
	s.Close(a.event)
	return a.result()
}

func TestReadStreamByteByByte(t *testing.T) {
	for name, tt := range streams() {
		var bytes []string
		for i := range len(tt.raw) {
			bytes = append(bytes, tt.raw[i:i+1])
		}
		if d := cmp.Diff(tt.want, piecewise(bytes...)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// What is read of a stream that breaks off is the beginning of what is read of
// the whole.
func TestReadStreamCutAnywhere(t *testing.T) {
	for name, tt := range streams() {
		for i := range len(tt.raw) {
			got := Dialect{}.ReadAnswer([]byte(tt.raw[:i]), true)
			if !strings.HasPrefix(tt.want.Text, got.Text) || !strings.HasPrefix(tt.want.Reasoning, got.Reasoning) {
				t.Fatalf("%s, cut at %d: text %q, reasoning %q", name, i, got.Text, got.Reasoning)
			}
			if got.Whole && got.Text != tt.want.Text {
				t.Fatalf("%s, cut at %d: whole, but text is %q", name, i, got.Text)
			}
		}
	}
}

func TestReadAnswerKeepsNothingOfTheBytes(t *testing.T) {
	for name, tt := range streams() {
		raw := []byte(tt.raw)
		got := Dialect{}.ReadAnswer(raw, true)
		clear(raw)
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestEnded(t *testing.T) {
	for tail, want := range map[string]bool{
		"data: {}\n\ndata: [DONE]\n\n":         true,
		"data: {}\r\n\r\ndata: [DONE]\r\n\r\n": true,
		"data: {}\r\rdata:[DONE]\r\r":          true,
		"\n\ndata: [DONE]":                     true,
		"data: [DONE]\n\n":                     true,
		"":                                     false,
		"\n\ndata: [DONE":                      false,
		`data: {"delta":{"content":"data: [DONE]"}`: false,
		`data: {"content":"\ndata: [DONE]"}` + "\n": false,
		"\n[DONE]\n":                                       false,
		": data: [DONE]\n":                                 false,
		"data: {\"finish_reason\":\"stop\"}\n\n":           false,
		strings.Repeat("x", 2000) + "\n\ndata: [DONE]\n\n": true,
		`data: {"content":"data: [DONE]` + strings.Repeat("x", 64-len("data: [DONE]")): false,
	} {
		if got := (Dialect{}).Ended([]byte(tail)); got != want {
			t.Errorf("%q: got %v", tail, got)
		}
	}
}

func TestError(t *testing.T) {
	got := string(Dialect{}.Error(502, "", "can't reach \"up\"\n"))
	if want := `{"error":{"message":"can't reach \"up\"\n","type":"server_error","param":null,"code":null}}`; got != want {
		t.Errorf("got %s", got)
	}
	for status, want := range map[int]string{400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 413: "invalid_request_error", 429: "rate_limit_error", 500: "server_error"} {
		var doc struct{ Error struct{ Type, Code string } }
		if err := json.Unmarshal(Dialect{}.Error(status, "body_too_large", "m"), &doc); err != nil || doc.Error.Type != want || doc.Error.Code != "body_too_large" {
			t.Errorf("%d: got %+v, %v", status, doc, err)
		}
	}
}

// A server that leaves out the blank lines is read a line at a time.
func TestStreamWithoutBlankLines(t *testing.T) {
	raw := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n" +
		"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n" +
		"data: [DONE]\n\n"
	if a := (Dialect{}).ReadAnswer([]byte(raw), true); a.Text != "Hello" || !a.Whole || a.Finish != "stop" {
		t.Errorf("%+v", a)
	}
}
