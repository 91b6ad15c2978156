package messages

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
	"hindsight/proxy/sse"
)

var kindOf = regexp.MustCompile(`"type":"(\w+)"`)

// streamed makes an event stream; each event is named by the first type in it.
func streamed(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kindOf.FindStringSubmatch(e)[1], e)
	}
	return b.String()
}

const (
	start = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-x","content":[],"stop_reason":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":6,"cache_read_input_tokens":10,"output_tokens":1}}}`
	ping  = `{"type":"ping"}`
	ended = `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":5}}`
	used  = `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":5}}`
	stop  = `{"type":"message_stop"}`
)

func begin(i int, block string) string {
	return fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, block)
}

func delta(i int, d string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":%s}`, i, d)
}

func end(i int) string { return fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i) }

// says are the events of a text block.
func says(i int, pieces ...string) []string {
	out := []string{begin(i, `{"type":"text","text":""}`)}
	for _, p := range pieces {
		out = append(out, delta(i, `{"type":"text_delta","text":"`+p+`"}`))
	}
	return append(out, end(i))
}

// calls are the events of a tool call.
func calls(i int, id, name string, pieces ...string) []string {
	out := []string{begin(i, `{"type":"tool_use","id":"`+id+`","name":"`+name+`","input":{}}`)}
	for _, p := range pieces {
		quoted, _ := json.Marshal(p)
		out = append(out, delta(i, `{"type":"input_json_delta","partial_json":`+string(quoted)+`}`))
	}
	return append(out, end(i))
}

func events(lists ...[]string) string {
	var all []string
	for _, l := range lists {
		all = append(all, l...)
	}
	return streamed(all...)
}

func one(e ...string) []string { return e }

// hello is an answer that says hello. Anthropic's counts leave out what the
// cache had; ours have it.
func hello(whole bool) dialect.Answer {
	a := dialect.Answer{ID: "msg_1", Model: "claude-x", Text: "Héllo 你好", Choices: 1, Usage: dialect.Usage{Input: 20, Output: 1, Cached: 10}, Whole: whole}
	if whole {
		a.Finish, a.Usage.Output = "end_turn", 5
	}
	return a
}

func twoCalls() dialect.Answer {
	a := hello(true)
	a.Finish = "tool_use"
	a.Calls = []dialect.Call{{ID: "toolu_1", Name: "read", Arguments: `{"p":"é"}`}, {ID: "toolu_2", Name: "list", Arguments: `{}`}}
	return a
}

type recorded struct {
	raw  string
	want dialect.Answer
}

