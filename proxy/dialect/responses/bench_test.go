package responses

import (
	"fmt"
	"strings"
	"testing"

	"hindsight/proxy/dialect"
)

// history is a body of about 150 KB: 250 items, tool rounds among them.
func history() []byte {
	var b strings.Builder
	b.WriteString(`{"model":"m","stream":true,"store":false,"instructions":"You help.","tools":[`)
	for i := range 12 {
		fmt.Fprintf(&b, `{"type":"function","name":"tool_%d","parameters":{"type":"object","properties":{"path":{"type":"string"}}}},`, i)
	}
	b.WriteString(`{}],"input":[{"role":"developer","content":"Be brief."}`)
	words := strings.Repeat(`some \"quoted\" words of a person.\n`, 30)
	for i := range 50 {
		fmt.Fprintf(&b, `,{"role":"user","content":[{"type":"input_text","text":"%s"}]},{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"%s"}`, words, i, strings.Repeat("gAAA", 100))
		fmt.Fprintf(&b, `,{"type":"function_call","id":"fc_%d","call_id":"call_%d","name":"read","arguments":"{\"path\":\"a.go\"}"},{"type":"function_call_output","call_id":"call_%d","output":"%s"}`, i, i, i, words)
		fmt.Fprintf(&b, `,{"type":"message","id":"msg_%d","role":"assistant","content":[{"type":"output_text","text":"Done.","annotations":[]}]}`, i)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkScan(b *testing.B) {
	body := history()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Dialect{}).Scan(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkInserts(b *testing.B) {
	req, err := Dialect{}.Scan(history())
	if err != nil {
		b.Fatal(err)
	}
	blocks := []dialect.Block{{Message: 2, Text: strings.Repeat(note, 10)}, {Message: 247, Text: strings.Repeat(note, 10)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (Dialect{}).Inserts(req, blocks, dialect.SpliceOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReadStream(b *testing.B) {
	events := []string{created, itemAdded, partAdded}
	for range 100 {
		events = append(events, textDelta(`" token"`))
	}
	raw := []byte(streamed(append(events, itemDone, ended("completed", helloItem, ""))...))
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if a := (Dialect{}).ReadAnswer(raw, true); !a.Whole {
			b.Fatal("not whole")
		}
	}
}
