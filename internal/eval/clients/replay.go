package clients

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
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
	Client    string   `json:"client"`
	Requests  int      `json:"requests"`
	Other     int      `json:"other"` // without memory, not replayed
	Turns     int      `json:"turns"`
	Side      int      `json:"side"`
	Subagents int      `json:"subagents"`
	Sessions  int      `json:"sessions"`
	Faults    []string `json:"faults"`
}

// Replay sends the capture's requests in order, those that memory looks at,
// and compares what the proxy answers in its headers and keeps in its sessions
// with what the capture says.
func Replay(ctx context.Context, t Target, c Capture) (Report, error) {
	rep := Report{Client: c.Client, Faults: []string{}}
	owner := map[string]string{} // our session id -> the capture's conversation
	for _, conv := range c.Conversations {
		threads, err := replayConversation(ctx, t, conv, &rep)
		if err != nil {
			return rep, fmt.Errorf("replay %s %s: %w", c.Client, conv.Session, err)
		}
		for _, th := range threads {
			if err := t.judge(ctx, conv.Session, th, owner, &rep); err != nil {
				return rep, fmt.Errorf("look at a session of %s %s: %w", c.Client, conv.Session, err)
			}
		}
	}
	return rep, nil
}

func (r *Report) fault(format string, args ...any) {
	r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
}

func replayConversation(ctx context.Context, t Target, conv Conversation, rep *Report) ([]*thread, error) {
	threads := []*thread{newThread()}
	for i, r := range conv.Requests {
		f := formatOf(r)
		if f == nil {
			rep.Other++
			continue
		}
		rep.Requests++
		t.Upstream.script(f, conv, i)
		status, session, err := t.send(ctx, r)
		if err != nil {
			return nil, err
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
		case r.Kind == "subagent":
			rep.Subagents++
			threads[len(threads)-1].subagent(session, r)
		default:
			th := threadOf(threads, session)
			if th == nil && len(threads[0].sessions) > 0 && r.startsAnew(conv.Requests[:i]) {
				th = newThread(heard(threads, r)...)
				threads = append(threads, th)
			}
			if th == nil {
				th = threads[len(threads)-1]
			}
			if th.add(session, r) {
				rep.Turns++
			}
		}
	}
	return threads, nil
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
