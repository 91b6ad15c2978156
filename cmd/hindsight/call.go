package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// call makes one call and prints its answer: as it came with --json, else
// through human, which is called when answer has been filled in.
func (a *app) call(ctx context.Context, r reach, method, path string, q url.Values, body, answer any, human func() error) (err error) {
	c, err := a.client(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	raw, err := c.do(ctx, method, path, q, body, answer)
	if err != nil {
		return err
	}
	if a.json {
		return a.printRaw(raw)
	}
	return human()
}

// say prints one line.
func (a *app) say(format string, args ...any) error {
	_, err := fmt.Fprintf(a.out, format+"\n", args...)
	return err
}

// more says how to get the next page.
func (a *app) more(cursor string) error {
	if cursor == "" {
		return nil
	}
	return a.say("There are more: --cursor %s", cursor)
}

// fetch makes one call of a management API and reads its answer.
func fetch(ctx context.Context, method, url, token string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return nil, fmt.Errorf("make the request: %w", err)
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		var p struct {
			Detail string `json:"detail"`
		}
		if json.Unmarshal(raw, &p) == nil && p.Detail != "" {
			return nil, fmt.Errorf("%s: %s", resp.Status, p.Detail)
		}
		return nil, fmt.Errorf("%s %s answered %s", method, url, resp.Status)
	}
	return raw, nil
}
