package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"hindsight/store"
)

// wireFormat is a memory route as the cases of the wire need it. Its answers,
// streamed or not, say "Grüße, 你好 😀!".
type wireFormat struct {
	path   string
	body   string   // with %s for the words and %t for stream
	events []string // a streamed answer; the first two hold the first half of the text
	end    string   // the event that ends it
	whole  string   // the answer as JSON
	denied string   // an error in the format's shape
}

const (
	firstHalf = "Grüße, 你"
	wholeText = "Grüße, 你好 😀!"
)

func wireFormats() map[string]wireFormat {
	chat := func(delta string) string {
		return `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + "}]}\n\n"
	}
	typed := func(name, rest string) string {
		return "event: " + name + "\ndata: {\"type\":\"" + name + "\"" + rest + "}\n\n"
	}
	response := `{"id":"resp_1","object":"response","status":"completed","output":[{"id":"msg_1","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","annotations":[],"text":"` + wholeText + `"}]}]}`
	spoken := func(text string) string {
		return typed("response.output_text.delta", `,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"`+text+`"`)
	}
	written := func(text string) string {
		return typed("content_block_delta", `,"index":0,"delta":{"type":"text_delta","text":"`+text+`"}`)
	}
	return map[string]wireFormat{
		"chat completions": {
			path:   "/v1/chat/completions",
			body:   `{"model":"m", "messages":[{"role":"user","content":"%s"}],"seed":1.0,"stream":%t}`,
			events: []string{chat(`{"role":"assistant","content":""}`), chat(`{"content":"` + firstHalf + `"}`), chat(`{"content":"好 😀!"}`)},
			end:    "data: [DONE]\n\n",
			whole:  `{"id":"chatcmpl-1", "object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"` + wholeText + `"},"finish_reason":"stop"}]}`,
			denied: `{"error": {"message":"no","type":"invalid_request_error","code":"odd"}}`,
		},
		"responses": {
			path: "/v1/responses",
			body: `{"model":"m", "store":false,"input":[{"role":"user","content":"%s"}],"top_p":1.0,"stream":%t}`,
			events: []string{typed("response.created", `,"response":{"id":"resp_1","status":"in_progress","output":[]}`),
				spoken(firstHalf), spoken("好 😀!")},
			end:    typed("response.completed", `,"response":`+response),
			whole:  response,
			denied: `{"error": {"message":"no","type":"invalid_request_error","code":"odd"}}`,
		},
		"Anthropic messages": {
			path: "/v1/messages",
			body: `{"model":"m", "max_tokens":64,"messages":[{"role":"user","content":"%s"}],"top_p":1.0,"stream":%t}`,
			events: []string{
				typed("message_start", `,"message":{"id":"msg_1","type":"message","role":"assistant","content":[],"usage":{"input_tokens":5,"output_tokens":1}}`) +
					typed("content_block_start", `,"index":0,"content_block":{"type":"text","text":""}`),
				written(firstHalf), written("好 😀!"),
				typed("content_block_stop", `,"index":0`),
				typed("message_delta", `,"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}`),
			},
			end:    typed("message_stop", ""),
			whole:  `{"id":"msg_1", "type":"message","role":"assistant","content":[{"type":"text","text":"` + wholeText + `"}],"stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":9}}`,
			denied: `{"type":"error", "error":{"type":"invalid_request_error","message":"no"}}`,
		},
	}
}

func (f wireFormat) stream() string { return strings.Join(f.events, "") + f.end }

// answerOf is the answer, streamed or not, with its content type.
func (f wireFormat) answerOf(stream bool) (body, kind string) {
	if stream {
		return f.stream(), "text/event-stream"
	}
	return f.whole, "application/json"
}

// wireCase is one request of a format to an upstream that does what a case
// asks for. The cases of a format share a product; each has words, and thus a
// session, of its own.
type wireCase struct {
	wireFormat
	*wireWorld
	t    *testing.T
	name string
}

// wireWorld is a product whose upstream answers by the header Case.
type wireWorld struct {
	*world
	mu      sync.Mutex
	answers map[string]http.HandlerFunc
}

