package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// pageSize is how many entries a page of any list holds.
const pageSize = 100

// The forms of the resources' URIs. What stands in braces is percent-encoded.
const (
	memoryURI   = "memory://{id}"
	scopeURI    = "memory://scope/{scope}"
	sessionURI  = "session://{id}/working"
	jsonType    = "application/json"
	memoryBegin = "memory://"
	scopeBegin  = "memory://scope/"
)

// addResources offers the scopes, each memory and the open sessions. There are
// too many memories to register: lists and reads are answered here.
func (d *desk) addResources() {
	for _, sc := range d.grant.Read {
		d.addScope(sc)
	}
	for _, t := range []*mcp.ResourceTemplate{
		{URITemplate: memoryURI, Name: "memory", Title: "A memory", Description: "One memory with its evidence.", MIMEType: jsonType},
		{URITemplate: scopeURI, Name: "scope", Title: "A scope's memories", Description: "The active memories of a scope, newest first, 100 a page; ?cursor= of next_cursor for the next.", MIMEType: jsonType},
		{URITemplate: sessionURI, Name: "working", Title: "What was just said", Description: "The events of an open session.", MIMEType: jsonType},
	} {
		d.server.AddResourceTemplate(t, d.readResource)
	}
	d.server.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
			switch r := req.(type) {
			case *mcp.ListResourcesRequest:
				return d.listResources(ctx, r, next)
			case *mcp.ReadResourceRequest:
				return d.readResource(ctx, r)
			}
			return next(ctx, method, req)
		}
	})
}

// addScope registers a scope's resource. Registered anew, it makes clients look
// at the list again.
func (d *desk) addScope(sc store.Scope) {
	d.server.AddResource(&mcp.Resource{
		URI: uriOfScope(sc), Name: string(sc), Title: "Memories of " + string(sc), MIMEType: jsonType,
		Description: "The active memories of this scope, newest first.",
	}, d.readResource)
}

func uriOfScope(sc store.Scope) string { return scopeBegin + url.PathEscape(string(sc)) }
func uriOfMemory(id string) string     { return memoryBegin + url.PathEscape(id) }

// listResources answers a page of resources: on the first the scopes, then the
// active memories.
func (d *desk) listResources(ctx context.Context, req *mcp.ListResourcesRequest, next mcp.MethodHandler) (mcp.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Limit)
	defer cancel()
	cursor := ""
	if req.Params != nil {
		cursor = req.Params.Cursor
	}
	out := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
	if cursor == "" {
		first, err := next(ctx, "resources/list", req)
		if err != nil {
			return nil, err
		}
		if scopes, ok := first.(*mcp.ListResourcesResult); ok {
			scopes.NextCursor = ""
			out = scopes
		}
	}
	if len(d.grant.Read) == 0 {
		return out, nil
	}
	ms, more, err := d.page(ctx, d.grant.Read, cursor, pageSize)
	if err != nil {
		return nil, wireResource("resources/list", err)
	}
	for _, m := range ms {
		out.Resources = append(out.Resources, &mcp.Resource{
			URI: uriOfMemory(m.ID), Name: m.ID, Title: short(m.Text), MIMEType: jsonType, Description: string(m.Type),
			Annotations: &mcp.Annotations{LastModified: stamp(m.UpdatedAt), Priority: m.Importance},
		})
	}
	out.NextCursor = more
	return out, nil
}

// short is the beginning of a text, as a title.
func short(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func (d *desk) readResource(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	ctx, cancel := context.WithTimeout(ctx, d.cfg.Limit)
	defer cancel()
	body, err := d.resource(ctx, req.Params.URI)
	if err != nil {
		return nil, wireResource(req.Params.URI, err)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: jsonType, Text: string(body)}}}, nil
}

// resource is the content of a resource of the grant.
func (d *desk) resource(ctx context.Context, uri string) ([]byte, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return nil, badArg("uri", "isn't a URI")
	}
	switch {
	case u.Scheme == "session" && u.Path == "/working" && u.Host != "":
		return d.working(ctx, strings.TrimSuffix(strings.TrimPrefix(uri, "session://"), "/working"))
	case strings.HasPrefix(uri, scopeBegin):
		return d.scopeResource(ctx, u, strings.TrimPrefix(strings.TrimSuffix(uri, "?"+u.RawQuery), scopeBegin))
	case u.Scheme == "memory" && u.Path == "" && u.Host != "":
		m, err := d.memory(ctx, unescaped(strings.TrimPrefix(uri, memoryBegin)), d.grant.Read)
		if err != nil {
			return nil, err
		}
		return json.Marshal(m)
	}
	return nil, badArg("uri", "isn't one of %s, %s, %s", memoryURI, scopeURI, sessionURI)
}

func unescaped(s string) string {
	if plain, err := url.PathUnescape(s); err == nil {
		return plain
	}
	return s
}

// scopeResource is a page of a scope's memories. A scope's name may stand as it
// is or percent-encoded.
func (d *desk) scopeResource(ctx context.Context, u *url.URL, name string) ([]byte, error) {
	scopes, err := d.readable(unescaped(name))
	if err != nil {
		if scopes, err = d.readable(name); err != nil {
			return nil, &admin.Problem{Status: http.StatusNotFound, Detail: "this scope doesn't exist", Next: "List the resources."}
		}
	}
	ms, next, err := d.page(ctx, scopes, u.Query().Get("cursor"), pageSize)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"scope": scopes[0], "memories": notesOf(ms), "next_cursor": next})
}

// working is what was said in an open session.
func (d *desk) working(ctx context.Context, id string) ([]byte, error) {
	if !d.grant.sessions(d.grant.Read) {
		return nil, unknownMemory(id)
	}
	s, err := d.session(ctx, unescaped(id))
	if err != nil {
		return nil, err
	}
	var page struct {
		Memories []store.Memory `json:"memories"`
	}
	q := d.query("layer", string(store.Working), "session", s.ID, "scope", s.Scope, "limit", "1000")
	if err := d.api.do(ctx, http.MethodGet, memoriesPath, q, nil, &page); err != nil {
		return nil, err
	}
	type event struct {
		Kind string `json:"type"`
		Text string `json:"text"`
		Time string `json:"time"`
		Turn int    `json:"turn"`
	}
	events := make([]event, 0, len(page.Memories))
	for i := len(page.Memories) - 1; i >= 0; i-- { // as they were said
		m := page.Memories[i]
		e := event{Kind: m.Metadata["kind"], Text: m.Text, Time: stamp(m.CreatedAt)}
		if len(m.Evidence) > 0 {
			e.Turn = m.Evidence[0].Turn
		}
		events = append(events, e)
	}
	return json.Marshal(map[string]any{"session": s.ID, "state": s.State, "events": events})
}

// wireResource is the JSON-RPC error of a resource that can't be had.
func wireResource(what string, err error) error {
	var bad *argError
	var p *admin.Problem
	switch {
	case errors.As(err, &bad):
		data, _ := json.Marshal(map[string]string{"argument": bad.arg}) // strings always marshal
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: bad.Error(), Data: data}
	case errors.As(err, &p) && p.Status == http.StatusNotFound:
		return mcp.ResourceNotFoundError(what)
	case errors.As(err, &p):
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: p.Detail + " " + p.Next}
	}
	return fmt.Errorf("%s: %w", what, err)
}
