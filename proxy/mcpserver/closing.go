package mcpserver

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hindsight/proxy/admin"
)

type closeIn struct {
	Session string `json:"session"`
	Wait    *int   `json:"wait"`
}

// usualWait is how long a close waits for what the session taught, in seconds;
// longestWait stays below the limit of a call.
const (
	usualWait   = 20
	longestWait = 25
)

// Closed is the answer to a close.
type Closed struct {
	Session  string    `json:"session"`
	State    string    `json:"state" jsonschema:"done, or running: what it taught is still being looked at, and will be kept without another call"`
	Memories []Note    `json:"memories" jsonschema:"what was kept"`
	Dropped  []Dropped `json:"dropped" jsonschema:"what was not, and why"`
	Reason   string    `json:"reason,omitempty"`
}

// Dropped is a statement that wasn't kept.
type Dropped struct {
	Text   string `json:"text"`
	Reason string `json:"reason"`
}

func closeSession(ctx context.Context, d *desk, in closeIn) (Closed, error) {
	if !d.grant.sessions(d.grant.Write) {
		return Closed{}, refusal("this token may not end sessions: it isn't bound to a user whose memory it writes")
	}
	s, err := d.sessionToClose(ctx, in.Session)
	if err != nil {
		return Closed{}, err
	}
	wait := usualWait
	if in.Wait != nil {
		wait = *in.Wait
	}
	if end, ok := ctx.Deadline(); ok { // a limit that was set shorter
		wait = max(0, min(wait, int(time.Until(end).Seconds())-1))
	}
	var got admin.Closed
	q := d.query("wait", fmt.Sprintf("%ds", wait))
	if err := d.api.do(ctx, http.MethodPost, "/api/v1/sessions/"+url.PathEscape(s.ID)+"/close", q, nil, &got); err != nil {
		return Closed{}, err
	}
	out := Closed{Session: s.ID, State: got.State, Memories: notesOf(got.Memories), Dropped: []Dropped{}, Reason: got.Reason}
	for _, x := range got.Dropped {
		out.Dropped = append(out.Dropped, Dropped{x.Text, x.Reason})
	}
	return out, nil
}

// sessionToClose is the session that is named, else the only open one.
func (d *desk) sessionToClose(ctx context.Context, given string) (admin.Session, error) {
	if given != "" {
		return d.session(ctx, given)
	}
	open, err := d.openSessions(ctx)
	switch {
	case err != nil:
		return admin.Session{}, err
	case len(open) == 1:
		return open[0], nil
	case len(open) == 0:
		return admin.Session{}, refusal("no session is open: there is nothing to end")
	}
	var ids []string
	for _, s := range open[:min(len(open), 10)] {
		ids = append(ids, s.ID+" (last used "+stamp(s.LastSeen)+")")
	}
	return admin.Session{}, badArg("session", "is left out, and %d are open: name one of %s", len(open), strings.Join(ids, ", "))
}
