package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"hindsight/store"
)

// person is somebody whose memory is nobody else's. Names repeat across tenants
// and imitate other people's scopes.
type person struct {
	tenant, name string
	badge        string   // nobody else knows it
	ids          []string // memories of theirs that others may try to name
	traces       []string // ids of the provider in their answers
	session      string
	erased       bool
}

func (p *person) scope() store.Scope { return store.UserScope(p.name) }

// crowd is people in front of one or several products, and what left them.
type crowd struct {
	t      *testing.T
	worlds []*world
	people []*person
	from   *rand.Rand
	log    *heap
}

// heap keeps what is written and can be read meanwhile: a log, say.
type heap struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (h *heap) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.b.Write(p)
}

func (h *heap) bytes() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Clone(h.b.Bytes())
}

// constant is an upstream that says the same to everybody, under ids of its own,
// in the three formats.
type constant struct {
	mu sync.Mutex
	n  int
}

const saidToAll = "Noted. How can I help?"

func (c *constant) answer(rw http.ResponseWriter, r *http.Request, _ []byte) bool {
	c.mu.Lock()
	c.n++
	id := fmt.Sprintf("%06dQx7Tb2Kd9Lm4RzHj5W", c.n)
	c.mu.Unlock()
	rw.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/responses"):
		fmt.Fprintf(rw, `{"id":"resp_%s","object":"response","status":"completed","output":[{"id":"msg_%s","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":%q}]}]}`, id, id, saidToAll)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		fmt.Fprintf(rw, `{"id":"msg_%s","type":"message","role":"assistant","model":"fake","content":[{"type":"text","text":%q}],"stop_reason":"end_turn","usage":{"input_tokens":9,"output_tokens":7}}`, id, saidToAll)
	default:
		fmt.Fprintf(rw, `{"id":"chatcmpl-%s","object":"chat.completion","model":"fake","choices":[{"index":0,"message":{"role":"assistant","content":%q},"finish_reason":"stop"}]}`, id, saidToAll)
	}
	return true
}

// people are eight in three tenants.
func people() []*person {
	var out []*person
	for _, who := range [][2]string{
		{"acme", "ann"}, {"acme", "ann/agent:helper"}, {"acme", "ann%2Fagent%3Ahelper"}, {"acme", "\u00c5nn"}, {"acme", "A\u030ann"},
		{"globex", "ann"}, {"globex", "user:ann"}, {"initech", "ann\x00"},
	} {
		out = append(out, &person{tenant: who[0], name: who[1]})
	}
	return out
}

// crowdKeys are a key of each tenant for the proxy, and one of each person for MCP.
func crowdKeys(all []*person) string {
	var keys []callerKey
	had := map[string]bool{}
	for i, p := range all {
		if name := "hs-" + p.tenant; !had[name] {
			had[name] = true
			keys = append(keys, callerKey{name, p.tenant, "", "proxy"})
		}
		keys = append(keys, callerKey{mcpKey(i), p.tenant, p.name, "mcp"})
	}
	return authKeys(keys)
}

func mcpKey(i int) string { return fmt.Sprintf("hs-mcp-%d", i) }

// format is a route with how a turn is asked there and what of an answer others
// may try to name.
type format struct {
	path string
	body func(user, history, words, extra string) string
}

var formats = []format{
	{"/v1/chat/completions", func(user, history, words, extra string) string {
		return fmt.Sprintf(`{"model":"fake","user":%s,%s"messages":[{"role":"system","content":"You are a helper."},%s{"role":"user","content":%s}]}`, quoted(user), extra, history, quoted(words))
	}},
	{"/v1/responses", func(user, history, words, extra string) string {
		return fmt.Sprintf(`{"model":"fake","user":%s,%s"instructions":"You are a helper.","input":[%s{"role":"user","content":%s}]}`, quoted(user), extra, history, quoted(words))
	}},
	{"/v1/messages", func(user, history, words, extra string) string {
		return fmt.Sprintf(`{"model":"fake","max_tokens":1024,"metadata":{"user_id":%s},%s"system":"You are a helper.","messages":[%s{"role":"user","content":%s}]}`, quoted(user), extra, history, quoted(words))
	}},
}

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string
	return string(b)
}

// clean fails where a text that is somebody's, or nobody's, holds another's badge.
func (c *crowd) clean(what string, whose *person, text []byte) {
	c.t.Helper()
	for _, p := range c.people {
		if (p != whose || p.erased) && bytes.Contains(text, []byte(p.badge)) {
			of := "nobody's"
			if whose != nil {
				of = fmt.Sprintf("%s's %q", whose.tenant, whose.name)
			}
			c.t.Fatalf("%s, %s, holds the badge of %s's %q (erased: %t): %s", what, of, p.tenant, p.name, p.erased, text)
		}
	}
}

// sends asks as somebody, in one of the formats, and looks at everything that
// left. It returns what the upstream got.
func (c *crowd) sends(p *person, f format, user, history, words, extra string, headers ...string) (reply, []byte) {
	c.t.Helper()
	w := c.worlds[c.from.IntN(len(c.worlds))]
	headers = append([]string{"Authorization: Bearer hs-" + p.tenant, "Anthropic-Version: 2023-06-01"}, headers...)
	before := len(c.arrived())
	body := f.body(user, history, words, extra)
	r, err := w.post(f.path, body, headers...)
	if err != nil || r.status != http.StatusOK {
		c.t.Fatalf("%s: %v, %d %s", body, err, r.status, r.body)
	}
	var head bytes.Buffer
	_ = r.header.Write(&head) // into memory
	c.clean("an answer", p, append(head.Bytes(), r.body...))
	var got []byte
	for _, a := range c.arrived()[before:] {
		c.clean("a request upstream", p, a.body)
		got = a.body
	}
	return r, got
}

// arrived is what reached the upstream, which the first product's is.
func (c *crowd) arrived() []arrived { return c.worlds[0].seen() }

// says has somebody say something in a conversation of their own.
func (c *crowd) says(p *person, words string) {
	f := formats[c.from.IntN(len(formats))]
	var headers []string
	if c.from.IntN(2) == 0 {
		headers = append(headers, "Hindsight-Agent: helper")
	}
	r, _ := c.sends(p, f, p.name, "", words, "", headers...)
	p.session = r.session()
	var ids struct {
		ID     string
		Output []struct{ ID string }
	}
	if json.Unmarshal(r.body, &ids) == nil {
		p.traces = append(p.traces, ids.ID)
		for _, o := range ids.Output {
			p.traces = append(p.traces, o.ID)
		}
	}
}

// api calls the management API about somebody.
func (c *crowd) api(p *person, method, path, body string) []byte {
	c.t.Helper()
	w := c.worlds[c.from.IntN(len(c.worlds))]
	status, raw := w.tryAdmin(method, path, body)
	if status/100 != 2 && status != http.StatusNotFound { // another product's session
		c.t.Fatalf("%s %s answered %d: %s", method, path, status, raw)
	}
	c.clean("an answer of the API to "+path, p, raw)
	return raw
}

func (c *crowd) scopeQuery(p *person) string {
	return url.Values{"tenant": {p.tenant}, "scope": {string(p.scope())}}.Encode()
}

// disk fails where a directory holds anybody's badge in the clear.
func (c *crowd) disk() {
	c.t.Helper()
	for _, w := range c.worlds {
		err := filepath.WalkDir(w.env["HINDSIGHT_DATA_DIR"], func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			b, err := io.ReadAll(f)
			c.clean("the file "+filepath.Base(path), nil, b)
			return err
		})
		if err != nil {
			c.t.Fatal(err)
		}
	}
}
