package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"hindsight/proxy/admin"
	hreflect "hindsight/reflect"
	"hindsight/store"
)

// reflectCmd is `hindsight reflect`.
type reflectCmd struct {
	Now   reflectNow   `cmd:"" default:"withargs" help:"Reflect on a session now, or show what that would make of it."`
	List  reflectList  `cmd:"" help:"List the queue of reflections, with what was given up and why."`
	Retry reflectRetry `cmd:"" help:"Put a reflection that was given up back into the queue."`
}

type reflectNow struct {
	reach
	Session string `required:"" placeholder:"ID" help:"The session's id, or the client's own."`
	DryRun  bool   `help:"Change nothing: show the prompt, the answer and every decision, for all that is kept of the session."`
	Wait    string `default:"1m" placeholder:"TIME" help:"How long to wait for the reflection."`
}

// Run closes the session, or looks at it only.
func (c *reflectNow) Run(ctx context.Context, a *app) error {
	path, err := idPath(sessionsPath, c.Session)
	if err != nil {
		return err
	}
	q := url.Values{}
	put(q, "tenant", c.Tenant)
	if c.DryRun {
		var p admin.Preview
		return a.call(ctx, c.reach, http.MethodPost, path+"/preview", q, nil, &p, func() error { return a.printPreview(p) })
	}
	put(q, "wait", c.Wait)
	var closed admin.Closed
	return a.call(ctx, c.reach, http.MethodPost, path+"/close", q, nil, &closed, func() error { return a.printClosed(closed, true) })
}

func (a *app) printPreview(p admin.Preview) error {
	for i, c := range p.Calls {
		for _, part := range [][2]string{{"system", c.System}, {"user", c.User}, {"answer", c.Answer}, {"error", c.Error}} {
			if part[1] == "" {
				continue
			}
			if err := a.say("%s\n%s\n", a.paint("1", fmt.Sprintf("call %d, %s", i+1, part[0])), printable(part[1])); err != nil {
				return err
			}
		}
	}
	how := "Found by " + p.Strategy
	if p.Model != "" {
		how += ", asked " + p.Model
	}
	if p.Reason != "" {
		how += ": " + p.Reason
	}
	if err := a.say("%s. Nothing was changed.", oneLine(how)); err != nil {
		return err
	}
	for _, m := range p.Memories {
		if err := a.say("%s %s (%s)  %s", a.paint("32", m.Change), m.Memory.ID, m.Memory.Type, oneLine(m.Memory.Text)); err != nil {
			return err
		}
		for _, e := range m.Memory.Evidence {
			if err := a.say("    turn %d: %s", e.Turn, oneLine(e.Quote)); err != nil {
				return err
			}
		}
	}
	for _, d := range p.Dropped {
		if err := a.say("%s (%s)  %s", a.paint("33", "dropped"), d.Reason, oneLine(d.Text)); err != nil {
			return err
		}
	}
	for _, v := range p.Verdicts {
		if err := a.say("%s %s", v.Verdict, v.ID); err != nil {
			return err
		}
	}
	return nil
}

// previewer shows reflections to the management API.
type previewer struct{ runner *hreflect.Runner }

var _ admin.Previewer = previewer{}

// Preview implements admin.Previewer.
func (p previewer) Preview(ctx context.Context, s store.Session) (admin.Preview, error) {
	is, err := p.runner.Preview(ctx, s)
	if err != nil {
		return admin.Preview{}, err
	}
	out := admin.Preview{
		Session: s.ID, Model: is.Model, Strategy: is.Outcome.Strategy, Reason: is.Reason, Calls: []admin.PreviewCall{},
		Memories: []admin.PreviewMemory{}, Dropped: append([]store.Dropped{}, is.Outcome.Dropped...),
		Verdicts: append([]store.Verdict{}, is.Outcome.Verdicts...),
	}
	for _, c := range is.Asked {
		call := admin.PreviewCall{System: c.System, User: c.User, Answer: c.Answer}
		if c.Err != nil {
			call.Error = c.Err.Error()
		}
		out.Calls = append(out.Calls, call)
	}
	for _, m := range is.Outcome.Memories {
		change := "changed"
		switch {
		case m.State == store.Superseded:
			change = "superseded"
		case m.Revision == 0:
			change = "new"
		}
		out.Memories = append(out.Memories, admin.PreviewMemory{Change: change, Memory: m})
	}
	return out, nil
}
