package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"hindsight/proxy/admin"
)

// maxAnswer bounds what a client reads of one answer.
const maxAnswer = 256 << 20

// client talks to a management API, wherever it is.
type client struct {
	http  *http.Client
	base  string // scheme and host
	token string // empty on the owner's socket and in the same process
	where string // for messages: an address, or a data directory
	close func() error
}

// do makes one call. body, where not nil, is sent as JSON; the answer is
// decoded into answer, where not nil. It returns the answer's bytes;
// every status from 400 on is an error that says what to do.
func (c *client) do(ctx context.Context, method, path string, query url.Values, body, answer any) ([]byte, error) {
	var send []byte
	if body != nil {
		var err error
		if send, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
	}
	return c.exchange(ctx, method, path, query, "application/json", send, answer)
}

// sendLines is do for a body of lines.
func (c *client) sendLines(ctx context.Context, path string, query url.Values, lines []byte, answer any) error {
	_, err := c.exchange(ctx, http.MethodPost, path, query, "application/x-ndjson", lines, answer)
	return err
}

func (c *client) exchange(ctx context.Context, method, path string, query url.Values, kind string, body []byte, answer any) ([]byte, error) {
	resp, err := c.send(ctx, method, path, query, kind, body)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if resp.StatusCode >= 400 {
		return raw, c.refused(resp, raw)
	}
	if answer != nil && len(raw) > 0 {
		if err := json.Unmarshal(raw, answer); err != nil {
			return raw, c.stranger(resp.StatusCode)
		}
	}
	return raw, nil
}

// stream makes one call whose answer is read as it comes. Close it.
func (c *client) stream(ctx context.Context, method, path string, query url.Values) (io.ReadCloser, error) {
	resp, err := c.send(ctx, method, path, query, "", nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 400 {
		return resp.Body, nil
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return nil, c.refused(resp, raw)
}

// send sends a request; a nil body is none.
func (c *client) send(ctx context.Context, method, path string, query url.Values, kind string, body []byte) (*http.Response, error) {
	u := c.base + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	var send io.Reader
	if body != nil {
		send = bytes.NewReader(body)
	}
	req, err := http.NewRequestWithContext(ctx, method, u, send)
	if err != nil {
		return nil, &failure{wrong: fmt.Sprintf("%s isn't an address: %v", c.where, err), next: "Write it like http://127.0.0.1:8081.", code: exitUsage}
	}
	if body != nil {
		req.Header.Set("Content-Type", kind)
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	return resp, nil
}

// unreachable says that nobody answered.
func (c *client) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var ue *url.Error
	if errors.As(err, &ue) {
		err = ue.Err
	}
	if untrusted(err) {
		return &failure{
			wrong: fmt.Sprintf("the certificate of %s isn't trusted: %v", c.where, err),
			next:  "Set HINDSIGHT_ADMIN_TLS_CERT_FILE to the server's certificate, or call it by the name in it.",
		}
	}
	return &failure{
		wrong: fmt.Sprintf("the management API at %s can't be reached: %v", c.where, err),
		next:  "Start `hindsight serve`, or name the right address with --admin or HINDSIGHT_ADMIN_LISTEN.",
	}
}

// refused turns a problem document into an error.
func (c *client) refused(resp *http.Response, raw []byte) error {
	var p admin.Problem
	if bytes.Contains(raw, []byte("HTTP request to an HTTPS server")) {
		return &failure{wrong: c.where + " listens with TLS", next: "Set HINDSIGHT_ADMIN_TLS_CERT_FILE as the server has it, or begin the address with https://."}
	}
	if err := json.Unmarshal(raw, &p); err != nil || p.Detail == "" || p.Next == "" {
		return c.stranger(resp.StatusCode)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return &failure{
			wrong: fmt.Sprintf("%s refuses the token: %s", c.where, p.Detail),
			next:  "Give the server's own token with --admin-token-file or HINDSIGHT_ADMIN_TOKEN; it stands in the file admin-token of its data directory (--data-dir).",
		}
	}
	return &failure{wrong: p.Detail, next: p.Next, status: resp.StatusCode}
}

// stranger says that something else answered.
func (c *client) stranger(status int) error {
	return &failure{
		wrong: fmt.Sprintf("what answers at %s (status %d) isn't Hindsight's management API", c.where, status),
		next:  "The management API has a port of its own (8081 by default), not the proxy's; name it with --admin.",
	}
}
