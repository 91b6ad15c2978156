package responses

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
	"hindsight/proxy/sse"
)

// streamed makes an event stream in which every event's name stands in its data
// and on a line of its own.
func streamed(events ...string) string {
	var b strings.Builder
	for _, e := range events {
		name, _, _ := strings.Cut(strings.TrimPrefix(e, `{"type":"`), `"`)
		b.WriteString("event: " + name + "\ndata: " + e + "\n\n")
	}
	return b.String()
}

const (
	created   = `{"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m-1","output":[],"usage":null,"error":null,"incomplete_details":null}}`
	itemAdded = `{"type":"response.output_item.added","output_index":0,"item":{"id":"msg_1","type":"message","status":"in_progress","content":[],"role":"assistant"}}`
	partAdded = `{"type":"response.content_part.added","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}`
	textDone  = `{"type":"response.output_text.done","item_id":"msg_1","output_index":0,"content_index":0,"text":"Héllo 你好"}`
	partDone  = `{"type":"response.content_part.done","item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Héllo 你好","annotations":[]}}`
	helloItem = `{"id":"msg_1","type":"message","status":"completed","content":[{"type":"output_text","text":"Héllo 你好","annotations":[]}],"role":"assistant"}`
	itemDone  = `{"type":"response.output_item.done","output_index":0,"item":` + helloItem + `}`
	usage     = `"usage":{"input_tokens":20,"input_tokens_details":{"cached_tokens":16},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":25}`
)

func textDelta(s string) string {
	return `{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":` + s + `,"logprobs":[]}`
}

// ended is the last event, with the whole response in it.
func ended(kind, output, more string) string {
	return `{"type":"response.` + kind + `","response":{"id":"resp_1","object":"response","status":"` + kind + `","model":"m-1","error":null,"output":[` + output + `],` + usage + more + `}}`
}

func hello() dialect.Answer {
	return dialect.Answer{
		ID: "resp_1", Model: "m-1", Text: "Héllo 你好", Choices: 1, ItemIDs: []string{"msg_1"}, Finish: "completed", Whole: true,
		Usage: dialect.Usage{Input: 20, Output: 5, Cached: 16},
	}
}

// broken is hello without its end.
func broken() dialect.Answer {
	a := hello()
	a.Finish, a.Whole, a.Usage = "", false, dialect.Usage{}
	return a
}

func twoCalls() dialect.Answer {
	a := hello()
	a.Text, a.Reasoning = "", "First.\nThen."
	a.ItemIDs = []string{"rs_1", "fc_1", "ctc_1"}
	a.Calls = []dialect.Call{{ID: "c1", Name: "read", Arguments: `{"p":"é"}`}, {ID: "c2", Name: "patch", Arguments: "a\nb"}}
	return a
}

const (
	thoughts = `{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"First."},{"type":"summary_text","text":"Then."}],"encrypted_content":"ENC"}`
	readCall = `{"id":"fc_1","type":"function_call","call_id":"c1","name":"read","arguments":"{\"p\":\"é\"}","status":"completed"}`
	edit     = `{"id":"ctc_1","type":"custom_tool_call","call_id":"c2","name":"patch","input":"a\nb","status":"completed"}`
)

