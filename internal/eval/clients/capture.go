// Package clients replays captured requests of real LLM clients through a
// running proxy and checks what it made of them: whose they are, which
// conversation they belong to, what a person typed, and which of them are side
// calls. The captures come from a folder (one JSON file a client); none is
// part of the product. Start with [Load], then [Replay].
package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// Capture is what one client sent.
type Capture struct {
	Client        string         `json:"client"`
	Version       string         `json:"version"`
	Note          string         `json:"note"`
	Conversations []Conversation `json:"conversations"`
}

// Conversation is the requests that belong together.
type Conversation struct {
	Session  string    `json:"session"`
	User     string    `json:"user"`
	Requests []Request `json:"requests"`
}

// Request is one captured request. Kind is main, side, subagent, models,
// probe, websocket or other; Human is what a person typed in its last message.
type Request struct {
	Method  string          `json:"method"`
	Path    string          `json:"path"`
	Headers [][2]string     `json:"headers"`
	Kind    string          `json:"kind"`
	Human   string          `json:"human"`
	Body    json.RawMessage `json:"body"`
}

// Load reads the named captures of a folder, or all of them.
func Load(dir string, names []string) ([]Capture, error) {
	if len(names) == 0 {
		files, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", dir, err)
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("no captures (*.json) in %s", dir)
		}
		sort.Strings(files)
		for _, f := range files {
			names = append(names, strings.TrimSuffix(filepath.Base(f), ".json"))
		}
	}
	var all []Capture
	for _, n := range names {
		raw, err := os.ReadFile(filepath.Join(dir, n+".json"))
		if err != nil {
			return nil, fmt.Errorf("read the capture: %w", err)
		}
		var c Capture
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("read the capture %s: %w", n, err)
		}
		c.Client = n
		all = append(all, c)
	}
	return all, nil
}

// wire is the body as it stood on the wire, left-out texts filled up again.
func (r Request) wire() []byte { return fill(r.Body) }

var filler = regexp.MustCompile(`\{\{filler:(\d+)\}\}`)

func fill(b []byte) []byte {
	return filler.ReplaceAllFunc(b, func(m []byte) []byte {
		n, err := strconv.Atoi(string(filler.FindSubmatch(m)[1]))
		if err != nil || n > 1<<20 {
			return m
		}
		return []byte(strings.Repeat("filler text, ", n/13+1)[:n])
	})
}

// header returns a header's value, empty if it wasn't sent.
func (r Request) header(name string) string {
	for _, h := range r.Headers {
		if strings.EqualFold(h[0], name) {
			return h[1]
		}
	}
	return ""
}

// person is the identity that a request carries, "" for none.
func (r Request) person() string {
	for _, h := range []string{"Hindsight-User", "X-OpenWebUI-User-Id"} {
		if v := r.header(h); v != "" {
			return v
		}
	}
	if f := formatOf(r); f != nil {
		return f.person(r.Body)
	}
	return ""
}

// human is what a person typed last. Where agents talk to each other, the
// captures have their texts there, too; their names tell.
func (r Request) human() string {
	first, last := "", ""
	for _, raw := range messagesOf(r) {
		var m struct {
			Role string `json:"role"`
			Name string `json:"name"`
		}
		if json.Unmarshal(raw, &m) == nil && m.Role == "user" {
			if first == "" {
				first = m.Name
			}
			last = m.Name
		}
	}
	if last != first {
		return ""
	}
	return r.Human
}

// startsAnew says whether nothing ties a request to those before it: no answer
// in its history, and no header with which one of them named its session.
func (r Request) startsAnew(before []Request) bool {
	f := formatOf(r)
	if f == nil || f.answered(r.Body) {
		return false
	}
	for _, h := range r.Headers {
		if !strings.Contains(strings.ToLower(h[0]), "session") || h[1] == "" {
			continue
		}
		for _, b := range before {
			if b.header(h[0]) == h[1] {
				return false
			}
		}
	}
	return true
}
