package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

func (a *API) reflections(api huma.API) {
	route(api, "list-reflections", http.MethodGet, base+"/reflections", "List the queue", a.listReflections)
	route(api, "retry-reflection", http.MethodPost, base+"/reflections/{id}/retry", "Put a reflection that was given up back into the queue", a.retryReflection)
}

type reflectionsInput struct {
	State   string `query:"state" enum:"queued,running,waiting_for_key,done,dead" doc:"All where left out."`
	Session string `query:"session" maxLength:"64" doc:"Those of one session, by Hindsight's id."`
}

type reflectionsOutput struct {
	Body struct {
		Reflections []store.Job `json:"reflections" nullable:"false"`
	}
}

func (a *API) listReflections(ctx context.Context, in *reflectionsInput) (*reflectionsOutput, error) {
	jobs, err := a.jobs(ctx, store.JobState(in.State), in.Session)
	if err != nil {
		return nil, err
	}
	out := &reflectionsOutput{}
	out.Body.Reflections = jobs
	return out, nil
}

// jobs are those of a state and of a session, of any where it is empty. The list
// is never nil.
func (a *API) jobs(ctx context.Context, state store.JobState, session string) ([]store.Job, error) {
	all, err := a.cfg.Store.Jobs(ctx, state)
	if err != nil {
		return nil, a.fail("the queue", err)
	}
	return slices.DeleteFunc(append([]store.Job{}, all...), func(j store.Job) bool { return session != "" && j.Session != session }), nil
}

type reflectionID struct {
	ID string `path:"id" maxLength:"64"`
}

type reflectionOutput struct{ Body store.Job }

func (a *API) retryReflection(ctx context.Context, in *reflectionID) (*reflectionOutput, error) {
	job, err := a.cfg.Store.Requeue(ctx, in.ID)
	if err != nil {
		return nil, a.fail(fmt.Sprintf("reflection %q", in.ID), err)
	}
	return &reflectionOutput{Body: job}, nil
}
