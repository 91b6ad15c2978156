// Package llm asks a model for JSON that fits a schema, in one of three
// dialects: chat completions, as every OpenAI-compatible server speaks them,
// OpenAI's responses and Anthropic's messages. It expects little of a server:
// where the best form of asking is refused it takes the next (a JSON schema, a
// JSON object, a tool whose arguments are the answer, plain words) and
// remembers per endpoint and model what worked. [JSON] finds the value in
// whatever came back.
//
// Call [New] once and [Client.Ask] for each question; a Client is safe for
// concurrent use. Nothing is retried here: an [*Error] says whether asking
// again can help and after how long, and the caller's queue decides.
package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Config holds what is the same for all questions. The zero value works.
type Config struct {
	// Silence is how long an answer may say nothing, its beginning included: a
	// slow machine reads a long prompt for minutes, and then streams. Default 180 s.
	Silence time.Duration
	// HTTP is the client that is used; default: a client without a timeout of its own.
	HTTP *http.Client
	// MaxAnswer bounds an answer's text in bytes; a model that loops is cut
	// there. Default 64 KiB, five times what twelve long memories take.
	MaxAnswer int
	Log       *slog.Logger // nil: discard
}

// Endpoint is where and as whom to ask. Base may or may not end in /v1 or /.
type Endpoint struct {
	Base    string
	Dialect Dialect // default Chat
	Model   string
	Header  string // the credential's header, for example Authorization
	Value   string // its whole value; empty: none is sent
}

// Request is one question. System comes first and should be the same bytes
// from call to call, so that the provider's prompt cache holds it.
type Request struct {
	System, User string
	Name         string          // of the schema
	Schema       json.RawMessage // JSON Schema of the answer
}

// Answer is the model's text and what it cost by the server's own count.
type Answer struct {
	Text          string
	Input, Output int
	Cut           bool // the model ran into its limit: the end is missing
	Form          Form // how it was asked
	// Header is the answer's: what it says of the credential's limits.
	Header http.Header

	args string // of a tool, while the answer is read
}

// Form is how a server is asked for JSON.
type Form string

// The forms, the best first.
const (
	BySchema Form = "json_schema"
	ByObject Form = "json_object"
	ByTool   Form = "tool" // its arguments are the answer
	ByWords  Form = "text"
)

// Client asks.
type Client struct {
	cfg Config

	mu    sync.Mutex
	works map[string]Form // by base, dialect and model
}

// New makes a client.
func New(cfg Config) *Client {
	if cfg.Silence <= 0 {
		cfg.Silence = 180 * time.Second
	}
	if cfg.HTTP == nil {
		cfg.HTTP = &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}
	}
	if cfg.MaxAnswer <= 0 {
		cfg.MaxAnswer = 64 << 10
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	return &Client{cfg: cfg, works: map[string]Form{}}
}

// Ask asks once, in the best form that the server takes. Every error is an
// [*Error].
func (c *Client) Ask(ctx context.Context, e Endpoint, r Request) (Answer, error) {
	d, known := speaking(or(e.Dialect, Chat))
	if !known {
		return Answer{}, &Error{Kind: Permanent, Reason: "the dialect " + string(e.Dialect) + " isn't spoken here"}
	}
	forms := d.forms
	key := e.Base + "\x00" + string(e.Dialect) + "\x00" + e.Model
	c.mu.Lock()
	for len(forms) > 1 && c.works[key] != "" && forms[0] != c.works[key] {
		forms = forms[1:]
	}
	c.mu.Unlock()
	for i := 0; ; i++ {
		f := forms[i]
		a, err := c.once(ctx, e, r, d, f)
		if err == nil {
			c.mu.Lock()
			c.works[key] = f
			c.mu.Unlock()
			return a, nil
		}
		if i == len(forms)-1 || !err.mayBeForm() {
			return Answer{}, err
		}
		c.cfg.Log.Debug("form of the answer refused", "form", string(f), "status", err.Status)
	}
}

func (c *Client) once(ctx context.Context, e Endpoint, r Request, d wire, f Form) (Answer, *Error) {
	body, err := json.Marshal(d.compose(e.Model, r, f))
	if err != nil {
		return Answer{}, &Error{Kind: Permanent, Reason: "the question can't be written", Err: err}
	}
	// The question has its own context: silence ends it, not its length.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	alive := time.AfterFunc(c.cfg.Silence, func() { cancel(errSilent) })
	defer alive.Stop()

	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address(e.Base, d.path), bytes.NewReader(body))
	if err != nil {
		return Answer{}, &Error{Kind: Permanent, Reason: "the address can't be used", Err: err}
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	for name, v := range d.headers {
		req.Header.Set(name, v)
	}
	if e.Value != "" {
		req.Header.Set(e.Header, e.Value)
	}
	res, err := c.cfg.HTTP.Do(req)
	if err != nil {
		return Answer{}, broken(ctx, err)
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return Answer{}, refusal(res)
	}
	in := &pulse{r: res.Body, beat: func() { alive.Reset(c.cfg.Silence) }}
	a := Answer{Form: f, Header: res.Header}
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "application/json" {
		err = readWhole(in, d, &a, c.cfg.MaxAnswer)
	} else {
		err = readStream(in, d, &a, c.cfg.MaxAnswer)
	}
	if a.args != "" {
		a.Text, a.args = a.args, ""
	}
	switch {
	case err != nil:
		return Answer{}, broken(ctx, err)
	case strings.TrimSpace(a.Text) == "":
		return Answer{}, &Error{Kind: BadFormat, Reason: "the answer is empty"}
	}
	return a, nil
}

// pulse calls beat for every piece of an answer that arrives, keep-alive
// comments included.
type pulse struct {
	r    io.Reader
	beat func()
}

func (p *pulse) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if n > 0 {
		p.beat()
	}
	return n, err
}
