// Package clients knows what real clients put on the wire: what stands around
// a person's words, which calls are a client's own housekeeping, and which
// headers name a user or a session. The knowledge is data, see [Tables]; a new
// client needs an entry, not a release.
//
// Start with [New] over [Default], extended by the configuration's entries
// with [Tables.Append]. A [Rules] is immutable and safe for concurrent use.
//
// For one request: [Rules.SideCall] first, since a side call is no turn at
// all; then [Rules.LastUser] for the turn and [Rules.HumanMessages] for the
// history. [App] names the client, which some entries ask for.
//
// What it promises: decoration never counts as a person's words, and neither
// do retrieved documents, notifications or a model's own summary; the latter
// are handed back apart, as third-party text. What it isn't: identity. It says
// where an id stands, never whose it is.
package clients

import (
	"errors"
	"fmt"
	"strings"
)

// Rules are compiled tables.
type Rules struct {
	strip func(string) string

	userHeaders    []Header
	sessionHeaders []SessionHeader
	phrases        []phrase
	elements       elements
	templates      []template
	suffixes       []suffix
	beginnings     []beginning
	greetings      map[string]bool
	schemaKeys     map[string]bool
}

// Option is a setting of [New].
type Option func(*Rules)

// WithStrip sets the function that removes blocks of ours from a text before
// anything else looks at it. Without it texts are taken as they come.
func WithStrip(strip func(string) string) Option {
	return func(r *Rules) { r.strip = strip }
}

// New compiles tables. The error names every bad entry, not only the first.
func New(t Tables, opts ...Option) (*Rules, error) {
	r := &Rules{
		strip:          func(s string) string { return s },
		userHeaders:    t.UserHeaders,
		sessionHeaders: t.SessionHeaders,
		elements:       elements{exact: map[string]element{}},
		greetings:      map[string]bool{},
		schemaKeys:     map[string]bool{},
	}
	var bad []error
	for i, h := range t.UserHeaders {
		if err := h.check(); err != nil {
			bad = append(bad, fmt.Errorf("identity.user_headers[%d]: %w", i, err))
		}
	}
	for i, h := range t.SessionHeaders {
		if err := h.check(); err != nil {
			bad = append(bad, fmt.Errorf("identity.session_headers[%d]: %w", i, err))
		}
	}
	for i, s := range t.SideCalls {
		p, err := compilePhrase(s)
		if err != nil {
			bad = append(bad, fmt.Errorf("clients.side_calls[%d] %q: %w", i, s.Text, err))
			continue
		}
		r.phrases = append(r.phrases, p)
	}
	for i, w := range t.Wrappers {
		if err := r.addWrapper(w); err != nil {
			bad = append(bad, fmt.Errorf("clients.wrappers[%d] %q: %w", i, w.name(), err))
		}
	}
	for _, g := range t.Greetings {
		r.greetings[greetingKey(g)] = true
	}
	for _, k := range t.SchemaKeys {
		r.schemaKeys[strings.ToLower(k)] = true
	}
	if err := errors.Join(bad...); err != nil {
		return nil, err
	}
	for _, o := range opts {
		o(r)
	}
	return r, nil
}

// UserHeaders are the headers that name a user, first that is present counts.
func (r *Rules) UserHeaders() []Header { return r.userHeaders }

// SessionHeaders are the headers that name a session, by rank.
func (r *Rules) SessionHeaders() []SessionHeader { return r.sessionHeaders }
