package admin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/proxy/admin/explain"
	"hindsight/store"
)

// sessions registers the calls that read conversations.
func (a *API) sessions(api huma.API) {
	route(api, "list-sessions", http.MethodGet, base+"/sessions", "List sessions", a.listSessions)
	route(api, "get-session", http.MethodGet, base+"/sessions/{id}", "Read a session: its events, its exchanges, what was injected", a.getSession)
	route(api, "why", http.MethodGet, base+"/exchanges/{id}/why", "What recall considered for an exchange", a.why)
}

// Session is a conversation without its content.
type Session struct {
	ID         string    `json:"id"`
	ExternalID string    `json:"external_id" doc:"The client's own id."`
	Tenant     string    `json:"tenant"`
	Scope      string    `json:"scope" doc:"Where what is learned about the user goes."`
	Agent      string    `json:"agent"`
	Parent     string    `json:"parent" doc:"The session that this sub-agent's one belongs to."`
	State      string    `json:"state" enum:"open,closed"`
	Turns      int       `json:"turns"`
	Started    time.Time `json:"started"`
	LastSeen   time.Time `json:"last_seen"`
	Model      string    `json:"model"`
	Unread     int       `json:"unread_tokens" doc:"What reflection hasn't covered yet."`
}

func sessionView(s store.Session) Session {
	return Session{
		ID: s.ID, ExternalID: s.ExternalID, Tenant: s.Owner.Tenant, Scope: string(s.Owner.Scope()),
		Agent: s.Owner.Agent, Parent: s.Parent, State: string(s.State), Turns: s.Turns,
		Started: s.Started, LastSeen: s.LastSeen, Model: s.Model, Unread: s.NewTokens,
	}
}

type sessionsInput struct {
	Tenant   string `query:"tenant" maxLength:"200"`
	Scope    string `query:"scope"`
	External string `query:"external_id" maxLength:"1000"`
	Parent   string `query:"parent" maxLength:"64"`
	State    string `query:"state" enum:"open,closed"`
	Limit    int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor   string `query:"cursor" maxLength:"1000"`
}

type sessionsOutput struct {
	Body struct {
		Sessions   []Session `json:"sessions" nullable:"false"`
		NextCursor string    `json:"next_cursor"`
	}
}

func (a *API) listSessions(ctx context.Context, in *sessionsInput) (*sessionsOutput, error) {
	tenant, sc, err := a.asked(ctx, in.Tenant, in.Scope)
	if err != nil {
		return nil, err
	}
	a.settled(ctx)
	page, next, err := a.cfg.Store.Sessions(ctx, store.SessionFilter{
		Tenant: tenant, Scope: sc, External: in.External, Parent: in.Parent,
		State: store.SessionState(in.State), Limit: in.Limit, Cursor: in.Cursor,
	})
	if err != nil {
		return nil, a.fail("the page", err)
	}
	out := &sessionsOutput{}
	out.Body.Sessions = make([]Session, len(page))
	for i, s := range page {
		out.Body.Sessions[i] = sessionView(s)
	}
	out.Body.NextCursor = next
	return out, nil
}

// settled lets answers that clients have read come to the disk before somebody
// looks: what was just said is there to be seen. It isn't worth an error.
func (a *API) settled(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := a.cfg.Closer.Settle(ctx); err != nil {
		a.log.Debug("look without the last answers", "error", err)
	}
}

// SessionPath names a session.
type SessionPath struct {
	ID     string `path:"id" maxLength:"1000" doc:"Hindsight's id, or the client's own one where it names one session of the tenant."`
	Tenant string `query:"tenant" maxLength:"200" doc:"Of a client's own id."`
}

func (s SessionPath) what() string { return fmt.Sprintf("session %q", s.ID) }

