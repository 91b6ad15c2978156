package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// agent is a client of MCP over streamable HTTP, as plain as it can be.
type agent struct {
	t       testing.TB
	url     string
	token   string
	session string
	n       int
}

// answer is a JSON-RPC answer to a call.
type rpcAnswer struct {
	Result json.RawMessage
	Error  *struct {
		Code    int
		Message string
		Data    struct{ Argument string }
	}
}

// agent begins a session with a token.
func (w *world) agent(token string) *agent {
	w.t.Helper()
	a := &agent{t: w.t, url: w.st.adminURL() + "/mcp", token: token}
	a.begin()
	return a
}

func (a *agent) begin() {
	a.t.Helper()
	var hello struct{ ServerInfo struct{ Name string } }
	got := a.ask("initialize", map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "test", "version": "1"}})
	if got.Error != nil || json.Unmarshal(got.Result, &hello) != nil || hello.ServerInfo.Name != "hindsight" {
		a.t.Fatalf("initialize: %+v %s", got.Error, got.Result)
	}
	if status, body := a.post(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"}); status != http.StatusAccepted {
		a.t.Fatalf("initialized: %d %s", status, body)
	}
}

// post sends one message and returns the answer's body: of an event stream, the
// data of its last event.
func (a *agent) post(message any) (int, []byte) {
	a.t.Helper()
	b, err := json.Marshal(message)
	if err != nil {
		a.t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, a.url, bytes.NewReader(b))
	if err != nil {
		a.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if a.token != "" {
		req.Header.Set("Authorization", "Bearer "+a.token)
	}
	if a.session != "" {
		req.Header.Set("Mcp-Session-Id", a.session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer resp.Body.Close()
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		a.session = id
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		a.t.Fatal(err)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var last []byte
		for line := range bytes.Lines(raw) {
			if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
				last = data
			}
		}
		raw = last
	}
	return resp.StatusCode, raw
}

// ask makes one JSON-RPC call.
func (a *agent) ask(method string, params any) rpcAnswer {
	a.t.Helper()
	a.n++
	status, raw := a.post(map[string]any{"jsonrpc": "2.0", "id": a.n, "method": method, "params": params})
	var out rpcAnswer
	if status != http.StatusOK || json.Unmarshal(raw, &out) != nil {
		a.t.Fatalf("%s answered %d: %s", method, status, raw)
	}
	return out
}

// try calls a tool and returns the text of its answer, and whether it says that
// it went wrong; a JSON-RPC error counts as wrong.
func (a *agent) try(tool string, args map[string]any) (text string, wrong bool) {
	a.t.Helper()
	got := a.ask("tools/call", map[string]any{"name": tool, "arguments": args})
	if got.Error != nil {
		return fmt.Sprintf("%d %s [%s]", got.Error.Code, got.Error.Message, got.Error.Data.Argument), true
	}
	var res struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(got.Result, &res); err != nil || len(res.Content) != 1 {
		a.t.Fatalf("%s: %s", tool, got.Result)
	}
	return res.Content[0].Text, res.IsError
}

// call calls a tool that must work and decodes its answer.
func (a *agent) call(tool string, args map[string]any, answer any) {
	a.t.Helper()
	text, wrong := a.try(tool, args)
	if wrong {
		a.t.Fatalf("%s %v: %s", tool, args, text)
	}
	if answer == nil {
		return
	}
	if err := json.Unmarshal([]byte(text), answer); err != nil {
		a.t.Fatalf("%s: %v in %s", tool, err, text)
	}
}

// write keeps a statement and returns its id.
func (a *agent) write(content string) string {
	a.t.Helper()
	var v struct{ ID string }
	a.call("memory_write", map[string]any{"content": content}, &v)
	return v.ID
}

// finds searches and returns the texts.
func (a *agent) finds(query string) []string {
	a.t.Helper()
	var v struct{ Results []struct{ Text string } }
	a.call("memory_search", map[string]any{"query": query}, &v)
	out := []string{}
	for _, r := range v.Results {
		out = append(out, r.Text)
	}
	return out
}
