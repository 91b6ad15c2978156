package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hindsight/inject"
	"hindsight/proxy/admin"
	"hindsight/store"
)

// sessionsCmd is `hindsight sessions`.
type sessionsCmd struct {
	List  sessionsList  `cmd:"" help:"List sessions."`
	Show  sessionsShow  `cmd:"" help:"Show a session as a conversation, with what was injected."`
	Close sessionsClose `cmd:"" help:"End a session and have it reflected."`
}

const sessionsPath = "/api/v1/sessions"

type sessionsList struct {
	reach
	Scope  string `placeholder:"SCOPE" help:"user:<id>."`
	State  string `placeholder:"STATE" help:"open or closed."`
	Limit  int    `placeholder:"N" default:"100" help:"Most sessions; 100 where left out."`
	Cursor string `placeholder:"CURSOR" help:"Where the page before ended."`
}

// Run lists them.
func (c *sessionsList) Run(ctx context.Context, a *app) error {
	q := c.query()
	put(q, "scope", c.Scope)
	put(q, "state", c.State)
	put(q, "limit", strconv.Itoa(c.Limit))
	put(q, "cursor", c.Cursor)
	var page struct {
		Sessions   []admin.Session `json:"sessions"`
		NextCursor string          `json:"next_cursor"`
	}
	return a.call(ctx, c.reach, http.MethodGet, sessionsPath, q, nil, &page, func() error {
		if len(page.Sessions) == 0 {
			return a.say("No sessions. The first request with memory through the proxy starts one.")
		}
		rows := make([][]string, len(page.Sessions))
		for i, s := range page.Sessions {
			rows[i] = []string{s.ID, s.State, strconv.Itoa(s.Turns), when(s.LastSeen), s.Scope, s.Model, s.ExternalID}
		}
		if err := a.printTable([]string{"id", "state", "turns", "last seen", "scope", "model", "client's id"}, 6, rows); err != nil {
			return err
		}
		return a.more(page.NextCursor)
	})
}

type sessionsShow struct {
	reach
	ID string `arg:"" help:"The session's id, or the client's own."`
}

// Run shows it.
func (c *sessionsShow) Run(ctx context.Context, a *app) error {
	path, err := idPath(sessionsPath, c.ID)
	if err != nil {
		return err
	}
	var s struct {
		admin.Session
		Events    []store.Event     `json:"events"`
		Exchanges []admin.Exchange  `json:"exchanges"`
		Injected  []admin.Injection `json:"injected"`
	}
	return a.call(ctx, c.reach, http.MethodGet, path, c.query(), nil, &s, func() error {
		err := a.printFields([][2]string{
			{"id", s.ID}, {"client's id", s.ExternalID}, {"state", s.State}, {"tenant", s.Tenant}, {"scope", s.Scope},
			{"agent", s.Agent}, {"parent", s.Parent}, {"model", s.Model}, {"turns", strconv.Itoa(s.Turns)},
			{"started", when(s.Started)}, {"last seen", when(s.LastSeen)},
		}...)
		if err != nil {
			return err
		}
		return a.printConversation(s.Events, s.Injected)
	})
}

// printConversation prints events, one a paragraph, and before each turn's
// words the memories that were put there.
func (a *app) printConversation(events []store.Event, injected []admin.Injection) error {
	for _, e := range events {
		if e.Kind == store.UserInput {
			for _, in := range injected {
				if in.Turn == e.Turn {
					if err := a.say("\n%s %s", a.paint("2", "+ memory"), in.ID); err != nil {
						return err
					}
				}
			}
		}
		head := fmt.Sprintf("%d %s", e.Turn, e.Kind)
		if e.Name != "" {
			head += " " + e.Name
		}
		if err := a.say("\n%s\n%s", a.paint("1", oneLine(head)), printable(e.Text)); err != nil {
			return err
		}
	}
	return nil
}

// printable keeps line breaks and tabs and drops what could steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || inject.Hidden(r) {
			return -1
		}
		return r
	}, s)
}

type sessionsClose struct {
	reach
	ID   string `arg:"" help:"The session's id, or the client's own."`
	Wait string `placeholder:"TIME" help:"Wait for the reflection and print what it kept, such as 30s."`
}

// Run closes it.
func (c *sessionsClose) Run(ctx context.Context, a *app) error {
	path, err := idPath(sessionsPath, c.ID)
	if err != nil {
		return err
	}
	q := url.Values{}
	put(q, "tenant", c.Tenant)
	put(q, "wait", c.Wait)
	var closed admin.Closed
	return a.call(ctx, c.reach, http.MethodPost, path+"/close", q, nil, &closed, func() error {
		return a.printClosed(closed, c.Wait != "")
	})
}

func (a *app) printClosed(c admin.Closed, waited bool) error {
	switch {
	case c.State == "running" && waited:
		why := ""
		if c.Reason != "" {
			why = " (" + c.Reason + ")"
		}
		return a.say("Closed. The reflection %s isn't done yet%s.", c.Reflection, why)
	case c.State == "running":
		return a.say("Closed. The reflection %s is queued; a running server does it.", c.Reflection)
	case c.Reflection == "":
		return a.say("Closed. Nothing was said since the last reflection.")
	}
	if err := a.say("Closed. Kept %d, dropped %d.", len(c.Memories), len(c.Dropped)); err != nil {
		return err
	}
	for _, m := range c.Memories {
		if err := a.say("%s %s  %s", a.paint("32", "kept"), m.ID, oneLine(m.Text)); err != nil {
			return err
		}
	}
	for _, d := range c.Dropped {
		if err := a.say("%s (%s)  %s", a.paint("33", "dropped"), d.Reason, oneLine(d.Text)); err != nil {
			return err
		}
	}
	return nil
}
