package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is one tool under one name.
type tool struct {
	name  string
	title string
	about string // for the model: what it does, when to call it, when not
	args  []arg
	hints mcp.ToolAnnotations
	out   *jsonschema.Schema
	run   func(ctx context.Context, d *desk, args json.RawMessage) (any, error)
}

// newTool joins a call to its description: In is decoded from the arguments,
// which have been checked by then, and Out is the form of the answer.
func newTool[In, Out any](t tool, run func(ctx context.Context, d *desk, in In) (Out, error)) tool {
	schema, err := jsonschema.For[Out](nil)
	if err != nil { // the types are constants of this package
		panic(fmt.Sprintf("tool %s: %v", t.name, err))
	}
	t.args, t.out = prepare(t.args), schema
	t.run = func(ctx context.Context, d *desk, raw json.RawMessage) (any, error) {
		var in In
		if err := read(t.args, raw, &in); err != nil {
			return nil, err
		}
		return run(ctx, d, in)
	}
	return t
}

// The annotations of tools. None reaches beyond the memory.
var (
	no       = false
	yes      = true
	reads    = mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: &no}
	adds     = mcp.ToolAnnotations{DestructiveHint: &no, IdempotentHint: true, OpenWorldHint: &no}
	destroys = mcp.ToolAnnotations{DestructiveHint: &yes, IdempotentHint: true, OpenWorldHint: &no}
	changing = mcp.ToolAnnotations{DestructiveHint: &yes, OpenWorldHint: &no}
)

func (d *desk) addTool(t tool) {
	hints := t.hints
	hints.Title = t.title
	d.server.AddTool(&mcp.Tool{
		Name: t.name, Title: t.title, Description: t.about, Annotations: &hints, InputSchema: inputSchema(t.args), OutputSchema: t.out,
	}, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return d.call(ctx, &t, req.Params.Arguments)
	})
}

// call runs a tool within the limit. What doesn't come back in time is left to
// itself: its answer would reach nobody.
func (d *desk) call(ctx context.Context, t *tool, args json.RawMessage) (*mcp.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Limit)
	defer cancel()
	type answer struct {
		out any
		err error
	}
	done := make(chan answer, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				d.log.Error("mcp tool panicked", "tool", t.name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
				done <- answer{nil, fmt.Errorf("internal error")}
			}
		}()
		out, err := t.run(ctx, d, args)
		done <- answer{out, err}
	}()
	var a answer
	select {
	case a = <-done:
	case <-ctx.Done():
		a.err = ctx.Err()
	}
	if a.err != nil {
		wrong, told := t.wire(ctx, a.err, d.cfg.Limit)
		if wrong != nil {
			return nil, wrong
		}
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: told}}}, nil
	}
	body, err := json.Marshal(a.out)
	if err != nil {
		return nil, fmt.Errorf("encode the answer of %s: %w", t.name, err)
	}
	// Clients that know no structured content read the same as text.
	return &mcp.CallToolResult{StructuredContent: json.RawMessage(body), Content: []mcp.Content{&mcp.TextContent{Text: string(body)}}}, nil
}
