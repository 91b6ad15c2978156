package clients_test

import (
	"encoding/json"
	"testing"

	"hindsight/proxy/dialect"
	"hindsight/proxy/session/clients"
)

// request builds what a scanner would see of a body, as far as these rules
// look: chat messages, or blocks of the messages dialect.
func request(t testing.TB, body string) *dialect.Request {
	t.Helper()
	var in struct {
		Stream    bool
		MaxTokens int `json:"max_tokens"`
		Tools     []any
		Previous  string   `json:"previous_response_id"`
		Schema    []string `json:"schema"`
		Messages  []struct {
			Role, Name string
			Content    json.RawMessage
			Calls      []dialect.Call `json:"tool_calls"`
		}
	}
	if err := json.Unmarshal([]byte(body), &in); err != nil {
		t.Fatalf("parse the test's body: %v", err)
	}
	req := &dialect.Request{
		Stream: in.Stream, MaxTokens: in.MaxTokens, HasTools: len(in.Tools) > 0,
		PreviousResponseID: in.Previous, SchemaKeys: in.Schema,
	}
	for _, m := range in.Messages {
		req.Messages = append(req.Messages, dialect.Message{
			Role: dialect.Role(m.Role), Name: m.Name, Calls: m.Calls, Parts: parts(t, m.Content),
		})
	}
	return req
}

func parts(t testing.TB, raw json.RawMessage) []dialect.Part {
	t.Helper()
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	if raw[0] == '"' {
		return []dialect.Part{dialect.NewTextPart(dialect.TextPart, "text", raw, 0, 0)}
	}
	var list []struct {
		Type string
		Text json.RawMessage
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatalf("parse the test's content: %v", err)
	}
	var out []dialect.Part
	for _, p := range list {
		switch p.Type {
		case "text":
			out = append(out, dialect.NewTextPart(dialect.TextPart, p.Type, p.Text, 0, 0))
		case "tool_result":
			out = append(out, dialect.Part{Kind: dialect.ToolResultPart, Type: p.Type})
		default:
			out = append(out, dialect.Part{Kind: dialect.BinaryPart, Type: p.Type})
		}
	}
	return out
}

// user is a user message of text parts.
func user(texts ...string) dialect.Message {
	m := dialect.Message{Role: dialect.User}
	for _, s := range texts {
		lit, _ := json.Marshal(s)
		m.Parts = append(m.Parts, dialect.NewTextPart(dialect.TextPart, "text", lit, 0, 0))
	}
	return m
}

func shipped(t testing.TB, opts ...clients.Option) *clients.Rules {
	t.Helper()
	r, err := clients.New(clients.Default(), opts...)
	if err != nil {
		t.Fatalf("compile the shipped tables: %v", err)
	}
	return r
}
