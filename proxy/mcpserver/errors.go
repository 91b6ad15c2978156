package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"hindsight/proxy/admin"
)

// argError is an argument that can't be used: a JSON-RPC error that names it.
type argError struct{ arg, wrong string }

func (e *argError) Error() string { return fmt.Sprintf("argument %q %s", e.arg, e.wrong) }

func badArg(arg, wrong string, args ...any) error {
	return &argError{arg, fmt.Sprintf(wrong, args...)}
}

// refusal is what a call may not do, or can't: the model is told.
type refusal string

func (r refusal) Error() string { return string(r) }

// wire turns an error of a call into the JSON-RPC error of arguments that can't
// be used, or into words for the model, which can do something about the rest.
func (t *tool) wire(ctx context.Context, err error, limit time.Duration) (*jsonrpc.Error, string) {
	var bad *argError
	var p *admin.Problem
	var no refusal
	if errors.As(err, &p) {
		if arg := t.argOf(p); arg != "" {
			bad = &argError{arg, "can't be used: " + p.Errors[0].Message + ". " + p.Next}
		}
	}
	switch {
	case bad != nil, errors.As(err, &bad):
		data, _ := json.Marshal(map[string]string{"argument": bad.arg}) // strings always marshal
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: t.name + ": " + bad.Error(), Data: data}, ""
	case p != nil:
		return nil, t.name + ": " + strings.TrimSuffix(p.Detail, ".") + ". " + p.Next //nolint:nilerr // the words are the error
	case errors.As(err, &no):
		return nil, t.name + ": " + string(no) + "."
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, fmt.Sprintf("%s took longer than %s and was given up. What it was to write may still be written: look before you repeat it.", t.name, limit)
	}
	return nil, t.name + ": " + err.Error() + ". Try again; `hindsight doctor` says more."
}

// argOf is the argument that a problem of the management API is about, empty
// where it is about none of this tool's.
func (t *tool) argOf(p *admin.Problem) string {
	if len(p.Errors) == 0 {
		return ""
	}
	field := p.Errors[0].Field[strings.LastIndexByte(p.Errors[0].Field, '.')+1:]
	switch field {
	case "text":
		field = "content"
	case "type", "layer", "types", "layers":
		field = "memory_type"
	case "since", "until":
		field = "time_range"
	}
	for _, a := range t.args {
		if a.name == field || a.name == "content" && field == "query" {
			return a.name
		}
	}
	return ""
}
