package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Journal records conversations. Finish hands an ended exchange over; Flush
// returns when that is on disk, or dropped; Places lists what a session has
// seen.
type Journal interface {
	Finish(x *store.Exchange)
	Flush(ctx context.Context) error
	Session(ctx context.Context, o store.Owner, id string) (store.Session, error)
	Places(ctx context.Context, o store.Owner, session string) ([]store.Place, error)
}

// Naming gives the names under which the proxy would record the same: the
// session that a client calls by a name of its own, and the key of something
// that counts once in it. Words separates what a person said in a message from
// what stands around it.
type Naming interface {
	SessionID(o store.Owner, external string) (string, error)
	PlaceKey(o store.Owner, parts ...string) (store.Hash, error)
	Words(message string) (words, thirdParty string)
}

// Bounds of one call.
const (
	maxEventBytes = 8 << 20
	futureEvent   = 24 * time.Hour // a clock that is wrong by more would rule over everything that is known
)

func (a *API) events(api huma.API) {
	route(api, "add-events", http.MethodPost, base+"/sessions/{id}/events",
		"Record events of a conversation that didn't pass the proxy", a.addEvents,
		func(op *huma.Operation) { op.MaxBodyBytes = maxEventBytes })
}

// ReportedEvent is one step of a conversation as an agent framework reports it.
type ReportedEvent struct {
	Type    store.EventKind `json:"type" enum:"user_input,model_reasoning,tool_call,tool_result,final_output"`
	Time    time.Time       `json:"time,omitzero" doc:"When it happened, RFC 3339; now where left out. Its offset decides what \"tomorrow\" means; UTC says nothing, then it is the configured zone."`
	Turn    int             `json:"turn,omitempty" minimum:"1" maximum:"1000000" doc:"Counted by the human's messages, from 1; where left out, each user_input begins the next."`
	Payload Payload         `json:"payload"`
}

type eventsInput struct {
	ID     string          `path:"id" maxLength:"200" doc:"Hindsight's id, or the agent's own; an unknown one starts a session."`
	Tenant string          `query:"tenant" maxLength:"200"`
	User   string          `query:"user" maxLength:"200" doc:"Whose memory it becomes; the default user where left out."`
	Agent  string          `query:"agent" maxLength:"200" doc:"The agent, for what it learns about its own work."`
	Body   []ReportedEvent `minItems:"1" maxItems:"2000" nullable:"false"`
}

type eventsOutput struct {
	Body struct {
		Session   string   `json:"session" doc:"Hindsight's id of the session."`
		Recorded  int      `json:"recorded" doc:"Events that were new."`
		Known     int      `json:"known" doc:"Events that had been sent before."`
		Exchanges []string `json:"exchanges" nullable:"false" doc:"The exchanges that they became, one a turn."`
	}
}

func (a *API) addEvents(ctx context.Context, in *eventsInput) (*eventsOutput, error) {
	now := a.cfg.Now()
	if err := checkEvents(in.Body, now); err != nil {
		return nil, err
	}
	s, external, err := a.eventSession(ctx, in)
	if err != nil {
		return nil, err
	}
	// One at a time: the same events sent twice at once are recorded once.
	a.recording.Lock()
	defer a.recording.Unlock()
	if s, err = a.standing(ctx, s); err != nil {
		return nil, a.fail("the session", err)
	}
	out := &eventsOutput{}
	out.Body.Session, out.Body.Exchanges = s.ID, []string{}
	places, err := a.cfg.Store.Places(ctx, s.Owner, s.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, a.fail("the session", err)
	}
	seen := map[store.Hash]bool{}
	for _, p := range places {
		seen[p.Key] = true
	}
	fresh, err := a.unseen(s, in.Body, seen, now)
	if err != nil {
		return nil, a.fail("the session", err)
	}
	out.Body.Recorded, out.Body.Known = len(fresh), len(in.Body)-len(fresh)
	for _, x := range exchangesOf(s, external, fresh, now) {
		out.Body.Exchanges = append(out.Body.Exchanges, x.ID)
		a.cfg.Store.Finish(x)
	}
	if len(fresh) == 0 {
		return out, nil
	}
	if err := a.cfg.Store.Flush(ctx); err != nil {
		return nil, a.fail("the session", err)
	}
	// A full disk and an erased scope drop what is handed over: say so.
	if places, err = a.cfg.Store.Places(ctx, s.Owner, s.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, a.fail("the session", err)
	}
	for _, p := range places {
		if p.Key == fresh[len(fresh)-1].key {
			return out, nil
		}
	}
	return nil, problem(http.StatusServiceUnavailable,
		"Look at /readyz and Hindsight's log: the disk may be full. Events from before their user's memory was erased are never recorded.",
		"the events were not recorded")
}