func newWireWorld(t *testing.T) *wireWorld {
	w := &wireWorld{world: newWorld(t), answers: map[string]http.HandlerFunc{}}
	w.answer = func(rw http.ResponseWriter, r *http.Request, _ []byte) bool {
		w.mu.Lock()
		h := w.answers[r.Header.Get("Case")]
		w.mu.Unlock()
		if h != nil {
			h(rw, r)
		}
		return h != nil
	}
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	return w
}

// upstream says how the upstream answers this case.
func (c *wireCase) upstream(h http.HandlerFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[c.name] = h
}

// request is the client's body. Only one that asks for the cat gets a block.
func (c *wireCase) request(stream bool) string {
	return fmt.Sprintf(c.body, "How deep is lake "+c.name+"?", stream)
}

// post sends a body and reads the answer to its end.
func (c *wireCase) post(body string, headers ...string) (reply, error) {
	return c.world.post(c.path, body, append(headers, "Case: "+c.name)...)
}

// arrived are the requests of this case that reached the upstream.
func (c *wireCase) arrived() []arrived {
	var out []arrived
	for _, a := range c.seen() {
		if a.header.Get("Case") == c.name {
			out = append(out, a)
		}
	}
	return out
}

// wantRecorded fails unless the session's one exchange comes to this status
// and answer.
func (c *wireCase) wantRecorded(session string, status store.ExchangeStatus, text string) {
	c.t.Helper()
	var s keptSession
	c.until(string(status)+" in the record", func() bool {
		c.flush()
		// Of a client that has left, the session may not be there yet.
		code, raw := c.tryAdmin(http.MethodGet, "/api/v1/sessions/"+session, "")
		if code != http.StatusOK {
			return false
		}
		c.decode(raw, &s)
		return len(s.Exchanges) == 1 && s.Exchanges[0].Status != ""
	})
	var said []string
	for _, e := range s.Events {
		if e.Kind == store.FinalOutput {
			said = append(said, e.Text)
		}
	}
	if got := strings.Join(said, "|"); s.Exchanges[0].Status != status || got != text {
		c.t.Errorf("recorded %s %q, want %s %q", s.Exchanges[0].Status, got, status, text)
	}
}

// wantPassed fails unless a client got exactly this.
func (c *wireCase) wantPassed(r reply, err error, status int, kind, body string) {
	c.t.Helper()
	if err != nil || r.status != status || r.header.Get("Content-Type") != kind || string(r.body) != body {
		c.t.Errorf("the client got %d %q %q, %v", r.status, r.header.Get("Content-Type"), r.body, err)
	}
}

// each runs a part of a case, under a name and thus with words of its own.
func (c *wireCase) each(name string, run func(c *wireCase)) {
	c.t.Run(name, func(t *testing.T) {
		run(&wireCase{c.wireFormat, c.wireWorld, t, c.name + ", " + name})
	})
}

// open sends the case's request and waits for the answer's headers alone.
func (c *wireCase) open(ctx context.Context, stream bool) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.st.proxyURL()+c.path, strings.NewReader(c.request(stream)))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer sk-test")
	req.Header.Set("Case", c.name)
	return http.DefaultClient.Do(req)
}

// packed is a text in a content coding.
func packed(t *testing.T, coding, text string) string {
	t.Helper()
	var out bytes.Buffer
	var z io.WriteCloser
	switch coding {
	case "gzip":
		z = gzip.NewWriter(&out)
	case "br":
		z = brotli.NewWriter(&out)
	default:
		var err error
		if z, err = zstd.NewWriter(&out); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// aboutTheCat is a request that gets a block.
func (c *wireCase) aboutTheCat() string {
	return fmt.Sprintf(c.body, "What is my cat called? ("+c.name+")", false)
}

// wantBlock fails unless a request is the client's bytes with one piece put in
// that holds a block.
func (c *wireCase) wantBlock(a arrived, own string) {
	c.t.Helper()
	got, at := string(a.body), 0
	for at < len(own) && at < len(got) && own[at] == got[at] {
		at++
	}
	if more := len(got) - len(own); more <= 0 || got[at+more:] != own[at:] || !hasBlock(a.body) || !strings.Contains(got, "Mitzi") {
		c.t.Errorf("the upstream got %s", got)
	}
}
