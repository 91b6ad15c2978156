package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"hindsight/store"
)

// Target is the running proxy under test.
type Target struct {
	Proxy       string // http://host:port
	Admin       string
	Token       string
	DefaultUser string
	Upstream    *Upstream // the one behind Proxy
}

// Report is what a replay found. Faults name what is wrong, one a line.
type Report struct {
	Client   string   `json:"client"`
	Requests int      `json:"requests"`
	Other    int      `json:"other"` // of other dialects, not replayed
	Turns    int      `json:"turns"`
	Side     int      `json:"side"`
	Sessions int      `json:"sessions"`
	Faults   []string `json:"faults"`
}

// Replay sends the capture's chat completions in order and compares what the
// proxy answers in its headers and keeps in its sessions with what the capture
// says.
func Replay(ctx context.Context, t Target, c Capture) (Report, error) {
	rep := Report{Client: c.Client, Faults: []string{}}
	owner := map[string]string{} // our session id -> the capture's conversation
	for _, conv := range c.Conversations {
		got, err := replayConversation(ctx, t, conv, &rep)
		if err != nil {
			return rep, fmt.Errorf("replay %s %s: %w", c.Client, conv.Session, err)
		}
		if len(got.sessions) > 1 {
			rep.fault("%s: %d sessions, want one", conv.Session, len(got.sessions))
		}
		for s := range got.sessions {
			if other, taken := owner[s]; taken {
				rep.fault("%s and %s share a session", other, conv.Session)
			}
			owner[s] = conv.Session
			rep.Sessions++
			if err := t.check(ctx, s, conv, got.said, &rep); err != nil {
				return rep, fmt.Errorf("look at the session of %s %s: %w", c.Client, conv.Session, err)
			}
		}
		if len(got.said) > 0 && len(got.sessions) == 0 {
			rep.fault("%s: no session", conv.Session)
		}
	}
	return rep, nil
}

func (r *Report) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

type replayed struct {
	sessions map[string]bool
	said     []string // the human's words, in order
}

func replayConversation(ctx context.Context, t Target, conv Conversation, rep *Report) (replayed, error) {
	got := replayed{sessions: map[string]bool{}}
	for i, r := range conv.Requests {
		if !r.chat() {
			rep.Other++
			continue
		}
		rep.Requests++
		t.Upstream.script(conv, i)
		status, session, err := t.send(ctx, r)
		if err != nil {
			return got, err
		}
		name := fmt.Sprintf("%s request %d (%s)", conv.Session, i+1, r.Kind)
		side := strings.Contains(status, "reason=side_call")
		switch {
		case r.Kind == "side":
			rep.Side++
			if !side {
				rep.fault("%s: taken for a turn: %s", name, status)
			}
		case strings.Contains(status, "reason=temporary"):
		case side:
			rep.fault("%s: taken for a side call", name)
		default:
			if r.Human != "" {
				rep.Turns++
				got.said = append(got.said, string(fill([]byte(r.Human))))
			}
			if session != "" {
				got.sessions[session] = true
			}
		}
	}
	return got, nil
}

func (t Target) send(ctx context.Context, r Request) (status, session string, err error) {
	req, err := http.NewRequestWithContext(ctx, r.Method, t.Proxy+r.Path, bytes.NewReader(r.wire()))
	if err != nil {
		return "", "", err
	}
	for _, h := range r.Headers {
		switch strings.ToLower(h[0]) {
		case "host", "content-length", "connection", "transfer-encoding":
		default:
			req.Header.Add(h[0], h[1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return "", "", fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return "", "", fmt.Errorf("%s %s answered %s: %.200s", r.Method, r.Path, resp.Status, body)
	}
	return resp.Header.Get("Hindsight-Status"), resp.Header.Get("Hindsight-Session"), nil
}

// check compares the kept session with the conversation: whose it is, and the
// human's words in order.
func (t Target) check(ctx context.Context, id string, conv Conversation, said []string, rep *Report) error {
	// Closing covers every answer that has been read; nothing is reflected
	// where no model is set, but what was said is on disk.
	if _, err := t.call(ctx, http.MethodPost, "/api/v1/sessions/"+url.PathEscape(id)+"/close?wait=10s"); err != nil {
		return err
	}
	raw, err := t.call(ctx, http.MethodGet, "/api/v1/sessions/"+url.PathEscape(id))
	if err != nil {
		return err
	}
	var s struct {
		Scope  store.Scope   `json:"scope"`
		Events []store.Event `json:"events"`
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return fmt.Errorf("read the session: %w", err)
	}
	if want := store.UserScope(conv.person(t.DefaultUser)); s.Scope != want {
		rep.fault("%s: scope %s, want %s", conv.Session, s.Scope, want)
	}
	var kept []string
	for _, e := range s.Events {
		if e.Kind == store.UserInput {
			kept = append(kept, e.Text)
		}
	}
	if strings.Join(kept, "\x00") != strings.Join(said, "\x00") {
		rep.fault("%s: the human's words are %q, want %q", conv.Session, kept, said)
	}
	return nil
}

func (t Target) call(ctx context.Context, method, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, t.Admin+path, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+t.Token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s answered %s: %.200s", method, path, resp.Status, body)
	}
	return body, nil
}
