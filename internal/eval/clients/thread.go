package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"hindsight/store"
)

// thread is what should be one session: a conversation of the capture, or a
// part of it that begins anew with nothing to tell whose it goes on.
type thread struct {
	requests []Request
	sessions map[string]bool
	children map[string]bool // of sub-agents
	said     []string        // the human's words, in order
}

func newThread(said ...string) *thread {
	return &thread{sessions: map[string]bool{}, children: map[string]bool{}, said: said}
}

// threadOf is the thread that a session belongs to, nil if it is a new one.
func threadOf(threads []*thread, session string) *thread {
	for _, th := range threads {
		if th.sessions[session] {
			return th
		}
	}
	return nil
}

// heard are the words of a conversation so far that a request brings again.
func heard(threads []*thread, r Request) []string {
	var all []string
	for _, th := range threads {
		for _, words := range th.said {
			if quoted, err := json.Marshal(words); err == nil && bytes.Contains(r.wire(), quoted) {
				all = append(all, words)
			}
		}
	}
	return all
}

// add takes a request of a person or of a tool round and says whether somebody
// spoke in it.
func (th *thread) add(session string, r Request) bool {
	th.requests = append(th.requests, r)
	if session != "" {
		th.sessions[session] = true
	}
	human := r.human()
	if human != "" {
		th.said = append(th.said, string(fill([]byte(human))))
	}
	return human != ""
}

// subagent takes a request of a sub-agent, in which no person speaks.
func (th *thread) subagent(session string, r Request) {
	th.requests = append(th.requests, r)
	th.children[session] = true
}

// person is the identity that the proxy should find: the one that any of the
// requests carries, else the default user.
func (th *thread) person(byDefault string) string {
	for _, r := range th.requests {
		if p := r.person(); p != "" {
			return p
		}
	}
	return byDefault
}

// judge compares the kept sessions of a thread with the capture.
func (t Target) judge(ctx context.Context, name string, th *thread, owner map[string]string, rep *Report) error {
	if len(th.sessions) > 1 {
		rep.fault("%s: %d sessions, want one", name, len(th.sessions))
	}
	if len(th.said) > 0 && len(th.sessions) == 0 {
		rep.fault("%s: no session", name)
	}
	for _, id := range slices.Sorted(maps.Keys(th.sessions)) {
		if other, taken := owner[id]; taken {
			rep.fault("%s and %s share a session", other, name)
		}
		owner[id] = name
		rep.Sessions++
		if _, err := t.check(ctx, id, name, th, th.said, rep); err != nil {
			return err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(th.children)) {
		if th.sessions[id] {
			rep.fault("%s: a sub-agent is in its parent's session", name)
			continue
		}
		parent, err := t.check(ctx, id, name, th, nil, rep)
		if err != nil {
			return err
		}
		if parent == "" || len(th.sessions) > 0 && !th.sessions[parent] {
			rep.fault("%s: a sub-agent's session has the parent %q", name, parent)
		}
	}
	return nil
}

// check compares a kept session with what it should hold: whose it is, and the
// human's words in order. It returns the session's parent.
func (t Target) check(ctx context.Context, id, name string, th *thread, said []string, rep *Report) (parent string, err error) {
	// Closing covers every answer that has been read; nothing is reflected
	// where no model is set, but what was said is on disk.
	if _, err := t.call(ctx, http.MethodPost, "/api/v1/sessions/"+url.PathEscape(id)+"/close?wait=10s"); err != nil {
		return "", err
	}
	raw, err := t.call(ctx, http.MethodGet, "/api/v1/sessions/"+url.PathEscape(id))
	if err != nil {
		return "", err
	}
	var s struct {
		Scope  store.Scope   `json:"scope"`
		Parent string        `json:"parent"`
		Events []store.Event `json:"events"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", fmt.Errorf("read the session: %w", err)
	}
	if want := store.UserScope(th.person(t.DefaultUser)); s.Scope != want {
		rep.fault("%s: scope %s, want %s", name, s.Scope, want)
	}
	var kept []string
	for _, e := range s.Events {
		if e.Kind == store.UserInput {
			kept = append(kept, e.Text)
		}
	}
	if strings.Join(kept, "\x00") != strings.Join(said, "\x00") {
		rep.fault("%s: the human's words are %q, want %q", name, kept, said)
	}
	return s.Parent, nil
}
