package main

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"hindsight/store"
)

const reflectionsPath = "/api/v1/reflections"

type reflectList struct {
	reach
	State string `placeholder:"STATE" help:"queued, running, waiting_for_key, done or dead; all where left out."`
}

// Run lists the queue.
func (c *reflectList) Run(ctx context.Context, a *app) error {
	q := url.Values{}
	put(q, "state", c.State)
	var all struct {
		Reflections []store.Job `json:"reflections"`
	}
	return a.call(ctx, c.reach, http.MethodGet, reflectionsPath, q, nil, &all, func() error {
		if len(all.Reflections) == 0 {
			return a.say("No reflections.")
		}
		rows := make([][]string, len(all.Reflections))
		for i, j := range all.Reflections {
			rows[i] = []string{j.ID, string(j.State), j.Session, when(j.Updated), strconv.Itoa(j.Attempts), strconv.Itoa(len(j.Kept)), strconv.Itoa(len(j.Dropped)), j.Reason}
		}
		return a.printTable([]string{"id", "state", "session", "changed", "tries", "kept", "dropped", "reason"}, 7, rows)
	})
}

type reflectRetry struct {
	reach
	ID string `arg:"" help:"The reflection's id."`
}

// Run puts it back into the queue.
func (c *reflectRetry) Run(ctx context.Context, a *app) error {
	path, err := idPath(reflectionsPath, c.ID)
	if err != nil {
		return err
	}
	var j store.Job
	return a.call(ctx, c.reach, http.MethodPost, path+"/retry", nil, nil, &j, func() error {
		return a.say("Queued again: %s", j.ID)
	})
}
