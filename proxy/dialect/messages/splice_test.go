package messages

import (
	"bytes"
	"strings"
	"testing"

	"hindsight/proxy/dialect"
)

const note = "[notes]\n\"Ann\" likes tabs\\spaces 你好\x01"

// noteJSON is note inside a JSON string.
const noteJSON = `[notes]\n\"Ann\" likes tabs\\spaces 你好\u0001`

// splice is the body with the blocks, joined.
func splice(req *dialect.Request, blocks []dialect.Block, opt dialect.SpliceOptions) ([]byte, error) {
	inserts, err := Dialect{}.Inserts(req, blocks, opt)
	if err != nil {
		return nil, err
	}
	return bytes.Join(dialect.Splice(req.Body, inserts), nil), nil
}

func TestSplice(t *testing.T) {
	head, tail := dialect.SpliceOptions{}, dialect.SpliceOptions{Tail: true}
	inline, inlineTail := dialect.SpliceOptions{Inline: true}, dialect.SpliceOptions{Inline: true, Tail: true}
	const (
		part     = `{"type":"text","text":"` + noteJSON + `"}`
		image    = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}`
		result   = `{"tool_use_id":"toolu_1","type":"tool_result","content":[{"type":"text","text":"inner"}]}`
		reminder = `{"type":"text","text":"<system-reminder>x</system-reminder>"}`
		cached   = `{"type":"text","text":"b","cache_control":{"type":"ephemeral","ttl":"1h"}}`
	)
	// The want holds the content with the block between « and ».
	tests := map[string]struct {
		opt  dialect.SpliceOptions
		want string
	}{
		"string":                 {head, `"«` + noteJSON + `\n»Fix caf\u00e9 \/ it"`},
		"string tail":            {tail, `"Fix caf\u00e9 \/ it«\n` + noteJSON + `»"`},
		"empty string":           {head, `"«` + noteJSON + `\n»"`},
		"text":                   {head, `[«` + part + `,»{"type":"text","text":"a"}]`},
		"reminders, then words":  {head, `[«` + part + `,»` + reminder + `,` + cached + `]`},
		"image, then words":      {head, `[ ` + image + ` , «` + part + `,»` + cached + ` ]`},
		"image alone":            {head, `[«` + part + `,»` + image + `]`},
		"cached words":           {head, `[«` + part + `,»` + cached + `]`},
		"cached words tail":      {tail, `[` + cached + `«,` + part + `»]`},
		"inline":                 {inline, `[` + image + `,{"cache_control":{"type":"ephemeral"},"text":"«` + noteJSON + `\n»a","type":"text"}]`},
		"inline tail":            {inlineTail, `[{"type":"text","text":"a"},{"text" : "b«\n` + noteJSON + `»"  , "type":"text"}]`},
		"results, then words":    {head, `[` + result + `,` + result + `,«` + part + `,»` + cached + `,` + reminder + `]`},
		"results, words inline":  {inline, `[` + result + `,{"type":"text","text":"«` + noteJSON + `\n»b"}]`},
		"results, image, words":  {head, `[` + result + `,` + image + `,«` + part + `,»` + cached + `]`},
		"results alone":          {head, `[` + result + `,` + result + `«,` + part + `»]`},
		"results alone inline":   {inline, `[` + result + `«,` + part + `»]`},
		"words before a result":  {head, `[` + reminder + `,` + result + `«,` + part + `»]`},
		"result, then an image":  {head, `[` + result + `,«` + part + `,»` + image + `]`},
		"a result of the server": {head, `[{"type":"mcp_tool_result","tool_use_id":"m","content":[]},«` + part + `,»` + cached + `]`},
		"empty array":            {head, `[«` + part + `»]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before, rest, _ := strings.Cut(tt.want, "«")
			block, after, _ := strings.Cut(rest, "»")
			const open = `{"n":9007199254740993,"t":1.0,"x":1e400,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"S"}]},{"role":"user","content":`
			const shut = `,"odd":false},{"role":"system","content":"R"},{"role":"assistant","content":"Prefill"}]}` + "\n"
			body := open + before + after + shut
			got, err := splice(scanned(t, body), []dialect.Block{{Message: 2, Text: note}}, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			if want := open + before + block + after + shut; string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if a, b := bytes.Count(got, []byte("cache_control")), strings.Count(body, "cache_control"); a != b {
				t.Errorf("%d marks of the cache became %d", b, a)
			}
			scanned(t, string(got))
		})
	}
}

// The system prompt has a place among the scanned messages wherever it stands
// in the body, and every block goes into the message that it is meant for.
func TestSpliceSeveral(t *testing.T) {
	const messages = `"messages":[{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]},{"role":"user","content":[{"type":"text","text":"two"}]},{"role":"user","content":"three"}]`
	const spliced = `"messages":[{"role":"user","content":"A\none"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"}]},{"role":"user","content":[{"type":"text","text":"B"},{"type":"text","text":"two"}]},{"role":"user","content":"C\nthree"}]`
	for _, around := range [][2]string{{`{"system":"S",`, `}`}, {`{`, `,"system":"S"}`}} {
		body := around[0] + messages + around[1]
		req := scanned(t, body)
		got, err := splice(req, []dialect.Block{{Message: 5, Text: "C"}, {Message: 1, Text: "A"}, {Message: 4, Text: "B"}}, dialect.SpliceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if want := around[0] + spliced + around[1]; string(got) != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
		if string(req.Body) != body {
			t.Error("the client's body was changed")
		}
	}
}

func TestSpliceRefuses(t *testing.T) {
	req := scanned(t, `{"system":"s","messages":[{"role":"user","content":null},{"role":"user"},{"role":"assistant","content":"a"},{"role":"system","content":"r"},{"role":"user","content":"u"}]}`)
	tests := map[string][]int{
		"the system prompt": {0}, "null": {1}, "no content": {2}, "assistant": {3}, "a reminder": {4},
		"out of range": {6}, "negative": {-1}, "twice": {5, 5}, "one good, one bad": {5, 0},
	}
	for name, messages := range tests {
		var blocks []dialect.Block
		for _, m := range messages {
			blocks = append(blocks, dialect.Block{Message: m, Text: "x"})
		}
		if got, err := splice(req, blocks, dialect.SpliceOptions{}); err == nil || got != nil {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}
