package messages

import (
	"fmt"
	"strings"
	"testing"

	"hindsight/proxy/dialect"
)

// history is a body of about 150 KB: 200 messages, tool rounds among them.
func history(word string) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","max_tokens":64000,"stream":true,"system":[{"type":"text","text":"You help.","cache_control":{"type":"ephemeral"}}],"tools":[`)
	for i := range 12 {
		fmt.Fprintf(&b, `{"name":"tool_%d","description":"Does a thing.","input_schema":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}},`, i)
	}
	b.WriteString(`{}],"messages":[`)
	for i := range 50 {
		said, result := strings.Repeat(word+` \"quoted\"\n`, 800/len(word)), strings.Repeat(word, 1500/len(word))
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"%s"}]},{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"EqQBCkYIBxgCKkD"},{"type":"tool_use","id":"toolu_%d","name":"read","input":{"path":"a.go"}}]}`, said, i)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_%d","content":[{"type":"text","text":"%s"}]}]},{"role":"assistant","content":[{"type":"text","text":"Done."}]},`, i, result)
	}
	b.WriteString(`{"role":"user","content":"Go on."}]}`)
	return []byte(b.String())
}

func BenchmarkScan(b *testing.B) {
	for name, word := range map[string]string{"english": "some words of a person and of a file. ", "chinese": "一个人和一个文件的一些话。"} {
		body := history(word)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := (Dialect{}).Scan(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkInserts(b *testing.B) {
	body := history("some words of a person and of a file. ")
	req, err := Dialect{}.Scan(body)
	if err != nil {
		b.Fatal(err)
	}
	blocks := []dialect.Block{{Message: 1, Text: strings.Repeat(note, 10)}, {Message: 201, Text: strings.Repeat(note, 10)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Dialect{}).Inserts(req, blocks, dialect.SpliceOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadStream(b *testing.B) {
	raw := []byte(events([]string{start}, says(0, strings.Split(strings.Repeat(" token", 100), " ")...), []string{ended, stop}))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if a := (Dialect{}).ReadAnswer(raw, true); !a.Whole {
			b.Fatal("not whole")
		}
	}
}
