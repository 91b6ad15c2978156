package sse

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type text struct{ Name, Data string }

func read(pieces ...string) []text {
	var s Splitter
	var got []text
	keep := func(e Event) { got = append(got, text{string(e.Name), string(e.Data)}) }
	for _, p := range pieces {
		s.Push([]byte(p), keep)
	}
	s.Close(keep)
	return got
}

func TestEvents(t *testing.T) {
	tests := map[string]struct {
		stream string
		want   []text
	}{
		"nothing":           {"", nil},
		"one":               {"data: a\n\n", []text{{"", "a"}}},
		"two":               {"data: a\n\ndata: b\n\n", []text{{"", "a"}, {"", "b"}}},
		"no space":          {"data:a\n\n", []text{{"", "a"}}},
		"one space goes":    {"data:  a \n\n", []text{{"", " a "}}},
		"CRLF":              {"data: a\r\n\r\ndata: b\r\n\r\n", []text{{"", "a"}, {"", "b"}}},
		"CR":                {"data: a\r\rdata: b\r\r", []text{{"", "a"}, {"", "b"}}},
		"mixed ends":        {"data: a\r\ndata: b\rdata: c\n\r\n", []text{{"", "a\nb\nc"}}},
		"joined":            {"data: {\ndata: \"a\":1}\n\n", []text{{"", "{\n\"a\":1}"}}},
		"name":              {"event: error\ndata: x\n\ndata: y\n\n", []text{{"error", "x"}, {"", "y"}}},
		"comments":          {": OPENROUTER PROCESSING\n\n: again\n\ndata: a\n: in between\ndata: b\n\n", []text{{"", "a\nb"}}},
		"no data":           {"event: ping\nid: 7\nretry: 10\n\ndata: a\n\n", []text{{"", "a"}}},
		"empty data":        {"data\n\ndata:\n\n", []text{{"", ""}, {"", ""}}},
		"other fields":      {"database: x\nDATA: y\ndata: z\n\n", []text{{"", "z"}}},
		"more blank lines":  {"\n\n\ndata: a\n\n\n\n", []text{{"", "a"}}},
		"byte order mark":   {"\ufeffdata: a\n\n", []text{{"", "a"}}},
		"no blank line":     {"data: a\n\ndata: b\n", []text{{"", "a"}, {"", "b"}}},
		"no line end":       {"data: a\n\ndata: [DONE]", []text{{"", "a"}, {"", "[DONE]"}}},
		"half a character":  {"data: \xe4\xbd", []text{{"", "\xe4\xbd"}}},
		"unfinished header": {"data: a\n\ndat", []text{{"", "a"}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, read(tt.stream)); d != "" {
				t.Errorf("whole (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.want, read(strings.Split(tt.stream, "")...)); d != "" {
				t.Errorf("by character (-want +got):\n%s", d)
			}
			for i := range len(tt.stream) {
				if d := cmp.Diff(tt.want, read(tt.stream[:i], "", tt.stream[i:])); d != "" {
					t.Errorf("cut at %d (-want +got):\n%s", i, d)
				}
			}
		})
	}
}

func TestEventsCanBeLeft(t *testing.T) {
	n := 0
	for e := range Events([]byte("data: a\n\ndata: b\n\ndata: c")) {
		if n++; string(e.Data) == "b" {
			break
		}
	}
	if n != 2 {
		t.Errorf("saw %d events, want 2", n)
	}
}

// plain is the standard's own way of reading a stream: all of it at once, line
// ends made equal first.
func plain(stream string) []text {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	var got []text
	var data []string
	name := ""
	for _, line := range append(strings.Split(stream, "\n"), "") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "" && data != nil:
			got = append(got, text{name, strings.Join(data, "\n")})
			data, name = nil, ""
		case line == "":
			name = ""
		case field == "data":
			data = append(data, value)
		case field == "event":
			name = value
		}
	}
	return got
}

// FuzzSSE holds the law: however a stream is cut, its events are the same, and
// they are those of the standard.
func FuzzSSE(f *testing.F) {
	for _, seed := range []string{
		"data: a\n\ndata: b\r\n\r\ndata: c\r\r", ": c\n\nevent: x\ndata: 1\ndata: 2\n\n", "\ufeffdata: a\n\n",
		"data: {\"a\":\"\xe4\xbd\xa0\"}\n\ndata: [DONE]\n\n", "\r\n\r\rdata\n\n\revent\ndata: \r", "data: a\r\n\r", "\n\ufeffdata: a",
	} {
		f.Add(seed, uint(3), uint(5))
	}
	f.Fuzz(func(t *testing.T, stream string, a, b uint) {
		want := plain(stream)
		var whole []text
		for e := range Events([]byte(stream)) {
			whole = append(whole, text{string(e.Name), string(e.Data)})
		}
		if d := cmp.Diff(want, whole); d != "" {
			t.Fatalf("whole (-want +got):\n%s", d)
		}
		var bytes []string
		for i := range len(stream) {
			bytes = append(bytes, stream[i:i+1])
		}
		if d := cmp.Diff(want, read(bytes...)); d != "" {
			t.Fatalf("byte by byte (-want +got):\n%s", d)
		}
		n := uint(len(stream)) + 1
		a, b = min(a%n, b%n), max(a%n, b%n)
		if d := cmp.Diff(want, read(stream[:a], stream[a:b], stream[b:])); d != "" {
			t.Fatalf("cut at %d and %d (-want +got):\n%s", a, b, d)
		}
	})
}
