package clients

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Tables are what is known of clients. The configuration appends to the
// shipped ones ([Default]); its forms as JSON:
//
//	identity.user_headers     [{"name": "X-Staff-Id"}]
//	identity.session_headers  [{"name": "X-Chat", "parent": "X-Parent-Chat"}]
//	clients.side_calls        [{"text": "Name this … chat", "in": ["user"], "no_tools": true}]
//	clients.wrappers          [{"tag": "kb-hit", "do": "third_party"},
//	                           {"begin": "Question: ", "to": "\n\nSources:"},
//	                           {"suffix": "\n\nAnswer in JSON."},
//	                           {"not_human": "[cron]", "do": "drop"}]
type Tables struct {
	UserHeaders    []Header        `json:"user_headers,omitempty" yaml:"user_headers,omitempty"`
	SessionHeaders []SessionHeader `json:"session_headers,omitempty" yaml:"session_headers,omitempty"`
	SideCalls      []SideCall      `json:"side_calls,omitempty" yaml:"side_calls,omitempty"`
	Wrappers       []Wrapper       `json:"wrappers,omitempty" yaml:"wrappers,omitempty"`
	// Greetings are what a probe says ("hi"), compared without case and
	// punctuation.
	Greetings []string `json:"greetings,omitempty" yaml:"greetings,omitempty"`
	// SchemaKeys are the properties of JSON schemas that only side calls ask for.
	SchemaKeys []string `json:"schema_keys,omitempty" yaml:"schema_keys,omitempty"`
}

// Append returns the tables with the entries of more behind their own.
func (t Tables) Append(more Tables) Tables {
	return Tables{
		UserHeaders:    slices.Concat(t.UserHeaders, more.UserHeaders),
		SessionHeaders: slices.Concat(t.SessionHeaders, more.SessionHeaders),
		SideCalls:      slices.Concat(t.SideCalls, more.SideCalls),
		Wrappers:       slices.Concat(t.Wrappers, more.Wrappers),
		Greetings:      slices.Concat(t.Greetings, more.Greetings),
		SchemaKeys:     slices.Concat(t.SchemaKeys, more.SchemaKeys),
	}
}

// Header is a header whose value names a user.
type Header struct {
	Name string `json:"name" yaml:"name"`
	Who  string `json:"who,omitempty" yaml:"who,omitempty"` // which client, for people
}

func (h Header) check() error { return checkHeader("name", h.Name) }

// SessionHeader is a header whose value names a conversation.
type SessionHeader struct {
	Name string `json:"name" yaml:"name"`
	// Child is a header that names a sub-agent or a thread inside the session.
	// Present and different from the session's own value, it makes the request
	// one of a child session.
	Child string `json:"child,omitempty" yaml:"child,omitempty"`
	// Parent is a header that names the session that this one is a child of.
	Parent string `json:"parent,omitempty" yaml:"parent,omitempty"`
	// Temporary is the beginning of ids of chats that must leave nothing.
	Temporary string `json:"temporary,omitempty" yaml:"temporary,omitempty"`
	Who       string `json:"who,omitempty" yaml:"who,omitempty"`
}

func (h SessionHeader) check() error {
	err := checkHeader("name", h.Name)
	if h.Child != "" {
		err = errors.Join(err, checkHeader("child", h.Child))
	}
	if h.Parent != "" {
		err = errors.Join(err, checkHeader("parent", h.Parent))
	}
	return err
}

// checkHeader refuses what can't be a header's name (RFC 9110 token).
func checkHeader(field, name string) error {
	if name == "" {
		return fmt.Errorf("%s is empty", field)
	}
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`"(),/:;<=>?@[\]{}`, c) >= 0 {
			return fmt.Errorf("%s %q is no header name", field, name)
		}
	}
	return nil
}

