package harm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Endpoint is a model behind an OpenAI-compatible API.
type Endpoint struct {
	URL    string // the API's base, with or without /v1
	Key    string // empty: none is sent
	Client *http.Client
}

// maxAnswer bounds the bytes of one answer.
const maxAnswer = 4 << 20

// Ask implements [Asker].
func (e Endpoint) Ask(ctx context.Context, body []byte) (string, error) {
	base := strings.TrimSuffix(e.URL, "/")
	if !strings.HasSuffix(base, "/v1") {
		base += "/v1"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return "", fmt.Errorf("ask the model: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	if e.Key != "" {
		req.Header.Set("Authorization", "Bearer "+e.Key)
	}
	res, err := e.Client.Do(req)
	if err != nil {
		return "", fmt.Errorf("ask the model: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // read to the end or of no use
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	if res.StatusCode != http.StatusOK {
		return "", fmt.Errorf("ask the model: status %d", res.StatusCode)
	}
	var a struct {
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if err := json.Unmarshal(raw, &a); err != nil {
		return "", fmt.Errorf("read the answer: %w", err)
	}
	if len(a.Choices) == 0 {
		return "", errors.New("read the answer: it has no choices")
	}
	return a.Choices[0].Message.Content, nil
}
