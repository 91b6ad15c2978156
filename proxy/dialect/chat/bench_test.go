package chat

import (
	"fmt"
	"strings"
	"testing"

	"hindsight/proxy/dialect"
)

// history is a body of about 150 KB: 200 messages, tool rounds among them.
func history(word string) []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","stream":true,"tools":[`)
	for i := range 12 {
		fmt.Fprintf(&b, `{"type":"function","function":{"name":"tool_%d","description":"Does a thing.","parameters":{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}},`, i)
	}
	b.WriteString(`{}],"messages":[{"role":"system","content":"You help."}`)
	for i := range 50 {
		text := strings.Repeat(word+` \"quoted\"\n`, 2400/len(word)/3)
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"text","text":"%s"}]},{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.go\"}"}}]}`, text[:len(text)/3*3][:strings.LastIndex(text, " ")], i)
		fmt.Fprintf(&b, `,{"role":"tool","tool_call_id":"call_%d","content":"%s"},{"role":"assistant","content":"Done."}`, i, strings.Repeat(word, 1500/len(word)))
	}
	b.WriteString(`]}`)
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

func BenchmarkSplice(b *testing.B) {
	body := history("some words of a person and of a file. ")
	req, err := Dialect{}.Scan(body)
	if err != nil {
		b.Fatal(err)
	}
	blocks := []dialect.Block{{Message: 1, Text: strings.Repeat(note, 10)}, {Message: 197, Text: strings.Repeat(note, 10)}}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := splice(req, blocks, dialect.SpliceOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadStream(b *testing.B) {
	var chunks []string
	for range 100 {
		chunks = append(chunks, delta(`{"content":" token"}`))
	}
	raw := []byte(streamed(append(chunks, finish, usage, done)...))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if a := (Dialect{}).ReadAnswer(raw, true); !a.Whole {
			b.Fatal("not whole")
		}
	}
}
