package chat

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
	const part = `{"type":"text","text":"` + noteJSON + `"}`
	const image = `{"type":"image_url","image_url":{"url":"u"}}`
	const result = `{"type":"tool_result","tool_use_id":"t"}`
	// The want holds the content with the block between « and ».
	tests := map[string]struct {
		opt  dialect.SpliceOptions
		want string
	}{
		"string":             {head, `"«` + noteJSON + `\n»Fix caf\u00e9 \/ it"`},
		"string tail":        {tail, `"Fix caf\u00e9 \/ it«\n` + noteJSON + `»"`},
		"string inline":      {inline, `"«` + noteJSON + `\n»x"`},
		"empty string":       {head, `"«` + noteJSON + `\n»"`},
		"half a pair":        {head, `"«` + noteJSON + `\n»\udc00 x"`},
		"half a pair tail":   {tail, `"x \ud800«\n` + noteJSON + `»"`},
		"text and image":     {head, `[«` + part + `,»{"type":"text","text":"a"}, ` + image + `]`},
		"image and text":     {head, `[ ` + image + ` , «` + part + `,»{"text":"a","type":"text"} ]`},
		"image alone":        {head, `[ «` + part + `,»` + image + `]`},
		"image alone tail":   {tail, `[` + image + `«,` + part + `» ]`},
		"image alone inline": {inline, `[«` + part + `,»` + image + `]`},
		"two texts":          {head, `[«` + part + `,»{"type":"text","text":"a"},{"type":"text","text":"b"}]`},
		"two texts tail":     {tail, `[{"type":"text","text":"a"},{"type":"text","text":"b"}«,` + part + `»]`},
		"inline":             {inline, `[` + image + `,{"cache_control":{},"text":"«` + noteJSON + `\n»a","type":"text"}]`},
		"inline tail":        {inlineTail, `[{"type":"text","text":"a"},{"text" : "b«\n` + noteJSON + `»"  , "type":"text"},` + image + `]`},
		"empty array":        {head, `[«` + part + `»]`},
		"empty array tail":   {tail, `[«` + part + `»]`},
		"after tool result":  {head, `[{"type":"text","text":"a"},` + result + `,` + image + `,«` + part + `,»{"type":"text","text":"b"}]`},
		"tool results alone": {head, `[` + result + `,` + result + `«,` + part + `»]`},
		"result then image":  {head, `[` + result + `,«` + part + `,»` + image + `]`},
		"bare string part":   {head, `[«` + part + `,»"bare"]`},
		"bare string inline": {inline, `["«` + noteJSON + `\n»bare"]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before, rest, _ := strings.Cut(tt.want, "«")
			block, after, _ := strings.Cut(rest, "»")
			const open = `{"seed":9007199254740993,"t":1.0,"x":1e400,"messages":[{"role":"system","content":"S"},{"role":"user","content":`
			const shut = `,"enable_thinking":false},{"role":"assistant","content":"Prefill"}],"stream_options":{"include_usage":false}}` + "\n"
			body := open + before + after + shut
			got, err := splice(scanned(t, body), []dialect.Block{{Message: 1, Text: note}}, tt.opt)
			if err != nil {
				t.Fatal(err)
			}
			if want := open + before + block + after + shut; string(got) != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			scanned(t, string(got))
		})
	}
}

func TestSpliceSeveral(t *testing.T) {
	body := `{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]},{"role":"tool","content":"r"},{"role":"user","content":[{"type":"text","text":"two"}]},{"role":"user","content":"three"}]}`
	req := scanned(t, body)
	got, err := splice(req, []dialect.Block{{Message: 4, Text: "C"}, {Message: 0, Text: "A"}, {Message: 3, Text: "B"}}, dialect.SpliceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"messages":[{"role":"user","content":"A\none"},{"role":"assistant","content":null,"tool_calls":[{"id":"c"}]},{"role":"tool","content":"r"},{"role":"user","content":[{"type":"text","text":"B"},{"type":"text","text":"two"}]},{"role":"user","content":"C\nthree"}]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if string(req.Body) != body {
		t.Error("the client's body was changed")
	}
}

// The body isn't copied: what a splice costs is its blocks.
func TestSpliceSharesTheBody(t *testing.T) {
	req := scanned(t, `{"messages":[{"role":"user","content":"`+strings.Repeat("x", 100_000)+`"}]}`)
	inserts, err := Dialect{}.Inserts(req, []dialect.Block{{Text: strings.Repeat(note, 100)}}, dialect.SpliceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pieces := dialect.Splice(req.Body, inserts)
	if len(pieces) != 3 || &pieces[0][0] != &req.Body[0] || &pieces[2][0] != &req.Body[inserts[0].At] {
		t.Errorf("%d pieces, not of the body", len(pieces))
	}
	if in := inserts[0].Bytes; cap(in) > len(in)+len(in)/8 {
		t.Errorf("%d bytes of a block in a buffer of %d", len(in), cap(in))
	}
}

func TestSpliceWithoutBlocksIsTheBodyItself(t *testing.T) {
	req := scanned(t, `{"messages":[{"role":"user","content":"x"}]}`)
	inserts, err := Dialect{}.Inserts(req, nil, dialect.SpliceOptions{})
	if err != nil || len(inserts) != 0 {
		t.Fatalf("%v, %v", inserts, err)
	}
	got := dialect.Splice(req.Body, inserts)
	if len(got) != 1 || &got[0][0] != &req.Body[0] || len(got[0]) != len(req.Body) {
		t.Errorf("got %s", got)
	}
}

func TestSpliceCleansTheBlock(t *testing.T) {
	req := scanned(t, `{"messages":[{"role":"user","content":"x"}]}`)
	got, err := splice(req, []dialect.Block{{Text: "a\xffb"}}, dialect.SpliceOptions{})
	if want := "{\"messages\":[{\"role\":\"user\",\"content\":\"a\uFFFDb\\nx\"}]}"; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestSpliceRefuses(t *testing.T) {
	req := scanned(t, `{"messages":[{"role":"system","content":"s"},{"role":"user","content":null},{"role":"user"},{"role":"user","content":7},{"role":"assistant","content":"a"},{"role":"tool","content":"t"},{"role":"user","content":"u"}]}`)
	tests := map[string][]int{
		"system": {0}, "null": {1}, "no content": {2}, "number": {3}, "assistant": {4}, "tool": {5},
		"out of range": {7}, "negative": {-1}, "twice": {6, 6}, "one good, one bad": {6, 0},
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
