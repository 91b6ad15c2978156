package admin

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// Learner keeps what somebody writes as reflection keeps what was said: screened,
// compared with what is known, and in turn with other writers.
type Learner interface {
	Learn(ctx context.Context, l store.Lesson) (store.Learned, error)
}

func (a *API) learning(api huma.API) {
	route(api, "learn-memory", http.MethodPost, base+"/memories/learn", "Write a memory as reflection does: screened, compared with what is known, replacing what it makes untrue", a.learnMemory,
		created, also(http.StatusOK, "Nothing new was written: it is known, or it was refused."))
}

type learnInput struct {
	Body struct {
		Tenant     string            `json:"tenant,omitempty" maxLength:"200"`
		User       string            `json:"user,omitempty" maxLength:"200" doc:"Whose statement it is; the default user where left out."`
		Agent      string            `json:"agent,omitempty" maxLength:"200" doc:"Solutions and error lessons go to the agent's part of the user's scope."`
		Scope      string            `json:"scope,omitempty" doc:"Where it goes, in place of the user's scope."`
		Text       string            `json:"text" minLength:"1" maxLength:"8000" doc:"One statement that stands on its own."`
		Type       string            `json:"type" enum:"user_fact,preference,solution,error_lesson,event"`
		Subject    string            `json:"subject,omitempty" maxLength:"500"`
		Importance *float64          `json:"importance,omitempty" minimum:"0" maximum:"1" doc:"0.7 where left out."`
		Confidence *float64          `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"1 where left out."`
		Metadata   map[string]string `json:"metadata,omitempty" maxProperties:"64"`
	}
}

// Learned is what became of a statement.
type Learned struct {
	Result   string         `json:"result" enum:"created,known,refused" doc:"known: a memory says it already."`
	Memory   *store.Memory  `json:"memory,omitempty" doc:"The one that says it now."`
	Reason   string         `json:"reason,omitempty" doc:"Why it was refused: secret, instruction, hidden_text, forgotten."`
	Replaced []string       `json:"replaced" nullable:"false" doc:"The memories that hold no longer because of it."`
	Near     []store.Memory `json:"near" nullable:"false" doc:"Memories that may say the same, or may not hold beside it: a reader has to tell."`
}

type learnOutput struct {
	Status int
	Body   Learned
}

func (a *API) learnMemory(ctx context.Context, in *learnInput) (*learnOutput, error) {
	if a.cfg.Learner == nil {
		return nil, problem(http.StatusNotImplemented, "Ask the server that runs on this directory.", "nothing here compares statements")
	}
	b := &in.Body
	tenant, err := a.tenant(ctx, b.Tenant, "body.tenant")
	if err != nil {
		return nil, err
	}
	l := store.Lesson{
		Owner: store.Owner{Tenant: tenant, User: b.User, Agent: b.Agent}, Type: store.Type(b.Type), Subject: strings.TrimSpace(b.Subject),
		Importance: writtenImportance, Confidence: writtenConfidence, Metadata: b.Metadata,
	}
	if l.Scope, err = scope(b.Scope, "body.scope"); err != nil {
		return nil, err
	}
	if l.Owner.User == "" {
		l.Owner.User = a.cfg.User(ctx)
	}
	if l.Owner.User == "" && l.Scope == "" {
		return nil, wrong(http.StatusBadRequest, "body.user", "Name one, or set HINDSIGHT_DEFAULT_USER.", "is left out and there is no default user")
	}
	if l.Text, err = wordsOf(b.Text); err != nil {
		return nil, err
	}
	set(&l.Importance, b.Importance)
	set(&l.Confidence, b.Confidence)
	done, err := a.cfg.Learner.Learn(ctx, l)
	if err != nil {
		return nil, a.fail("the memory", err)
	}
	out := &learnOutput{Status: http.StatusOK, Body: Learned{
		Result: string(done.Result), Reason: done.Reason, Replaced: append([]string{}, done.Replaced...), Near: views(done.Near),
	}}
	if done.Result != store.LessonRefused {
		m := view(done.Memory)
		out.Body.Memory = &m
	}
	if done.Result == store.LessonCreated {
		out.Status = http.StatusCreated
	}
	return out, nil
}

// wordsOf is a statement without white space around it. What is hidden in it is
// left to the screens, which have a word for it.
func wordsOf(text string) (string, error) {
	text = strings.TrimSpace(text)
	if store.Fold(text) == "" {
		return "", wrong(http.StatusUnprocessableEntity, "body.text", "Write one statement in words.", "holds no letter or digit")
	}
	return text, nil
}