// streams are recorded forms of streams and what they say.
func streams() map[string]recorded {
	full := events(one(start, ping), says(0, "Héllo ", `\u4f60好`), one(ended, stop))
	reasoned := hello(true)
	reasoned.Reasoning = "First. Then."
	lines := hello(true)
	lines.Text = "Héllo\n你好\n"
	empty := hello(false)
	empty.Text = ""
	onlyText := hello(true)
	onlyText.ID, onlyText.Model, onlyText.Usage, onlyText.Choices = "", "", dialect.Usage{Output: 5}, 0
	late := hello(true)
	late.Usage = dialect.Usage{Input: 31, Output: 5, Cached: 30}
	searched := hello(true)
	searched.Calls = []dialect.Call{{ID: "srvtoolu_1", Name: "web_search", Arguments: `{"q":1}`}}
	paused := hello(true)
	paused.Finish = "pause_turn"
	noInput := twoCalls()
	noInput.Calls[1].Arguments = ""
	return map[string]recorded{
		"plain":                     {full, hello(true)},
		"CRLF":                      {strings.ReplaceAll(full, "\n", "\r\n"), hello(true)},
		"CR":                        {strings.ReplaceAll(full, "\n", "\r"), hello(true)},
		"no space behind the colon": {strings.ReplaceAll(full, ": ", ":"), hello(true)},
		"no event names":            {regexp.MustCompile(`event: \w+\n`).ReplaceAllString(full, ""), hello(true)},
		"no blank lines":            {strings.ReplaceAll(full, "\n\n", "\n"), hello(true)},
		"padded":                    {strings.ReplaceAll(full, "\"}\n", "\"          }\n"), hello(true)},
		"comments":                  {": hold\n\n" + strings.ReplaceAll(full, "data: ", ": x\ndata: "), hello(true)},
		"under a wrong type":        {full, hello(true)},
		"no stop event":             {events(one(start), says(0, "Héllo 你好"), one(ended)), hello(true)},
		"stop event alone":          {events(one(start), says(0, "Héllo 你好"), one(stop)), unbroken(hello(false))},
		"cut before the end":        {events(one(start), says(0, "Héllo 你好")), hello(false)},
		"cut inside a character":    {events(one(start), says(0, "Héllo 你好")) + "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"\xe4", hello(false)},
		"a character in two events": {events(one(start), says(0, "Héllo \xe4", "\xbd\xa0好", "\xe5\x90")), hello(false)},
		"a character never whole":   {events(one(start), says(0, "\xe4\xbd")), empty},
		"nothing but a beginning":   {events(one(start)), empty},
		"no beginning":              {events(says(0, "Héllo 你好"), one(ended, stop)), onlyText},
		"bad events":                {events(one(start), says(0, "Héllo 你好")) + "data: nonsense\n\ndata: []\n\ndata: 7\n\n" + events(one(`{"type":"news_of_tomorrow","index":0,"delta":{"text":"no"}}`, `{"type":"content_block_delta","index":0,"delta":7}`, `{"type":"content_block_start","content_block":[]}`, `{"type":"message_delta","delta":null,"usage":null}`, `{"type":"content_block_delta","index":9,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, ended, stop)), hello(true)},
		"error in the middle":       {events(one(start), says(0, "Héllo 你好"), one(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)), hello(false)},
		"error after all":           {full + streamed(`{"type":"error","error":{"type":"api_error","message":"x"}}`), broken(hello(true))},
		"thinking": {events(one(start, begin(0, `{"type":"thinking","thinking":"","signature":""}`), delta(0, `{"type":"thinking_delta","thinking":"First. "}`), delta(0, `{"type":"thinking_delta","thinking":"Then."}`), delta(0, `{"type":"signature_delta","signature":"EqQB"}`), end(0), begin(1, `{"type":"redacted_thinking","data":"AA"}`), end(1)),
			says(2, "Héllo 你好"), one(ended, stop)), reasoned},
		"two texts":            {events(one(start), says(0, "Héllo"), says(1, "你", "好"), says(2), one(ended, stop)), lines},
		"citations":            {events(one(start, begin(0, `{"type":"text","text":"Héllo ","citations":[]}`), delta(0, `{"type":"citations_delta","citation":{"cited_text":"no"}}`), delta(0, `{"type":"text_delta","text":"你好"}`), end(0), ended, stop)), hello(true)},
		"calls":                {events(one(start), says(0, "Héllo 你好"), calls(1, "toolu_1", "read", "", `{"p":"`, `é"}`), calls(2, "toolu_2", "list", ""), one(used, stop)), twoCalls()},
		"interleaved calls":    {events(one(start), says(0, "Héllo 你好"), calls(1, "toolu_1", "read", `{"p":"`), calls(2, "toolu_2", "list"), one(delta(1, `{"type":"input_json_delta","partial_json":"é\"}"}`), used, stop)), twoCalls()},
		"input in one piece":   {events(one(start), says(0, "Héllo 你好"), one(begin(1, `{"type":"tool_use","id":"toolu_1","name":"read","input":{"p":"é"}}`), end(1), begin(2, `{"type":"tool_use","id":"toolu_2","name":"list"}`), end(2), used, stop)), noInput},
		"calls without index":  {strings.NewReplacer(`"index":1,`, "", `"index":2,`, "").Replace(events(one(start), says(0, "Héllo 你好"), calls(1, "toolu_1", "read", `{"p":"é"}`), calls(2, "toolu_2", "list", "{}"), one(used, stop))), twoCalls()},
		"a tool of the server": {events(one(start, begin(0, `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`), delta(0, `{"type":"input_json_delta","partial_json":"{\"q\":1}"}`), end(0), begin(1, `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","title":"no"}]}`), end(1)), says(2, "Héllo 你好"), one(ended, stop)), searched},
		"pause":                {events(one(start), says(0, "Héllo 你好"), one(`{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":5}}`, stop)), paused},
		"counted at the end":   {events(one(`{"type":"message_start","message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":0,"output_tokens":0}}}`), says(0, "Héllo 你好"), one(`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"input_tokens":1,"cache_read_input_tokens":30,"cache_creation_input_tokens":0,"output_tokens":5}}`, stop)), late},
	}
}

func broken(a dialect.Answer) dialect.Answer   { a.Whole = false; return a }
func unbroken(a dialect.Answer) dialect.Answer { a.Whole = true; return a }

func TestReadStream(t *testing.T) {
	for name, tt := range streams() {
		t.Run(name, func(t *testing.T) {
			got := Dialect{}.ReadAnswer([]byte(tt.raw), name != "under a wrong type")
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestReadDocument(t *testing.T) {
	const head = `{"id":"msg_1","type":"message","role":"assistant","model":"claude-x",`
	const tail = `,"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":6,"cache_read_input_tokens":10,"output_tokens":5,"service_tier":"standard","cache_creation":{"ephemeral_5m_input_tokens":6}}}`
	reasoned := hello(true)
	reasoned.Reasoning = "First."
	lines := hello(true)
	lines.Text = "Héllo\n你好"
	called := twoCalls()
	called.Usage = dialect.Usage{}
	tests := map[string]recorded{
		"plain":     {head + `"content":[{"type":"text","text":"H\u00e9llo 你好"}]` + tail + "\n", hello(true)},
		"as stream": {head + `"content":[{"type":"text","text":"Héllo 你好"}]` + tail, hello(true)},
		"a string":  {head + `"content":"Héllo 你好"` + tail, hello(true)},
		"two texts": {head + `"content":[{"type":"text","text":"Héllo"},{"type":"text","text":"你好","citations":[{"cited_text":"no"}]}]` + tail, lines},
		"thinking":  {head + `"content":[{"type":"thinking","thinking":"First.","signature":"S"},{"type":"redacted_thinking","data":"AA"},{"type":"text","text":"Héllo 你好"}]` + tail, reasoned},
		"calls": {head + `"content":[{"type":"text","text":"Héllo 你好"},{"type":"tool_use","id":"toolu_1","name":"read","input":{"p":"é"}},{"input":{},"id":"toolu_2","name":"list","type":"tool_use"}],"stop_reason":"tool_use"}`,
			called},
		"error":    {`{"type":"error","error":{"type":"invalid_request_error","message":"no"},"request_id":"req_1"}`, dialect.Answer{}},
		"empty":    {``, dialect.Answer{}},
		"no JSON":  {`<html>`, dialect.Answer{}},
		"a list":   {`[1]`, dialect.Answer{Whole: true}},
		"odd":      {`{"id":7,"content":[7,{"type":"tool_use","input":7},{"type":7,"text":"x"}],"usage":[],"error":null}`, dialect.Answer{Choices: 1, Whole: true, Calls: []dialect.Call{{Arguments: "7"}}}},
		"cut":      {head + `"content":[{"type":"text","text":"Hé`, dialect.Answer{ID: "msg_1", Model: "claude-x", Choices: 1}},
		"cut late": {head + `"content":[{"type":"text","text":"Héllo 你好"}],"usage":{"input_tokens":10,"cache_read_input_tokens":10,"output_tokens":1},"sto`, hello(false)},
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

// What is recorded of an answer is what the client's next request says of it:
// sessions are found by that.
func TestAnswerReadsAsInTheNextRequest(t *testing.T) {
	content := `[{"type":"thinking","thinking":"T","signature":"S"},{"type":"text","text":"One."},{"type":"tool_use","id":"toolu_1","name":"f","input":{"a": 1.0}},{"type":"text","text":""},{"type":"text","text":"Two \"q\"."}]`
	a := Dialect{}.ReadAnswer([]byte(`{"id":"msg_1","content":`+content+`,"stop_reason":"tool_use"}`), false)
	m := scanned(t, `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":`+content+`}]}`).Messages[1]
	if a.Text != m.Text() {
		t.Errorf("text %q, and then %q", a.Text, m.Text())
	}
	if d := cmp.Diff(a.Calls, m.Calls); d != "" {
		t.Error(d)
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
	const last = "event: message_stop\ndata: {\"type\":\"message_stop\"}"
	for tail, want := range map[string]bool{
		last + "\n\n":     true,
		last + "\r\n\r\n": true,
		"}\r\r" + strings.ReplaceAll(last, "\n", "\r"): true,
		"}\n\n" + last: true,
		"data: {\"type\":\"message_stop\"    }\n":                                  true,
		"data:{\"type\":\"message_stop\",\"amazon-bedrock-invocationMetrics\":{}}": true,
		last + "\n\n: bye\n\n":              true,
		"event: message_stop\ndata: {}\n\n": false,
		"":                                  false,
		"event: message_stop\n":             false,
		last[:len(last)-1]:                  false,
		": data: {\"type\":\"message_stop\"}\n\n":                                        false,
		"{\"type\":\"message_stop\"}\n\n":                                                false,
		streamed(delta(0, `{"type":"text_delta","text":"{\"type\":\"message_stop\"}"}`)): false,
		streamed(delta(0, `{"type":"text_delta","text":"data: message_stop"}`)):          false,
		streamed(begin(0, `{"type":"tool_use","input":{"type":"message_stop"}}`)):        false,
		streamed(ended): false,
	} {
		if got := (Dialect{}).Ended([]byte(tail)); got != want {
			t.Errorf("%q: got %v", tail, got)
		}
	}
}

func TestError(t *testing.T) {
	got := string(Dialect{}.Error(502, "upstream_unreachable", "can't reach \"up\"\n"))
	if want := `{"type":"error","error":{"type":"api_error","message":"can't reach \"up\"\n"}}`; got != want {
		t.Errorf("got %s", got)
	}
	for status, want := range map[int]string{
		400: "invalid_request_error", 401: "authentication_error", 403: "permission_error", 404: "not_found_error", 408: "invalid_request_error",
		413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 503: "api_error", 504: "timeout_error", 529: "overloaded_error",
	} {
		var doc struct {
			Type  string
			Error struct{ Type, Message string }
		}
		if err := json.Unmarshal(Dialect{}.Error(status, "", "m"), &doc); err != nil || doc.Type != "error" || doc.Error.Type != want || doc.Error.Message != "m" {
			t.Errorf("%d: got %+v, %v", status, doc, err)
		}
	}
}