// session finds a session by Hindsight's id, else by the client's own.
func (a *API) session(ctx context.Context, in SessionPath) (store.Session, error) {
	a.settled(ctx)
	s, err := a.cfg.Store.FindSession(ctx, in.ID)
	if !errors.Is(err, store.ErrNotFound) {
		return s, a.fail(in.what(), err)
	}
	tenant, err := a.tenant(ctx, in.Tenant, "query.tenant")
	if err != nil {
		return s, problem(http.StatusNotFound, "Use Hindsight's own id, or name the tenant of the client's own one (?tenant=).", "%s doesn't exist", in.what())
	}
	page, _, err := a.cfg.Store.Sessions(ctx, store.SessionFilter{Tenant: tenant, External: in.ID, Limit: 2})
	switch {
	case err != nil:
		return s, a.fail(in.what(), err)
	case len(page) == 0:
		return s, a.fail(in.what(), store.ErrNotFound)
	case len(page) > 1:
		return s, problem(http.StatusConflict, "Use Hindsight's own id; GET /api/v1/sessions?external_id= lists them.", "%s is the name of several sessions", in.what())
	}
	return page[0], nil
}

// Exchange is one request and its answer, without the texts.
type Exchange struct {
	ID       string      `json:"id"`
	Status   string      `json:"status" doc:"complete, aborted by the client, truncated by the upstream, error; empty while it runs."`
	HTTP     int         `json:"http_status"`
	Turn     int         `json:"turn"`
	Started  time.Time   `json:"started"`
	Finished time.Time   `json:"finished,omitzero"`
	Dialect  string      `json:"dialect"`
	Model    string      `json:"model"`
	Tokens   int         `json:"tokens" doc:"Estimated size of what was new."`
	Usage    store.Usage `json:"usage" doc:"As counted by the upstream."`
	Injected []store.Ref `json:"injected" nullable:"false" doc:"The memories that were put into this request for the first time."`
	Replayed int         `json:"replayed" doc:"Blocks of earlier turns that were put in again."`
}

// Injection is one memory that the conversation was given.
type Injection struct {
	ID       string `json:"id"`
	Revision int    `json:"revision"`
	Exchange string `json:"exchange"`
	Turn     int    `json:"turn"`
}

type sessionOutput struct {
	Body struct {
		Session
		Events    []store.Event `json:"events" nullable:"false"`
		Exchanges []Exchange    `json:"exchanges" nullable:"false"`
		Injected  []Injection   `json:"injected" nullable:"false"`
	}
}

func (a *API) getSession(ctx context.Context, in *SessionPath) (*sessionOutput, error) {
	s, err := a.session(ctx, *in)
	if err != nil {
		return nil, err
	}
	xs, err := a.cfg.Store.Exchanges(ctx, s.Owner, s.ID, 0, 0)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	out := &sessionOutput{}
	b := &out.Body
	b.Session = sessionView(s)
	b.Events, b.Exchanges, b.Injected = []store.Event{}, []Exchange{}, []Injection{}
	for _, x := range xs {
		b.Events = append(b.Events, x.Events...)
		e := Exchange{
			ID: x.ID, Status: string(x.Status), HTTP: x.HTTP, Turn: x.Turn, Started: x.Started, Finished: x.Finished,
			Dialect: x.Dialect, Model: x.Model, Tokens: x.Tokens, Usage: x.Usage, Injected: x.Injected, Replayed: x.Replayed,
		}
		if e.Injected == nil {
			e.Injected = []store.Ref{}
		}
		for _, r := range x.Injected {
			b.Injected = append(b.Injected, Injection{ID: r.ID, Revision: r.Revision, Exchange: x.ID, Turn: x.Turn})
		}
		b.Exchanges = append(b.Exchanges, e)
	}
	return out, nil
}

type whyInput struct {
	ID     string `path:"id" maxLength:"64" doc:"The Hindsight-Exchange header of the answer."`
	Accept string `header:"Accept-Language" maxLength:"1000" doc:"The language of the story: English or Chinese."`
}

// Reasons is what recall considered for an exchange, and the same in words.
type Reasons struct {
	store.Why
	Story explain.Story `json:"story" doc:"The same for people, in English or Chinese by Accept-Language."`
}

type whyOutput struct{ Body Reasons }

func (a *API) why(ctx context.Context, in *whyInput) (*whyOutput, error) {
	a.settled(ctx)
	w, err := a.cfg.Store.Why(ctx, in.ID)
	if err != nil {
		return nil, a.fail(fmt.Sprintf("a record of why for exchange %q", in.ID), err)
	}
	if w.Considered == nil {
		w.Considered = []store.Candidate{}
	}
	return &whyOutput{Reasons{Why: w, Story: explain.Tell(&w, explain.Preferred(in.Accept))}}, nil
}
