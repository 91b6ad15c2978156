package responses

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hindsight/proxy/dialect"
	"hindsight/proxy/sse"
)

// bodies are seeds: requests as clients make them, and near misses.
func bodies() []string {
	return []string{
		`{"model":"m","input":"caf\u00e9 \/ \ud83d\ude00 你好","instructions":"S","stream":true}`,
		`{"input":[{"role":"user","content":[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]}],"seed":9007199254740993,"t":1.0,"x":1e400}`,
		`{"instructions":"i","input":[{"role":"user","content":[{"type":"input_image"}]},{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"r"}],"encrypted_content":"E"},{"type":"function_call","id":"fc","call_id":"c","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c","output":"x"},{"role":"user","content":""}]}`,
		`{"input":[{"role":"user","content":[]},{"role":"user","content":null},{"output":"o","content":[{"type":"input_text","text":"x"}],"role":"user"},{"type":"message","role":"assistant","content":"pre"}],"store":false}`,
		`{"input":[{"type":"item_reference","id":"m"},{"content":[7,{"text":"\udc00","type":"input_text"}],"role":"user"}],"tool_choice":"required","text":{"format":{"type":"json_schema","schema":{"properties":{"a":1}}}}}`,
		` { "input" : [ { "r\u006fle" : "user" , "content" : [ { "type" : "input_text" , "t\u0065xt" : "x" } ] } ] } `,
		`{"input":[{"role":"user","content":"x","role":"user"}]}`, `{"input":[]}`, `{"input":"x"}}`, `{"previous_response_id":"r","input":"x"}`,
		`{"conversation":{"id":"c"},"input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_text","text":"a"}]}],"metadata":{"a":"b"},"user":"u"}`,
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
					t.Fatalf("item %d took no block: %v", i, err)
				}
				continue
			}
			if back, ok := remove(original, got); !ok || !bytes.Equal(back, original) {
				t.Fatalf("item %d: more than one piece was changed: %q", i, got)
			}
			if want := expected(t, original, i, strings.ToValidUTF8(text, "\uFFFD"), opt); !cmp.Equal(want, decoded(t, got)) {
				t.Fatalf("item %d (-want +got):\n%s", i, cmp.Diff(want, decoded(t, got)))
			}
			again, err := Dialect{}.Scan(got)
			if err != nil || len(again.Messages) != len(req.Messages) {
				t.Fatalf("item %d: the result can't be scanned: %v", i, err)
			}
			if !strings.Contains(again.Messages[i].Text(), strings.ToValidUTF8(text, "\uFFFD")) {
				t.Fatalf("item %d: the block isn't in %q", i, again.Messages[i].Text())
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
func expected(t *testing.T, body []byte, at int, text string, opt dialect.SpliceOptions) map[string]any {
	doc := decoded(t, body)
	join := func(s string) string {
		if opt.Tail {
			return s + "\n" + text
		}
		return text + "\n" + s
	}
	if s, ok := doc["input"].(string); ok {
		doc["input"] = join(s)
		return doc
	}
	if _, ok := doc["instructions"].(string); ok {
		at--
	}
	m := doc["input"].([]any)[at].(map[string]any)
	parts, ok := m["content"].([]any)
	if !ok {
		m["content"] = join(m["content"].(string))
		return doc
	}
	target, field := -1, "" // the text part that the block goes to
	for i, p := range parts {
		o, _ := p.(map[string]any)
		if o == nil {
			continue
		}
		name := ""
		for _, f := range []string{"stdout", "refusal", "text"} {
			if _, ok := o[f].(string); ok {
				name = f
			}
		}
		typ, _ := o["type"].(string)
		known := typ == "" || typ == "input_text" || typ == "output_text" || typ == "text" || typ == "refusal"
		if name != "" && known && (target < 0 || opt.Tail) {
			target, field = i, name
		}
	}
	if opt.Inline && target >= 0 {
		o := parts[target].(map[string]any)
		o[field] = join(o[field].(string))
		return doc
	}
	where := max(target, 0)
	if opt.Tail {
		where = len(parts)
	}
	part := map[string]any{"type": "input_text", "text": text}
	m["content"] = append(append(append([]any{}, parts[:where]...), part), parts[where:]...)
	return doc
}

// FuzzAnswerCut holds the laws of an answer: however its stream is cut, it
// reads the same, and a stream that breaks off reads as the beginning of the
// whole.
func FuzzAnswerCut(f *testing.F) {
	for _, tt := range streams() {
		f.Add([]byte(tt.raw), uint(20), uint(300))
	}
	f.Fuzz(func(t *testing.T, raw []byte, a, b uint) {
		want := Dialect{}.ReadAnswer(raw, true)
		Dialect{}.ReadAnswer(raw, false)
		Dialect{}.Ended(raw)
		if !isStream(raw, true) {
			return
		}
		n := uint(len(raw)) + 1
		a, b = min(a%n, b%n), max(a%n, b%n)
		if d := cmp.Diff(want, piecewise(string(raw[:a]), string(raw[a:b]), string(raw[b:]))); d != "" {
			t.Fatalf("cut at %d and %d (-want +got):\n%s", a, b, d)
		}
		all, part := pieces(raw), pieces(raw[:a])
		for key, text := range part {
			if !strings.HasPrefix(all[key], text) {
				t.Fatalf("broken off at %d: %v of %v", a, part, all)
			}
		}
	})
}

// pieces are the texts of a stream, each by itself: two that grow in turn are
// the beginning of the whole only so.
func pieces(raw []byte) map[[3]any]string {
	var a answer
	var s sse.Splitter
	s.Push(raw, a.event)
	s.Close(a.event)
	out := map[[3]any]string{}
	for i, it := range a.items {
		out[[3]any{i, "call", 0}] = string(it.args)
		for _, p := range it.texts {
			out[[3]any{i, p.list, p.index}] = string(p.text)
		}
	}
	return out
}
