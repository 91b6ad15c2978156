package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// maxWait bounds how long a close can wait for its reflection.
const maxWait = 10 * time.Minute

func (a *API) closing(api huma.API) {
	route(api, "close-session", http.MethodPost, base+"/sessions/{id}/close", "End a session and have it reflected", a.closeSession,
		also(http.StatusAccepted, "The reflection isn't done yet."))
}

type closeInput struct {
	SessionPath
	Wait string `query:"wait" maxLength:"20" doc:"How long to wait for the reflection, such as 30s; at most 10m." example:"30s"`
}

// Closed is the answer to a close: what was kept and what was thrown away, or
// that the reflection is still to come.
type Closed struct {
	State      string          `json:"state" enum:"done,running"`
	Reflection string          `json:"reflection" doc:"Its id; the last one's where nothing was new since, empty where there was none."`
	Reason     string          `json:"reason,omitempty" doc:"Why it isn't done."`
	Memories   []store.Memory  `json:"memories" nullable:"false"`
	Dropped    []store.Dropped `json:"dropped" nullable:"false"`
}

type closeOutput struct {
	Status int
	Body   Closed
}

func (a *API) closeSession(ctx context.Context, in *closeInput) (*closeOutput, error) {
	wait, err := waitTime(in.Wait, maxWait, "30s")
	if err != nil {
		return nil, err
	}
	if err := a.cfg.Closer.Settle(ctx); err != nil {
		return nil, a.fail(in.what(), err)
	}
	s, err := a.session(ctx, in.SessionPath)
	if err != nil {
		return nil, err
	}
	job, err := a.cfg.Closer.Close(ctx, s.ID)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	if job.ID == "" { // nothing is new: a close that is asked again gets the same answer
		if job, err = a.lastReflection(ctx, s.ID); err != nil {
			return nil, err
		}
	}
	if job.ID == "" {
		return &closeOutput{Status: http.StatusOK, Body: Closed{State: "done", Memories: []store.Memory{}, Dropped: []store.Dropped{}}}, nil
	}
	if wait > 0 {
		waiting, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		latest, err := a.cfg.Store.WaitJob(waiting, job.ID)
		if err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return nil, a.fail("the reflection", err)
		}
		if latest.ID != "" {
			job = latest
		}
	}
	return a.closed(ctx, job)
}

// lastReflection is the last one of a session that is done, if there is one.
func (a *API) lastReflection(ctx context.Context, session string) (store.Job, error) {
	page, err := a.cfg.Store.JobPage(ctx, store.JobFilter{State: store.Done, Session: session, Limit: 1})
	if err != nil || len(page.Jobs) == 0 {
		return store.Job{}, a.fail("the queue", err)
	}
	return page.Jobs[0], nil
}

// closed is the answer for a job as it stands.
func (a *API) closed(ctx context.Context, job store.Job) (*closeOutput, error) {
	out := &closeOutput{Status: http.StatusOK, Body: Closed{
		State: "done", Reflection: job.ID, Memories: []store.Memory{}, Dropped: []store.Dropped{},
	}}
	switch job.State {
	case store.Done:
	case store.Dead:
		return nil, problem(http.StatusBadGateway, "Mend the cause, then POST /api/v1/reflections/"+job.ID+"/retry.", "the reflection was given up: %s", job.Reason)
	default:
		out.Status, out.Body.State, out.Body.Reason = http.StatusAccepted, "running", job.Reason
		return out, nil
	}
	out.Body.Dropped = append(out.Body.Dropped, job.Dropped...)
	for _, id := range job.Kept {
		m, err := a.cfg.Store.Memory(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			continue // erased since
		}
		if err != nil {
			return nil, a.fail("memory "+id, err)
		}
		out.Body.Memories = append(out.Body.Memories, view(m))
	}
	return out, nil
}

// waitTime reads how long a call is to wait, whole minutes at most; such is an
// example.
func waitTime(given string, most time.Duration, such string) (time.Duration, error) {
	if given == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(given)
	if err != nil || d < 0 || d > most {
		return 0, wrong(http.StatusUnprocessableEntity, "query.wait", "Write a number with its unit, such as "+such+".", "%q isn't a duration from 0s to %.0fm", given, most.Minutes())
	}
	return d, nil
}
