package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
)

// bodies are seeds: requests as clients make them, and near misses.
func bodies() []string {
	return []string{
		`{"model":"m","messages":[{"role":"system","content":"S"},{"role":"user","content":"caf\u00e9 \/ \ud83d\ude00 你好"}],"stream":true}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}],"seed":9007199254740993,"t":1.0,"x":1e400}`,
		`{"messages":[{"role":"user","content":[{"type":"image_url"}]},{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"x"},{"role":"user","content":""}]}`,
		`{"messages":[{"role":"user","content":[]},{"role":"user","content":null},{"role":"user","content":[{"type":"tool_result"},{"type":"text","text":"x"}]},{"role":"assistant","content":"pre"}]}`,
		`{"messages":[{"role":"user","content":["bare",{"text":"\udc00","type":"text"}]}],"tool_choice":"required","response_format":{"type":"json_schema","json_schema":{"schema":{"properties":{"a":1}}}}}`,
		` { "messages" : [ { "r\u006fle" : "user" , "content" : [ { "type" : "text" , "t\u0065xt" : "x" } ] } ] } `,
		`{"messages":[{"role":"user","content":"x","role":"user"}]}`, `{"messages":[]}`, `{"messages":[{"role":"user","content":"x"}]}}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}]}],"metadata":{"a":"b"},"user":"u"}`,
	}
}

// remove takes out of spliced what original doesn't have. ok says that
// spliced is original with one piece put in at one place.
func remove(original, spliced []byte) (back []byte, ok bool) {
	head := 0
	for head < len(original) && head < len(spliced) && original[head] == spliced[head] {
		head++
	}
	more := len(spliced) - len(original)
	if more < 0 || !bytes.Equal(original[head:], spliced[head+more:]) {
		return nil, false
	}
	return append(spliced[:head:head], spliced[head+more:]...), true
}

// FuzzScanSplice holds the laws of a request: without blocks its bytes are the
// same; with a block one piece is put in, and any JSON reader sees the same
// document but for that text.
func FuzzScanSplice(f *testing.F) {
	for i, body := range bodies() {
		f.Add([]byte(body), "[notes]\n\"x\"\\ 你好", i%2 == 0, i%3 == 0)
	}
	f.Fuzz(func(t *testing.T, body []byte, text string, tail, inline bool) {
		original := bytes.Clone(body)
		req, err := Dialect{}.Scan(body)
		if err != nil {
			return
		}
		if !json.Valid(body) {
			t.Fatal("vouched for a body that isn't JSON")
		}
		opt := dialect.SpliceOptions{Tail: tail, Inline: inline}
		if same, err := splice(req, nil, opt); err != nil || !bytes.Equal(same, original) {
			t.Fatalf("empty plan: %q, %v", same, err)
		}
		for i, m := range req.Messages {
			got, err := splice(req, []dialect.Block{{Message: i, Text: text}}, opt)
			if err != nil {
				if m.Role == dialect.User && m.Parts != nil {
					t.Fatalf("message %d took no block: %v", i, err)
				}
				continue
			}
			if back, ok := remove(original, got); !ok || !bytes.Equal(back, original) {
				t.Fatalf("message %d: more than one piece was changed: %q", i, got)
			}
			if want := expected(t, original, i, strings.ToValidUTF8(text, "\uFFFD"), opt); !cmp.Equal(want, decoded(t, got)) {
				t.Fatalf("message %d (-want +got):\n%s", i, cmp.Diff(want, decoded(t, got)))
			}
			again, err := Dialect{}.Scan(got)
			if err != nil || len(again.Messages) != len(req.Messages) {
				t.Fatalf("message %d: the result can't be scanned: %v", i, err)
			}
			if !strings.Contains(again.Messages[i].Text(), strings.ToValidUTF8(text, "\uFFFD")) {
				t.Fatalf("message %d: the block isn't in %q", i, again.Messages[i].Text())
			}
		}
		if !bytes.Equal(body, original) {
			t.Fatal("the body was written to")
		}
	})
}

func decoded(t *testing.T, body []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var doc map[string]any
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v: %q", err, body)
	}
	return doc
}

// expected is the document that a splice must give, made by another way:
// decode, change, compare.
func expected(t *testing.T, body []byte, message int, text string, opt dialect.SpliceOptions) map[string]any {
	doc := decoded(t, body)
	m := doc["messages"].([]any)[message].(map[string]any)
	join := func(s string) string {
		if opt.Tail {
			return s + "\n" + text
		}
		return text + "\n" + s
	}
	parts, ok := m["content"].([]any)
	if !ok {
		m["content"] = join(m["content"].(string))
		return doc
	}
	isText := func(p any) bool {
		if _, ok := p.(string); ok {
			return true
		}
		o, _ := p.(map[string]any)
		_, ok := o["text"].(string)
		return ok && o["type"] == "text"
	}
	results := 0 // parts up to the last tool result
	for i, p := range parts {
		if o, _ := p.(map[string]any); o["type"] == "tool_result" {
			results = i + 1
		}
	}
	first, last := -1, -1
	for i := results; i < len(parts); i++ {
		if isText(parts[i]) {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	target := first
	if opt.Tail {
		target = last
	}
	if opt.Inline && target >= 0 {
		if s, ok := parts[target].(string); ok {
			parts[target] = join(s)
		} else {
			o := parts[target].(map[string]any)
			o["text"] = join(o["text"].(string))
		}
		return doc
	}
	at := first
	switch {
	case opt.Tail:
		at = len(parts)
	case first < 0:
		at = results
	}
	part := map[string]any{"type": "text", "text": text}
	m["content"] = append(append(append([]any{}, parts[:at]...), part), parts[at:]...)
	return doc
}

// FuzzAnswerCut holds the laws of an answer: however its stream is cut, it
// reads the same, and a stream that breaks off reads as the beginning of the
// whole.
func FuzzAnswerCut(f *testing.F) {
	for _, tt := range streams() {
		f.Add([]byte(tt.raw), uint(20), uint(300))
	}
	f.Add([]byte("data: "+delta("{\"content\":\"\xe4\"}")+"\n\ndata: "+delta("{\"content\":\"\xbd\"}")), uint(1), uint(2))
	f.Fuzz(func(t *testing.T, raw []byte, a, b uint) {
		want := Dialect{}.ReadAnswer(raw, true)
		Dialect{}.ReadAnswer(raw, false)
		if !isStream(raw, true) {
			return
		}
		n := uint(len(raw)) + 1
		a, b = min(a%n, b%n), max(a%n, b%n)
		if d := cmp.Diff(want, piecewise(string(raw[:a]), string(raw[a:b]), string(raw[b:]))); d != "" {
			t.Fatalf("cut at %d and %d (-want +got):\n%s", a, b, d)
		}
		part := Dialect{}.ReadAnswer(raw[:a], true)
		if !strings.HasPrefix(want.Text, part.Text) || !strings.HasPrefix(want.Reasoning, part.Reasoning) || len(part.Calls) > len(want.Calls) {
			t.Fatalf("broken off at %d: %+v of %+v", a, part, want)
		}
	})
}
