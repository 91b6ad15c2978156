package messages

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
		`{"model":"m","max_tokens":9,"system":"S","messages":[{"role":"user","content":"caf\u00e9 \/ \ud83d\ude00 你好"}],"stream":true}`,
		`{"messages":[{"role":"user","content":[{"type":"text","text":"<system-reminder>r</system-reminder>"},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]},{"role":"system","content":[{"type":"text","text":"R","cache_control":{"type":"ephemeral"}}]}],"system":[{"type":"text","text":"S"}],"t":1.0,"x":1e400}`,
		`{"messages":[{"role":"user","content":[{"type":"image","source":{}}]},{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"S"},{"type":"tool_use","id":"t","name":"f","input":{"a":[1.0]}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"\ud800"},{"type":"text","text":"\udc00"}]},{"type":"text","text":"and"}]}]}`,
		`{"messages":[{"role":"user","content":[]},{"role":"user","content":null},{"role":"user","content":[{"type":"tool_result"},{"type":"text","text":"x"},{"type":"tool_result","content":"r"}]},{"role":"assistant","content":"pre"}]}`,
		`{"tool_choice":{"type":"any"},"output_config":{"format":{"type":"json_schema","schema":{"properties":{"a":1}}}},"metadata":{"user_id":"u"},"messages":[{"role":"user","content":["bare",{"text":"\udc00","type":"text"}]}]}`,
		` { "messages" : [ { "r\u006fle" : "user" , "content" : [ { "type" : "text" , "t\u0065xt" : "x" } ] } ] } `,
		`{"messages":[{"role":"user","content":"x","role":"user"}]}`, `{"messages":[]}`, `{"messages":[{"role":"user","content":"x"}]}}`,
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
// same; with a block one piece is put in, behind every tool result, and any
// JSON reader sees the same document but for that text.
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
		clean := strings.ToValidUTF8(text, "\uFFFD")
		prompts := len(req.Messages) - len(decoded(t, original)["messages"].([]any)) // 1 with a system prompt
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
			if want := expected(t, original, i-prompts, clean, opt); !cmp.Equal(want, decoded(t, got)) {
				t.Fatalf("message %d (-want +got):\n%s", i, cmp.Diff(want, decoded(t, got)))
			}
			again, err := Dialect{}.Scan(got)
			if err != nil || len(again.Messages) != len(req.Messages) {
				t.Fatalf("message %d: the result can't be scanned: %v", i, err)
			}
			if !strings.Contains(again.Messages[i].Text(), clean) {
				t.Fatalf("message %d: the block isn't in %q", i, again.Messages[i].Text())
			}
			results(t, m, again.Messages[i], tail)
		}
		if !bytes.Equal(body, original) {
			t.Fatal("the body was written to")
		}
	})
}

// results checks that the tool results are as they were, with no new part
// before or between them.
func results(t *testing.T, before, after dialect.Message, tail bool) {
	t.Helper()
	last := -1
	for i, p := range before.Parts {
		if p.Kind == dialect.ToolResultPart {
			last = i
		}
	}
	for i := 0; i <= last; i++ {
		a, b := before.Parts[i], after.Parts[i]
		if a.Kind != b.Kind || a.CallID != b.CallID || a.Failed != b.Failed || a.Text() != b.Text() {
			t.Fatalf("part %d before the last tool result was changed (tail %v): %+v, %+v", i, tail, a, b)
		}
	}
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
	behind, first, last := 0, -1, -1 // the last tool result; the texts behind it
	for i, p := range parts {
		o, _ := p.(map[string]any)
		kind, _ := o["type"].(string)
		if _, isText := o["text"].(string); kind == "text" && isText {
			if first < 0 {
				first = i
			}
			last = i
		}
		if strings.HasSuffix(kind, "tool_result") {
			behind, first, last = i+1, -1, -1
		}
	}
	target := first
	if opt.Tail {
		target = last
	}
	if opt.Inline && target >= 0 {
		o := parts[target].(map[string]any)
		o["text"] = join(o["text"].(string))
		return doc
	}
	at := first
	switch {
	case opt.Tail:
		at = len(parts)
	case first < 0:
		at = behind
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
	f.Add([]byte(events(says(0, "\xe4", "\xbd"))), uint(1), uint(2))
	f.Add([]byte(`{"id":"msg_1","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}`), uint(9), uint(30))
	f.Fuzz(func(t *testing.T, raw []byte, a, b uint) {
		want := Dialect{}.ReadAnswer(raw, true)
		Dialect{}.ReadAnswer(raw, false)
		ended := Dialect{}.Ended(raw)
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
		if failed := strings.Contains(string(raw), "error"); ended && !want.Whole && !failed {
			t.Fatalf("ended, and not whole: %+v", want)
		}
	})
}
