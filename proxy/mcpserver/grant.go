package mcpserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"hindsight/store"
)

// Grant says what a caller may do: with whose memory, and in which scopes.
type Grant struct {
	// Name is for people: the name of a key, or of the admin token.
	Name string
	// Owner is whose memory it is. User may be empty where the scopes are named.
	Owner store.Owner
	// Read and Write are the scopes that may be read and written.
	Read, Write []store.Scope
}

// ErrNobody says that a caller acts for no tenant or no user.
var ErrNobody = errors.New("it isn't said whose memory this is")

func (g Grant) check() error {
	if g.Owner.Tenant == "" || g.Owner.User == "" && len(g.Read)+len(g.Write) == 0 {
		return fmt.Errorf("%s: %w", g.Name, ErrNobody)
	}
	return nil
}

// key tells grants apart.
func (g Grant) key() string {
	parts := []string{g.Name, g.Owner.Tenant, g.Owner.User, g.Owner.Agent, "read"}
	for _, s := range g.Read {
		parts = append(parts, string(s))
	}
	parts = append(parts, "write")
	for _, s := range g.Write {
		parts = append(parts, string(s))
	}
	return strings.Join(parts, "\x00")
}

// target is the scope that a memory of a type is written to: the owner's own,
// where the grant has it, else the only one that it has.
func (g Grant) target(t store.Type) (store.Scope, error) {
	if g.Owner.User != "" {
		if own := g.Owner.ScopeOf(t); slices.Contains(g.Write, own) {
			return own, nil
		}
	}
	switch len(g.Write) {
	case 0:
		return "", refusal("this token may not write")
	case 1:
		return g.Write[0], nil
	}
	return "", badArg("scope", "is left out, and this token writes to several: name one of %s", list(g.Write))
}

// sessions says whether the owner's conversations may be read, or ended.
func (g Grant) sessions(scopes []store.Scope) bool {
	return g.Owner.User != "" && slices.Contains(scopes, g.Owner.Scope())
}

func list(scopes []store.Scope) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}