// eventSession says which session events go to: one of ours by its id, within
// tenant and user, else the one that the agent calls so.
func (a *API) eventSession(ctx context.Context, in *eventsInput) (s store.Session, external string, err error) {
	tenant, err := a.tenant(ctx, in.Tenant, "query.tenant")
	if err != nil {
		return s, "", err
	}
	found, err := a.cfg.Store.FindSession(ctx, in.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return s, "", a.fail("session "+in.ID, err)
	}
	if err == nil && found.Owner.Tenant == tenant && (in.User == "" || found.Owner.User == in.User) {
		return found, "", nil
	}
	o := store.Owner{Tenant: tenant, User: cmp.Or(in.User, a.cfg.User(ctx)), Agent: in.Agent}
	if o.User == "" {
		return s, "", wrong(http.StatusBadRequest, "query.user", "Name the user whose conversation it is, or set HINDSIGHT_DEFAULT_USER.", "is left out and there is no default user")
	}
	for field, v := range map[string]string{"query.user": in.User, "query.agent": in.Agent, "path.id": in.ID} {
		if !plainName(v) {
			return s, "", wrong(http.StatusUnprocessableEntity, field, "Send the name itself.", "%q holds control characters, spaces at an end, or is a template that nobody filled in", v)
		}
	}
	id, err := a.cfg.Naming.SessionID(o, in.ID)
	if err != nil {
		return s, "", a.fail("session "+in.ID, err)
	}
	return store.Session{ID: id, Owner: o}, in.ID, nil
}

// plainName says whether a client meant what it sent.
func plainName(v string) bool {
	for _, mark := range []string{"{{", "}}", "${"} {
		if strings.Contains(v, mark) {
			return false
		}
	}
	return strings.TrimSpace(v) == v && !strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f })
}

// standing is the session as it stands, or as it would begin.
func (a *API) standing(ctx context.Context, s store.Session) (store.Session, error) {
	have, err := a.cfg.Store.Session(ctx, s.Owner, s.ID)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return s, nil
	case err != nil:
		return s, err
	}
	return have, nil
}

// checkEvents names the first event that can't be recorded, by its index.
func checkEvents(events []ReportedEvent, now time.Time) error {
	for i, e := range events {
		at := func(field string) string { return fmt.Sprintf("body[%d].%s", i, field) }
		if e.Time.After(now.Add(futureEvent)) {
			return wrongEvent(i, at("time"), "Send the time at which it happened.", "lies more than a day ahead")
		}
		if field, what := e.Payload.fault(e.Type); field != "" {
			return wrongEvent(i, at(field), "GET /openapi.json describes the payload of each type.", "%s", what)
		}
	}
	return nil
}

// wrongEvent is the problem of one field of one event.
func wrongEvent(i int, field, next, message string, args ...any) error {
	p := wrong(http.StatusUnprocessableEntity, field, next, message, args...)
	p.Detail = "event " + strconv.Itoa(i) + ": " + strings.TrimPrefix(field, fmt.Sprintf("body[%d].", i)) + ": " + p.Errors[0].Message
	return p
}
