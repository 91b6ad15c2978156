package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"

	"hindsight/proxy/admin"
	"hindsight/proxy/mcpserver"
	"hindsight/proxy/session"
	"hindsight/reflect/extract"
	"hindsight/store"
)

// newMCP is the MCP server over a management API.
func newMCP(cfg Config, way http.RoundTripper, log *slog.Logger) (*mcpserver.Server, error) {
	return mcpserver.New(mcpserver.Config{
		API: way, Names: cfg.MCPNames, Screen: extract.Refused, Version: thisBuild().Version, Zone: cfg.Zone, Log: log,
	})
}

// late is a handler that is there when it is asked.
type late func() http.Handler

// ServeHTTP implements [http.Handler].
func (l late) ServeHTTP(w http.ResponseWriter, r *http.Request) { l().ServeHTTP(w, r) }

// mcpCallers says whom the tokens of MCP over HTTP stand for: a key of auth.keys
// for what it is bound to, the admin token for the configured tenant and user.
type mcpCallers struct {
	cfg  Config
	user func(context.Context) string // the default user as it stands now
}

// knows says whether a token is one of auth.keys.
func (c mcpCallers) knows(token string) bool {
	_, ok := c.key(token)
	return ok
}

// key finds a key by its hash, in the same time wherever it stands.
func (c mcpCallers) key(token string) (AuthKey, bool) {
	sum := sha256.Sum256([]byte(token))
	found := -1
	for i, k := range c.cfg.Auth.Keys {
		want, err := hex.DecodeString(k.SHA256)
		if err == nil && subtle.ConstantTimeCompare(want, sum[:]) == 1 {
			found = i
		}
	}
	if token == "" || found < 0 {
		return AuthKey{}, false
	}
	return c.cfg.Auth.Keys[found], true
}

// whose is the grant of a request. Whoever shows no key has shown the admin
// token: the management port has seen to that.
func (c mcpCallers) whose(r *http.Request) (mcpserver.Grant, error) {
	if k, ok := c.key(admin.Bearer(r)); ok {
		return c.ofKey(k)
	}
	if id := c.cfg.Identity; c.cfg.Auth.Mode == session.Keys { // nobody is implied where callers have keys
		return grantOf(c.cfg, id.Tenant, id.User)
	}
	return grantOf(c.cfg, c.cfg.Identity.tenantName(), c.user(r.Context()))
}

// grantOf is what whoever holds the admin token, or the data directory, may do.
func grantOf(cfg Config, tenant, user string) (mcpserver.Grant, error) {
	if tenant == "" || user == "" {
		return mcpserver.Grant{}, errors.New("it isn't said whose memory this is: set HINDSIGHT_TENANT and HINDSIGHT_DEFAULT_USER, or use a key of auth.keys")
	}
	return grant(cfg, AuthKey{Name: "admin", Tenant: tenant, User: user}), nil
}

// ofKey is what a key may do.
func (c mcpCallers) ofKey(k AuthKey) (mcpserver.Grant, error) {
	switch {
	case k.Role == "proxy":
		return mcpserver.Grant{}, fmt.Errorf("the key %s is for the proxy: MCP takes keys with role mcp or admin", k.Name)
	case k.User == "" && len(k.Read) == 0 && len(k.Write) == 0:
		return mcpserver.Grant{}, fmt.Errorf("the key %s names neither a user nor scopes: whose memory is it for?", k.Name)
	}
	return grant(c.cfg, k), nil
}

// grant is what is bound to a key: the scopes that it names, else its user's own
// and, to read, what the configuration opens to that user.
func grant(cfg Config, k AuthKey) mcpserver.Grant {
	g := mcpserver.Grant{Name: k.Name, Owner: store.Owner{Tenant: k.Tenant, User: k.User, Agent: k.Agent}, Read: k.Read, Write: k.Write}
	if k.User == "" {
		return g
	}
	own := g.Owner.OwnScopes()
	if len(g.Read) == 0 {
		g.Read = slices.Concat(own, grantsOf(cfg.Grants)(g.Owner))
	}
	if len(g.Write) == 0 {
		g.Write = own
	}
	return g
}