// The places where a side call's phrase counts.
const (
	// InSystem is the first 300 characters of the leading system and developer
	// text, compared without case.
	InSystem = "system"
	// InUser is the beginning of the last user message, or of the one right
	// before it when nobody answered in between.
	InUser = "user"
	// InLastSystem is the beginning of a system message that ends the request.
	InLastSystem = "last_system"
)

// SideCall is a phrase that gives a client's housekeeping away: title, tags,
// follow-ups, summaries, memory extraction.
type SideCall struct {
	// Text is the phrase. "…" stands for up to 120 bytes of anything. In user
	// and last_system it must open the text.
	Text string   `json:"text" yaml:"text"`
	In   []string `json:"in" yaml:"in"`
	// With: at least one of these must stand in the text, too. Without: none
	// of them may.
	With    []string `json:"with,omitempty" yaml:"with,omitempty"`
	Without []string `json:"without,omitempty" yaml:"without,omitempty"`
	// NoTools: a request that offers tools is a turn after all.
	NoTools bool   `json:"no_tools,omitempty" yaml:"no_tools,omitempty"`
	Who     string `json:"who,omitempty" yaml:"who,omitempty"`
}

// What becomes of a wrapper's text.
const (
	Drop       = "drop"        // decoration, nobody's knowledge
	ThirdParty = "third_party" // outside knowledge: documents, notifications, summaries
	Unwrap     = "unwrap"      // the body is the person's, the tags aren't
	Keep       = "keep"        // a person's own markup, never touched
)

// Wrapper is one thing that clients put around, or instead of, a person's
// words. Exactly one of Tag, Begin, Suffix and NotHuman is set.
type Wrapper struct {
	// Tag is an element's name; a trailing * makes it a beginning of names.
	Tag string `json:"tag,omitempty" yaml:"tag,omitempty"`
	// Begin opens a template: the words stand behind it, or behind the last
	// From after it, up to the first To. A text that lacks From or To isn't
	// the template. What stands behind Third, outside the words, is
	// third-party text.
	Begin string `json:"begin,omitempty" yaml:"begin,omitempty"`
	From  string `json:"from,omitempty" yaml:"from,omitempty"`
	To    string `json:"to,omitempty" yaml:"to,omitempty"`
	Third string `json:"third,omitempty" yaml:"third,omitempty"`
	// Suffix cuts a text at its last occurrence, the rest is decoration.
	Suffix string `json:"suffix,omitempty" yaml:"suffix,omitempty"`
	// NotHuman is the beginning of a text part that nobody typed.
	NotHuman string `json:"not_human,omitempty" yaml:"not_human,omitempty"`

	// Do: drop, third_party, unwrap or keep for a tag (default drop); drop or
	// third_party for not_human (default third_party).
	Do string `json:"do,omitempty" yaml:"do,omitempty"`
	// Block: the tag counts only where it stands on lines of its own, since
	// people write it in prose.
	Block bool `json:"block,omitempty" yaml:"block,omitempty"`
	// Only: where the (unwrapped) tag occurs, nothing outside it is a person's.
	Only bool `json:"only,omitempty" yaml:"only,omitempty"`
	// With: at least one of these must stand in the not_human text, too.
	With []string `json:"with,omitempty" yaml:"with,omitempty"`
	// Whole: not_human must be the whole part, not only its beginning.
	Whole bool `json:"whole,omitempty" yaml:"whole,omitempty"`
	// Opening: not_human counts only for the first user message, once it has
	// been answered.
	Opening bool `json:"opening,omitempty" yaml:"opening,omitempty"`
	// Examples: everything above the not_human message is examples, too.
	Examples bool `json:"examples,omitempty" yaml:"examples,omitempty"`
	// Apps limits the entry to clients whose name ([App]) begins so.
	Apps []string `json:"apps,omitempty" yaml:"apps,omitempty"`
	Who  string   `json:"who,omitempty" yaml:"who,omitempty"`
}

func (w Wrapper) name() string {
	return w.Tag + w.Begin + w.Suffix + w.NotHuman
}
