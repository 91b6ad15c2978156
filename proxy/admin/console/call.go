package console

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"hindsight/proxy/admin"
)

const api = "/api/v1"

// refusal is an answer of the API that isn't what was asked for.
type refusal struct {
	status  int
	problem admin.Problem
}

func (r *refusal) Error() string { return r.problem.Detail }

// answer is what a call of the API leaves behind.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header         { return a.header }
func (a *answer) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

// call makes one call of the management API inside the process. body, where not
// nil, goes as JSON; the answer is decoded into into, where not nil. Every status
// from 400 on is a *refusal.
func (c *Console) call(ctx context.Context, method, path string, query url.Values, body, into any) error {
	var send io.Reader = http.NoBody
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode a call of the API: %w", err)
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://console"+path+"?"+query.Encode(), send)
	if err != nil {
		return fmt.Errorf("make a call of the API: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	a := &answer{header: http.Header{}}
	c.cfg.API.ServeHTTP(a, req)
	if a.status >= http.StatusBadRequest {
		r := &refusal{status: a.status}
		if err := json.Unmarshal(a.body.Bytes(), &r.problem); err != nil {
			return fmt.Errorf("read a problem of the API: %w", err)
		}
		return r
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(a.body.Bytes(), into); err != nil {
		return fmt.Errorf("read an answer of the API: %w", err)
	}
	return nil
}

// get reads something of the visitor's tenant.
func (v *visit) get(path string, query url.Values, into any) error {
	return v.c.call(v.r.Context(), http.MethodGet, api+path, query, nil, into)
}

// post has the API do something.
func (v *visit) post(path string, query url.Values, body, into any) error {
	return v.c.call(v.r.Context(), http.MethodPost, api+path, query, body, into)
}

// tenant is a query that names the visitor's tenant.
func (v *visit) tenant() url.Values {
	q := url.Values{}
	put(q, "tenant", v.who.tenant)
	return q
}

// put sets a query parameter unless it is empty.
func put(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// part is an id as a part of a path.
func part(id string) string { return "/" + url.PathEscape(id) }
