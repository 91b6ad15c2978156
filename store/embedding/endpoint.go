package embedding

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// EndpointConfig says where a model is served, in OpenAI's form.
type EndpointConfig struct {
	Base  *url.URL // with or without /v1; `embeddings` is added
	Model string
	Key   string // sent as a bearer token; empty: none
	// Timeout is for a batch of texts: 30 s. A question has its caller's deadline.
	Timeout time.Duration
	Client  *http.Client // nil: one of its own
	Now     func() time.Time
}

// Endpoint is a model behind an HTTP API. After a few failures in a row it isn't
// asked for a while (a second, doubled up to a minute), and every call fails at
// once; then one call tries it. It is safe for concurrent use.
type Endpoint struct {
	cfg EndpointConfig
	url string

	mu     sync.Mutex
	failed int       // calls in a row
	until  time.Time // not asked before
	trying bool      // one call tries whether it is back
}

// NewEndpoint returns the model. It isn't asked for anything yet.
func NewEndpoint(cfg EndpointConfig) *Endpoint {
	if cfg.Timeout == 0 {
		cfg.Timeout = 30 * time.Second
	}
	if cfg.Client == nil {
		cfg.Client = &http.Client{}
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	u := *cfg.Base
	path := strings.TrimSuffix(u.Path, "/")
	if path == "" {
		path = "/v1"
	}
	u.Path = path + "/embeddings"
	return &Endpoint{cfg: cfg, url: u.String()}
}

// Name is the model's.
func (e *Endpoint) Name() string { return e.cfg.Model }

// Refused is the error of texts that the endpoint won't embed: asking again is of
// no use.
type Refused struct {
	Status int
	Detail string
}

func (r *Refused) Error() string { return fmt.Sprintf("refused with %d: %s", r.Status, r.Detail) }

// errResting is the error of a call while the endpoint isn't asked.
var errResting = errors.New("the endpoint failed repeatedly and isn't asked for a while")

// How much one request holds. Longer texts are cut: an embedder reads a few
// hundred words at most.
const (
	endpointBatch = 32
	endpointText  = 4 << 10
	maxAnswer     = 64 << 20
)

// Embed gives the vector of each text, some per request.
func (e *Endpoint) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	var out [][]float32
	for len(texts) > 0 {
		n := min(endpointBatch, len(texts))
		some, err := func() ([][]float32, error) {
			ctx, cancel := context.WithTimeout(ctx, e.cfg.Timeout)
			defer cancel()
			return e.call(ctx, texts[:n])
		}()
		if err != nil {
			return nil, err
		}
		out, texts = append(out, some...), texts[n:]
	}
	return out, nil
}

// EmbedQuery gives the vector of a question.
func (e *Endpoint) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := e.call(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return v[0], nil
}

// call asks for some texts, unless the endpoint rests.
func (e *Endpoint) call(ctx context.Context, texts []string) ([][]float32, error) {
	if !e.admit() {
		return nil, errResting
	}
	out, err := e.post(ctx, texts)
	var refused *Refused
	e.settle(err == nil || errors.As(err, &refused), errors.Is(ctx.Err(), context.Canceled))
	if err != nil {
		return nil, fmt.Errorf("ask %s for embeddings: %w", e.cfg.Base.Host, err)
	}
	return out, nil
}

// restAfter is how many failures in a row make the endpoint rest.
const restAfter = 3

func (e *Endpoint) admit() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.failed < restAfter {
		return true
	}
	if e.trying || e.cfg.Now().Before(e.until) {
		return false
	}
	e.trying = true
	return true
}

// settle counts how a call went. One that its caller gave up says nothing.
func (e *Endpoint) settle(ok, left bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.trying = false
	switch {
	case ok:
		e.failed = 0
	case !left:
		e.failed++
		rest := time.Second << min(max(e.failed-restAfter, 0), 6)
		e.until = e.cfg.Now().Add(min(rest, time.Minute))
	}
}

func (e *Endpoint) post(ctx context.Context, texts []string) ([][]float32, error) {
	input := make([]string, len(texts))
	for i, t := range texts {
		if input[i] = strings.ToValidUTF8(clip(t, endpointText, 0), ""); strings.TrimSpace(input[i]) == "" {
			input[i] = "-" // some endpoints refuse an empty text
		}
	}
	body, err := json.Marshal(map[string]any{"model": e.cfg.Model, "input": input, "encoding_format": "float"})
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if e.cfg.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.cfg.Key)
	}
	resp, err := e.cfg.Client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	switch resp.StatusCode {
	case http.StatusOK:
		return decode(raw, len(texts))
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return nil, &Refused{resp.StatusCode, excerpt(raw)}
	}
	return nil, fmt.Errorf("status %d: %s", resp.StatusCode, excerpt(raw))
}

// excerpt is the beginning of an error body. It may quote the texts, so it isn't
// longer than a message.
func excerpt(raw []byte) string {
	var p struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	text := string(raw)
	if json.Unmarshal(raw, &p) == nil && p.Error.Message != "" {
		text = p.Error.Message
	}
	text = strings.Join(strings.Fields(text), " ")
	for n := range text {
		if n > 120 {
			return text[:n] + "…"
		}
	}
	return text
}

// decode reads the vectors, which have an index and may come as numbers or as
// base64 of little-endian floats.
func decode(raw []byte, n int) ([][]float32, error) {
	var a struct {
		Data []struct {
			Index     *int            `json:"index"`
			Embedding json.RawMessage `json:"embedding"`
		} `json:"data"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("read the embeddings: %w", err)
	}
	if len(a.Data) != n {
		return nil, fmt.Errorf("%d embeddings of %d texts", len(a.Data), n)
	}
	out, dim := make([][]float32, n), 0
	for i, d := range a.Data {
		at := i
		if d.Index != nil {
			at = *d.Index
		}
		if at < 0 || at >= n || out[at] != nil {
			return nil, fmt.Errorf("an embedding has the index %d", at)
		}
		v, err := values(d.Embedding)
		if err == nil {
			err = normalise(v)
		}
		if err != nil {
			return nil, fmt.Errorf("read an embedding: %w", err)
		}
		if out[at] = v; dim == 0 {
			dim = len(v)
		}
		if len(v) != dim {
			return nil, errors.New("the embeddings differ in length")
		}
	}
	return out, nil
}

func values(raw json.RawMessage) ([]float32, error) {
	if len(raw) > 0 && raw[0] == '"' {
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil || len(b)%4 != 0 {
			return nil, errors.New("malformed base64")
		}
		v := make([]float32, len(b)/4)
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		return v, nil
	}
	var v []float32
	return v, json.Unmarshal(raw, &v)
}