// streams are recorded forms of streams and what they say.
func streams() map[string]struct {
	raw  string
	want dialect.Answer
} {
	full := streamed(created, itemAdded, partAdded, textDelta(`"Héllo "`), textDelta(`"\u4f60好"`), textDone, partDone, itemDone, ended("completed", helloItem, ""))
	with := func(f func(*dialect.Answer)) dialect.Answer {
		a := hello()
		f(&a)
		return a
	}
	type event = struct {
		raw  string
		want dialect.Answer
	}
	return map[string]event{
		"all events":                {full, hello()},
		"CRLF":                      {strings.ReplaceAll(full, "\n", "\r\n"), hello()},
		"CR":                        {strings.ReplaceAll(full, "\n", "\r"), hello()},
		"comments":                  {strings.ReplaceAll(full, "data: ", ": x\ndata: "), hello()},
		"under a wrong type":        {full, hello()},
		"end mark of chat behind":   {full + "data: [DONE]\n\n", hello()},
		"names in the data alone":   {strings.ReplaceAll(full, "event: ", ": "), hello()},
		"names on the line alone":   {strings.ReplaceAll(full, `"type":"response`, `"was":"response`), hello()},
		"type at the end":           {streamed(created, itemAdded) + "data: {\"delta\":\"Héllo 你好\",\"output_index\":0,\"content_index\":0,\"type\":\"response.output_text.delta\"}\n\n" + streamed(ended("completed", "", "")), hello()},
		"no deltas":                 {streamed(created, itemDone, ended("completed", helloItem, "")), hello()},
		"the last event alone":      {streamed(ended("completed", helloItem, "")), hello()},
		"an empty output at last":   {streamed(created, itemAdded, textDelta(`"Héllo 你好"`), ended("completed", "", "")), hello()},
		"text behind its deltas":    {streamed(created, itemAdded, textDelta(`"Héllo 你好"`), strings.Replace(textDone, "Héllo", "Other", 1), ended("completed", strings.Replace(helloItem, "Héllo", "Other", 1), "")), hello()},
		"no output index":           {strings.ReplaceAll(full, `"output_index":0,`, ``), hello()},
		"no index, no id":           {strings.NewReplacer(`"output_index":0,`, ``, `"item_id":"msg_1",`, ``).Replace(full), hello()},
		"another id in each event":  {streamed(created, itemAdded, strings.Replace(textDelta(`"Héllo 你好"`), "msg_1", "other", 1), ended("completed", helloItem, "")), with(func(a *dialect.Answer) { a.ItemIDs = []string{"msg_1", "other"} })},
		"cut before the end":        {streamed(created, itemAdded, textDelta(`"Héllo "`), textDelta(`"你好"`)), broken()},
		"cut inside a character":    {streamed(created, itemAdded, textDelta(`"Héllo 你好"`)) + "data: {\"type\":\"response.output_text.delta\",\"delta\":\"\xe4", broken()},
		"a character in two events": {streamed(created, itemAdded, textDelta("\"Héllo \xe4\""), textDelta("\"\xbd\xa0好\""), textDelta("\"\xe5\x90\"")), broken()},
		"bad events":                {streamed(created, `{"type":"response.output_text.delta","delta":"no"`, `nonsense`, `[]`, `7`, `{"type":7}`, itemAdded, `{"type":"response.output_text.delta","output_index":0,"delta":7}`, `{"type":"response.of_tomorrow","delta":"no"}`, `{"type":"response.output_item.done","item":7}`, `{"type":"response.created","response":[]}`, textDelta(`"Héllo 你好"`), ended("completed", helloItem, "")), hello()},
		"incomplete":                {streamed(created, itemAdded, textDelta(`"Héllo 你好"`), ended("incomplete", helloItem, `,"incomplete_details":{"reason":"max_output_tokens"}`)), with(func(a *dialect.Answer) { a.Finish = "max_output_tokens" })},
		"failed":                    {streamed(created, itemAdded, textDelta(`"Héllo 你好"`), strings.Replace(ended("failed", helloItem, ""), `"error":null`, `"error":{"code":"server_error"}`, 1)), with(func(a *dialect.Answer) { a.Finish, a.Whole = "failed", false })},
		"error event":               {streamed(created, itemAdded, textDelta(`"Héllo 你好"`), `{"type":"error","code":"server_error","message":"x"}`, ended("completed", helloItem, "")), with(func(a *dialect.Answer) { a.Whole = false })},
		"refusal":                   {streamed(created, itemAdded, strings.ReplaceAll(textDelta(`"Héllo "`), "output_text", "refusal"), strings.ReplaceAll(textDelta(`"你好"`), "output_text", "refusal"), `{"type":"response.refusal.done","output_index":0,"content_index":0,"refusal":"Héllo 你好"}`, ended("completed", "", "")), hello()},
		"two messages": {streamed(created, itemAdded, textDelta(`"Héllo 你好"`), `{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_2","type":"message","content":[]}}`, `{"type":"response.output_text.delta","item_id":"msg_2","output_index":1,"content_index":0,"delta":"More"}`, `{"type":"response.output_text.delta","item_id":"msg_2","output_index":1,"content_index":1,"delta":"still"}`, ended("completed", "", "")), with(func(a *dialect.Answer) {
			a.Text, a.Texts, a.ItemIDs = "Héllo 你好\nMore\nstill", []string{"Héllo 你好", "More\nstill"}, []string{"msg_1", "msg_2"}
		})},
		"thoughts and calls": {streamed(created,
			`{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[]}}`,
			`{"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}`,
			`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"First."}`,
			`{"type":"response.reasoning_text.delta","item_id":"rs_1","output_index":0,"content_index":0,"delta":"in full"}`,
			`{"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":1,"text":"Then."}`,
			`{"type":"response.output_item.added","output_index":1,"item":{"id":"fc_1","type":"function_call","call_id":"c1","name":"read","arguments":""}}`,
			`{"type":"response.output_item.added","output_index":2,"item":{"id":"ctc_1","type":"custom_tool_call","call_id":"c2","name":"patch","input":""}}`,
			`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\"p\":"}`,
			`{"type":"response.custom_tool_call_input.delta","item_id":"ctc_1","output_index":2,"delta":"a\nb"}`,
			`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"\"é\"}"}`,
			`{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":1,"arguments":"{\"p\":\"é\"}"}`,
			`{"type":"response.output_item.done","output_index":1,"item":`+readCall+`}`,
			ended("completed", thoughts+","+readCall+","+edit, "")), twoCalls()},
		"calls without deltas": {streamed(created, `{"type":"response.output_item.done","output_index":0,"item":`+thoughts+`}`, `{"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":1,"name":"read","arguments":"{\"p\":\"é\"}"}`, ended("completed", thoughts+","+readCall+","+edit, "")), twoCalls()},
		"tools of the server": {streamed(created, `{"type":"response.web_search_call.in_progress","item_id":"ws_1","output_index":0}`, ended("completed", `{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"q"}},`+helloItem, "")), with(func(a *dialect.Answer) {
			a.ItemIDs, a.Calls = []string{"ws_1", "msg_1"}, []dialect.Call{{Name: "web_search", Arguments: `{"type":"search","query":"q"}`}}
		})},
	}
}

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
	document := func(event string) string {
		_, doc, _ := strings.Cut(event, `"response":`)
		return doc[:len(doc)-1]
	}
	early := broken()
	early.Text, early.ItemIDs, early.Choices = "", nil, 0
	incomplete := hello()
	incomplete.Finish = "max_output_tokens"
	failed := hello()
	failed.Finish, failed.Whole = "failed", false
	nameless := hello()
	nameless.Finish = ""
	tests := map[string]struct {
		raw  string
		want dialect.Answer
	}{
		"plain":      {document(ended("completed", helloItem, "")) + "\n", hello()},
		"calls":      {document(ended("completed", thoughts+","+readCall+","+edit, "")), twoCalls()},
		"incomplete": {document(ended("incomplete", helloItem, `,"incomplete_details":{"reason":"max_output_tokens"}`)), incomplete},
		"failed":     {document(ended("failed", helloItem, "")), failed},
		"queued":     {document(created), early},
		"no status":  {strings.Replace(document(ended("completed", helloItem, "")), `"status":"completed","model"`, `"model"`, 1), nameless},
		"as stream":  {document(ended("completed", helloItem, "")), hello()},
		"error":      {`{"error":{"message":"no","type":"x"}}`, dialect.Answer{}},
		"empty":      {``, dialect.Answer{}},
		"no JSON":    {`<html>`, dialect.Answer{}},
		"a list":     {`[1]`, dialect.Answer{}},
		"odd":        {`{"id":7,"output":[7,{"type":"message","content":[7,{"text":7}]},{"type":"message","content":7}],"usage":[]}`, dialect.Answer{Choices: 1, Whole: true}},
		"cut":        {`{"id":"resp_1","model":"m-1","output":[{"id":"msg_1","type":"message","content":[{"type":"output_text","text":"Hé`, early},
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
	last := streamed(ended("completed", helloItem, ""))
	for name, tt := range map[string]struct {
		tail string
		want bool
	}{
		"completed":               {streamed(itemDone, ended("completed", helloItem, "")), true},
		"incomplete":              {streamed(ended("incomplete", helloItem, "")), true},
		"failed":                  {streamed(ended("failed", "", "")), true},
		"CRLF":                    {strings.ReplaceAll(streamed(itemDone)+last, "\n", "\r\n"), true},
		"CR":                      {strings.ReplaceAll(streamed(itemDone)+last, "\n", "\r"), true},
		"the blank line is late":  {strings.TrimRight(last, "\n"), true},
		"the name is in the data": {"data: " + ended("completed", helloItem, "") + "\n\n", true},
		"behind half an event":    {last[len(last)-40:], false},
		"half of it":              {last[:len(last)-40], false},
		"cut behind a brace":      {last[:strings.LastIndex(last, "}}}")+1], false},
		"another event":           {streamed(itemDone), false},
		"nothing":                 {"", false},
		"one that quotes it":      {"data: " + textDelta(`"\ndata: {\"type\":\"response.completed\"}"`) + "\n\n", false},
	} {
		if got := (Dialect{}).Ended([]byte(tt.tail)); got != tt.want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestError(t *testing.T) {
	got := string(Dialect{}.Error(502, "upstream_unreachable", "no \"up\""))
	if want := `{"error":{"message":"no \"up\"","type":"server_error","param":null,"code":"upstream_unreachable"}}`; got != want {
		t.Errorf("got %s", got)
	}
}
