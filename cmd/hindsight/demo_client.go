package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// demoClient is the application of the demo: an ordinary client of the chat
// completions API that knows nothing of Hindsight.
type demoClient struct {
	base, key, model string
}

// chatMessage is a message of the API, as far as the demo needs it.
type chatMessage struct {
	Role      string     `json:"role"`
	Content   any        `json:"content"`
	ToolCalls []toolCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// said is one round trip: the bytes that the client sent, the answer and its
// headers.
type said struct {
	body   []byte
	answer chatMessage
	header http.Header
}

func (c demoClient) say(ctx context.Context, history []chatMessage, tools bool) (said, error) {
	req := map[string]any{"model": c.model, "messages": history}
	if tools {
		req["tools"] = []any{map[string]any{"type": "function", "function": map[string]any{
			"name": "deploy", "description": "Deploys the web service to staging on a port.",
			"parameters": map[string]any{"type": "object", "properties": map[string]any{"port": map[string]any{"type": "integer"}}, "required": []string{"port"}},
		}}}
	}
	body, err := json.Marshal(req)
	if err != nil {
		return said{}, fmt.Errorf("write the request: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return said{}, fmt.Errorf("make the request: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return said{}, fmt.Errorf("ask the model: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return said{}, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return said{}, fmt.Errorf("the model answered %s: %s", resp.Status, bytes.TrimSpace(raw))
	}
	var v struct {
		Choices []struct {
			Message chatMessage `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(raw, &v); err != nil || len(v.Choices) == 0 {
		return said{}, fmt.Errorf("read the answer: no message in %.200s", raw)
	}
	return said{body: body, answer: v.Choices[0].Message, header: resp.Header}, nil
}

// text is the message's content where that is a string.
func (m chatMessage) text() string { s, _ := m.Content.(string); return s }

// port is the argument of a call of the demo's tool.
func (c toolCall) port() int {
	var a struct {
		Port int `json:"port"`
	}
	_ = json.Unmarshal([]byte(c.Function.Arguments), &a) // none: the tool says so
	return a.Port
}

// tap stands between the proxy and its upstream and keeps the bodies that
// arrive there, so that the demo can show the exact bytes.
type tap struct {
	next http.Handler

	mu     sync.Mutex
	bodies [][]byte
}

func (t *tap) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the proxy has gone
	}
	t.mu.Lock()
	t.bodies = append(t.bodies, body)
	t.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	t.next.ServeHTTP(w, r)
}

// arrived is the last body whose bytes end as the client's own body does.
func (t *tap) arrived(sent []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.bodies) - 1; i >= 0; i-- {
		if _, ok := inserted(sent, t.bodies[i]); ok {
			return t.bodies[i]
		}
	}
	return nil
}

// inserted is what stands in arrived and not in sent, if arrived is sent with
// one run of bytes put in.
func inserted(sent, arrived []byte) (string, bool) {
	extra := len(arrived) - len(sent)
	if extra < 0 {
		return "", false
	}
	at := 0
	for at < len(sent) && sent[at] == arrived[at] {
		at++
	}
	if !bytes.Equal(sent[at:], arrived[at+extra:]) {
		return "", false
	}
	return string(arrived[at : at+extra]), true
}

// indent sets a text off from the margin.
func indent(s, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+by)
}
