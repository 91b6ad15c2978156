// Package foreign reads what other products export: mem0's memories, ChatGPT's
// conversations and logs of OpenAI messages. [Detect] says what a file is;
// [Mem0], [ChatGPT] and [OpenAI] read it. What can't be read is reported by its
// place in the file, and the rest goes on.
//
// Reading the same file again gives the same ids, so that importing it again
// adds nothing. The package knows nothing of where things go.
package foreign

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"hindsight/store"
)

// Format is a kind of file.
type Format string

// The formats.
const (
	HindsightLines Format = "hindsight" // our own export
	Mem0Export     Format = "mem0"
	ChatGPTExport  Format = "chatgpt"
	OpenAILog      Format = "openai"
)

// Bad is something in a file that can't be read. Unit says what At counts, from
// 1: line, memory or conversation.
type Bad struct {
	Unit   string `json:"unit"`
	At     int    `json:"at"`
	Reason string `json:"reason"`
}

func (b Bad) Error() string { return fmt.Sprintf("%s %d: %s", b.Unit, b.At, b.Reason) }

// Conversation is one that took place elsewhere, its events in order.
type Conversation struct {
	ID     string // stable: the other product's, or made of what was said
	At     int    // its place in the file, from 1
	Title  string
	Events []store.Event // without turns
}

// Words says whether a person said anything in it.
func (c Conversation) Words() bool {
	for _, e := range c.Events {
		if e.Kind == store.UserInput && strings.TrimSpace(e.Text) != "" {
			return true
		}
	}
	return false
}

// Tokens is the size of what was said.
func (c Conversation) Tokens() int {
	n := 0
	for _, e := range c.Events {
		n += store.Tokens(e.Text)
	}
	return n
}

// detectBytes is how much of a file is looked at to see what it is.
const detectBytes = 256 << 10

// Detect says what a file is by its beginning, which r keeps. It is empty where
// that can't be told.
func Detect(r *bufio.Reader) Format {
	head, _ := r.Peek(detectBytes) // a shorter file is all there
	head = bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\ufeff")))
	has := func(name string) bool { return bytes.Contains(head, []byte(`"`+name+`"`)) }
	if len(head) > 0 && head[0] == '[' {
		if has("mapping") {
			return ChatGPTExport
		}
		return Mem0Export
	}
	first, _, _ := bytes.Cut(head, []byte("\n"))
	var line map[string]json.RawMessage
	if json.Unmarshal(first, &line) != nil { // one object over many lines
		if has("results") || has("memories") || has("memory") {
			return Mem0Export
		}
		return ""
	}
	for _, known := range []struct {
		name   string
		format Format
	}{
		{"kind", HindsightLines}, {"mapping", ChatGPTExport},
		{"messages", OpenAILog}, {"request", OpenAILog}, {"body", OpenAILog},
		{"results", Mem0Export}, {"memories", Mem0Export}, {"memory", Mem0Export}, {"text", HindsightLines},
	} {
		if _, ok := line[known.name]; ok {
			return known.format
		}
	}
	return ""
}

// named makes an id of what is read.
func named(prefix string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return prefix + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:12]))
}

// moment reads a time as seconds or as RFC 3339; zero where there is none.
func moment(raw json.RawMessage) time.Time {
	var seconds float64
	if json.Unmarshal(raw, &seconds) == nil {
		if seconds <= 0 || seconds > 1e11 {
			return time.Time{}
		}
		whole, part := math.Modf(seconds)
		return time.Unix(int64(whole), int64(part*1e9)).UTC()
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// array reads the elements of a JSON list one by one. An object is a list of one.
func array(r *bufio.Reader, each func(n int, raw json.RawMessage)) error {
	if bom, err := r.Peek(3); err == nil && string(bom) == "\ufeff" {
		_, _ = r.Discard(3) // they were peeked
	}
	d := json.NewDecoder(r)
	for {
		b, err := r.Peek(1)
		if err != nil {
			return fmt.Errorf("read the file: it is empty")
		}
		if !strings.ContainsRune(" \t\r\n", rune(b[0])) {
			break
		}
		_, _ = r.Discard(1)
	}
	if b, _ := r.Peek(1); b[0] != '[' {
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return fmt.Errorf("read the file: %w", err)
		}
		each(1, one)
		return nil
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("read the file: %w", err)
	}
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("read the file: element %d: %w", n, err)
		}
		each(n, raw)
	}
	return nil
}
