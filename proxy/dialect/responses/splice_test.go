package responses

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
	const part = `{"type":"input_text","text":"` + noteJSON + `"}`
	const image = `{"type":"input_image","image_url":"u"}`
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
		"text and image":     {head, `[«` + part + `,»{"type":"input_text","text":"a"}, ` + image + `]`},
		"image and text":     {head, `[ ` + image + ` , «` + part + `,»{"text":"a","type":"input_text"} ]`},
		"image alone":        {head, `[ «` + part + `,»` + image + `]`},
		"image alone tail":   {tail, `[` + image + `«,` + part + `» ]`},
		"image alone inline": {inline, `[«` + part + `,»` + image + `]`},
		"two texts":          {head, `[«` + part + `,»{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]`},
		"two texts tail":     {tail, `[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}«,` + part + `»]`},
		"inline":             {inline, `[` + image + `,{"x":{},"text":"«` + noteJSON + `\n»a","type":"input_text"}]`},
		"inline tail":        {inlineTail, `[{"type":"input_text","text":"a"},{"text" : "b«\n` + noteJSON + `»"  , "type":"input_text"},` + image + `]`},
		"empty array":        {head, `[«` + part + `»]`},
		"empty array tail":   {tail, `[«` + part + `»]`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			before, rest, _ := strings.Cut(tt.want, "«")
			block, after, _ := strings.Cut(rest, "»")
			const open = `{"seed":9007199254740993,"t":1.0,"x":1e400,"input":[{"type":"reasoning","id":"rs","summary":[],"encrypted_content":"E"},{"role":"user","type":"message","content":`
			const shut = `,"y":false},{"role":"assistant","content":"Prefill"}],"instructions":"Be brief.","stream_options":{}}` + "\n"
			body := open + before + after + shut
			// The instructions stand first among the messages, wherever they are.
			got, err := splice(scanned(t, body), []dialect.Block{{Message: 2, Text: note}}, tt.opt)
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

func TestSpliceStringInput(t *testing.T) {
	for name, tt := range map[string]struct {
		opt  dialect.SpliceOptions
		want string
	}{
		"head":   {dialect.SpliceOptions{}, `{"model":"m","input":"` + noteJSON + `\nHi \u00e9","instructions":"x"}`},
		"tail":   {dialect.SpliceOptions{Tail: true}, `{"model":"m","input":"Hi \u00e9\n` + noteJSON + `","instructions":"x"}`},
		"inline": {dialect.SpliceOptions{Inline: true}, `{"model":"m","input":"` + noteJSON + `\nHi \u00e9","instructions":"x"}`},
	} {
		req := scanned(t, `{"model":"m","input":"Hi \u00e9","instructions":"x"}`)
		got, err := splice(req, []dialect.Block{{Message: 1, Text: note}}, tt.opt)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}

func TestSpliceSeveral(t *testing.T) {
	body := `{"input":[{"role":"user","content":"one"},{"type":"function_call","call_id":"c"},{"type":"function_call_output","output":"r"},{"role":"user","content":[{"type":"input_text","text":"two"}]},{"role":"user","content":"three"}]}`
	req := scanned(t, body)
	got, err := splice(req, []dialect.Block{{Message: 4, Text: "C"}, {Message: 0, Text: "A"}, {Message: 3, Text: "B"}}, dialect.SpliceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"input":[{"role":"user","content":"A\none"},{"type":"function_call","call_id":"c"},{"type":"function_call_output","output":"r"},{"role":"user","content":[{"type":"input_text","text":"B"},{"type":"input_text","text":"two"}]},{"role":"user","content":"C\nthree"}]}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if string(req.Body) != body {
		t.Error("the client's body was changed")
	}
}

func TestSpliceWithoutBlocksIsTheBodyItself(t *testing.T) {
	req := scanned(t, `{"input":"x"}`)
	inserts, err := Dialect{}.Inserts(req, nil, dialect.SpliceOptions{})
	if err != nil || len(inserts) != 0 {
		t.Errorf("got %v, %v", inserts, err)
	}
}

func TestSpliceCleansTheBlock(t *testing.T) {
	got, err := splice(scanned(t, `{"input":"x"}`), []dialect.Block{{Text: "a\xffb"}}, dialect.SpliceOptions{})
	if want := "{\"input\":\"a\uFFFDb\\nx\"}"; err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestSpliceRefuses(t *testing.T) {
	req := scanned(t, `{"instructions":"i","input":[{"role":"user","content":null},{"role":"user"},{"role":"user","content":7},{"role":"assistant","content":"a"},{"type":"function_call_output","output":"t"},{"type":"reasoning","summary":[]},{"type":"item_reference","id":"x"},{"role":"user","content":"u"}]}`)
	tests := map[string][]int{
		"instructions": {0}, "null": {1}, "no content": {2}, "number": {3}, "assistant": {4}, "output": {5}, "reasoning": {6}, "reference": {7},
		"out of range": {9}, "negative": {-1}, "twice": {8, 8}, "one good, one bad": {8, 0},
	}
	for name, items := range tests {
		var blocks []dialect.Block
		for _, i := range items {
			blocks = append(blocks, dialect.Block{Message: i, Text: "x"})
		}
		if got, err := splice(req, blocks, dialect.SpliceOptions{}); err == nil || got != nil {
			t.Errorf("%s: got %s, %v", name, got, err)
		}
	}
}
