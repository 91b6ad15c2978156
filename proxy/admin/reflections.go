package admin

import (
	"context"
	"fmt"
	"net/http"

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
	Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
	Cursor  string `query:"cursor" maxLength:"1000"`
}

type reflectionsOutput struct {
	Body struct {
		Reflections []store.Job            `json:"reflections" nullable:"false"`
		Counts      map[store.JobState]int `json:"counts" nullable:"false" doc:"How many there are in each state, of that session where one is named."`
		NextCursor  string                 `json:"next_cursor"`
	}
}

func (a *API) listReflections(ctx context.Context, in *reflectionsInput) (*reflectionsOutput, error) {
	page, err := a.cfg.Store.JobPage(ctx, store.JobFilter{State: store.JobState(in.State), Session: in.Session, Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, a.fail("the page", err)
	}
	out := &reflectionsOutput{}
	out.Body.Reflections, out.Body.Counts, out.Body.NextCursor = page.Jobs, page.Counts, page.Next
	return out, nil
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
