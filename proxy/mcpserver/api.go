package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// api calls the management API.
type api struct{ http *http.Client }

// maxAnswer bounds what is read of one answer.
const maxAnswer = 64 << 20

const memoriesPath = "/api/v1/memories"

// do makes one call. body, where not nil, is sent as JSON; the answer is decoded
// into answer. A refusal is an *admin.Problem.
func (a api) do(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	u := "http://" + store.Product + path
	if len(query) > 0 {
		u += "?" + query.Encode()
	}
	var send io.Reader
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the call: %w", err)
		}
		send = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, u, send)
	if err != nil {
		return fmt.Errorf("make the call: %w", err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err // its own words name an address that nobody knows
		}
		return fmt.Errorf("reach the memory: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return fmt.Errorf("read the memory's answer: %w", err)
	}
	if resp.StatusCode >= 400 {
		p := &admin.Problem{Status: resp.StatusCode}
		if json.Unmarshal(raw, p) != nil || p.Detail == "" {
			p.Detail, p.Next = fmt.Sprintf("the memory answered with status %d", resp.StatusCode), "Look into Hindsight's log."
		}
		return p
	}
	if answer == nil {
		return nil
	}
	if err := json.Unmarshal(raw, answer); err != nil {
		return fmt.Errorf("read the memory's answer: %w", err)
	}
	return nil
}

// memory reads a memory that lies in one of some scopes of the grant; all others
// don't exist for the caller, and neither does what is held for a person's review.
func (d *desk) memory(ctx context.Context, id string, scopes []store.Scope) (store.Memory, error) {
	var m store.Memory
	if err := d.api.do(ctx, http.MethodGet, memoriesPath+"/"+url.PathEscape(id), nil, nil, &m); err != nil {
		return m, err
	}
	if !slices.Contains(scopes, m.Scope) || m.State == store.Quarantined {
		return store.Memory{}, unknownMemory(id)
	}
	if m.Tenant == d.grant.Owner.Tenant {
		return m, nil
	}
	tenant, err := d.tenant(ctx)
	if err != nil {
		return store.Memory{}, err
	}
	if m.Tenant != tenant {
		return store.Memory{}, unknownMemory(id)
	}
	return m, nil
}

// tenant is the name that memories have of the grant's tenant: it may have been
// linked to another.
func (d *desk) tenant(ctx context.Context) (string, error) {
	scopes := slices.Concat(d.grant.Read, d.grant.Write)
	var now changes
	err := d.api.do(ctx, http.MethodGet, memoriesPath+"/changes", d.query("scope", string(scopes[0])), nil, &now)
	return now.Tenant, err
}

// query begins a query of the grant's tenant.
func (d *desk) query(pairs ...string) url.Values {
	q := url.Values{"tenant": {d.grant.Owner.Tenant}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q
}

func unknownMemory(id string) error {
	return &admin.Problem{Status: http.StatusNotFound, Detail: fmt.Sprintf("memory %q doesn't exist", id), Next: "Ids are whole and case-sensitive; search or list to find one."}
}

// session finds a session of the owner by Hindsight's id or the client's own.
func (d *desk) session(ctx context.Context, given string) (admin.Session, error) {
	unknown := &admin.Problem{Status: http.StatusNotFound, Detail: fmt.Sprintf("session %q doesn't exist", given), Next: "Leave session out for the one that is open."}
	var s admin.Session
	err := d.api.do(ctx, http.MethodGet, "/api/v1/sessions/"+url.PathEscape(given), d.query(), nil, &s)
	var p *admin.Problem
	if errors.As(err, &p) && p.Status == http.StatusConflict {
		return d.named(ctx, given, unknown)
	}
	if errors.As(err, &p) && p.Status == http.StatusNotFound {
		return s, unknown
	}
	if err != nil {
		return s, err
	}
	return s, d.ours(ctx, s, unknown)
}

// ours says unknown of a session that isn't the owner's.
func (d *desk) ours(ctx context.Context, s admin.Session, unknown error) error {
	if s.Scope != string(d.grant.Owner.Scope()) {
		return unknown
	}
	if s.Tenant == d.grant.Owner.Tenant {
		return nil
	}
	tenant, err := d.tenant(ctx)
	if err == nil && s.Tenant != tenant {
		return unknown
	}
	return err
}

// named finds the owner's one among several people's sessions of a name.
func (d *desk) named(ctx context.Context, name string, unknown error) (admin.Session, error) {
	var page struct{ Sessions []admin.Session }
	err := d.api.do(ctx, http.MethodGet, "/api/v1/sessions", d.query("external_id", name, "limit", "1000"), nil, &page)
	if err != nil {
		return admin.Session{}, err
	}
	for _, s := range page.Sessions {
		if d.ours(ctx, s, unknown) == nil {
			return s, nil
		}
	}
	return admin.Session{}, unknown
}

// openSessions are the owner's open sessions, the last used first.
func (d *desk) openSessions(ctx context.Context) ([]admin.Session, error) {
	var page struct{ Sessions []admin.Session }
	err := d.api.do(ctx, http.MethodGet, "/api/v1/sessions", d.query("state", "open", "limit", "1000"), nil, &page)
	if err != nil {
		return nil, err
	}
	own := slices.DeleteFunc(page.Sessions, func(s admin.Session) bool {
		return s.Parent != "" || s.Scope != string(d.grant.Owner.Scope())
	})
	slices.SortFunc(own, func(a, b admin.Session) int { return b.LastSeen.Compare(a.LastSeen) })
	return own, nil
}
