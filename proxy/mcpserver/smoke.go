package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Smoke plays a client that checks a server: it starts it, or connects, lists
// what there is, writes a note, finds it and has it erased.
type Smoke struct {
	Command []string          // starts a server on standard input and output
	URL     string            // or: of streamable HTTP
	Token   string            // its bearer token
	By      http.RoundTripper // what carries it there
	Names   string            // as in [Config]
	Version string
	// Erase takes the note away for good; that isn't for tools.
	Erase func(ctx context.Context, id string) error
}

// Step is one thing that the client did, and how long it took.
type Step struct {
	What string
	Took time.Duration
}

// probe is the note. Nobody else says it.
const probe = "The hindsight smoke test of MCP left this note on the shelf."

// Run returns the steps that went well; the error is of the one that didn't.
func (s Smoke) Run(ctx context.Context) (steps []Step, err error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	begun := time.Now()
	did := func(what string) {
		steps = append(steps, Step{what, time.Since(begun)})
		begun = time.Now()
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "hindsight-test", Version: s.Version}, nil)
	session, err := client.Connect(ctx, s.transport(ctx), nil)
	if err != nil {
		return steps, fmt.Errorf("connect: %w", err)
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	did("start and shake hands")
	write, search := "memory_write", "memory_search"
	if s.Names == NamesStore {
		write, search = "store_memory", "search_memory"
	}
	var found Found
	if err := ask(ctx, session, search, map[string]any{"query": "What did the smoke test leave?"}, &found); err != nil {
		return steps, err
	}
	did("the first answer: " + search)
	tools, err := session.ListTools(ctx, nil)
	if err != nil {
		return steps, fmt.Errorf("list the tools: %w", err)
	}
	did(fmt.Sprintf("%d tools listed", len(tools.Tools)))
	resources, err := session.ListResources(ctx, nil)
	if err != nil {
		return steps, fmt.Errorf("list the resources: %w", err)
	}
	did(fmt.Sprintf("%d resources on the first page", len(resources.Resources)))
	var note Written
	if err := ask(ctx, session, write, map[string]any{"content": probe, "memory_type": "user_fact"}, &note); err != nil {
		return steps, err
	}
	did("a note written")
	err = ask(ctx, session, search, map[string]any{"query": probe}, &found)
	if err == nil && (len(found.Results) == 0 || found.Results[0].Text != probe) {
		err = fmt.Errorf("%s doesn't find what was written", search)
	}
	if err == nil {
		did("and found")
	}
	if gone := s.Erase(ctx, note.ID); gone != nil {
		return steps, errors.Join(err, fmt.Errorf("erase the note %s: %w", note.ID, gone))
	}
	if err == nil {
		did("and erased")
	}
	return steps, err
}

func (s Smoke) transport(ctx context.Context) mcp.Transport {
	if s.URL != "" {
		return &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: &http.Client{Transport: bearer{s.Token, s.By}}}
	}
	cmd := exec.CommandContext(ctx, s.Command[0], s.Command[1:]...)
	cmd.Stderr = os.Stderr
	return &mcp.CommandTransport{Command: cmd}
}

// bearer shows a token with every request.
type bearer struct {
	token string
	by    http.RoundTripper
}

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	return b.by.RoundTrip(r)
}

// ask calls a tool and decodes its answer.
func ask(ctx context.Context, session *mcp.ClientSession, name string, args map[string]any, answer any) error {
	res, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	var text strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			text.WriteString(t.Text)
		}
	}
	if res.IsError {
		return errors.New(text.String())
	}
	if err := json.Unmarshal([]byte(text.String()), answer); err != nil {
		return fmt.Errorf("read the answer of %s: %w", name, err)
	}
	return nil
}
