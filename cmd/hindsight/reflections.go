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
	State  string `placeholder:"STATE" help:"queued, running, waiting_for_key, done or dead; all where left out."`
	Limit  int    `placeholder:"N" default:"100" help:"Most reflections; 100 where left out."`
	Cursor string `placeholder:"CURSOR" help:"Where the page before ended."`
}

// Run lists the queue.
func (c *reflectList) Run(ctx context.Context, a *app) error {
	q := url.Values{}
	put(q, "state", c.State)
	put(q, "limit", strconv.Itoa(c.Limit))
	put(q, "cursor", c.Cursor)
	var page struct {
		Reflections []store.Job `json:"reflections"`
		NextCursor  string      `json:"next_cursor"`
	}
	return a.call(ctx, c.reach, http.MethodGet, reflectionsPath, q, nil, &page, func() error {
		if len(page.Reflections) == 0 {
			return a.say("No reflections.")
		}
		rows := make([][]string, len(page.Reflections))
		for i, j := range page.Reflections {
			rows[i] = []string{j.ID, string(j.State), j.Session, when(j.Updated), strconv.Itoa(j.Attempts), strconv.Itoa(len(j.Kept)), strconv.Itoa(len(j.Dropped)), j.Reason}
		}
		if err := a.printTable([]string{"id", "state", "session", "changed", "tries", "kept", "dropped", "reason"}, 7, rows); err != nil {
			return err
		}
		return a.more(page.NextCursor)
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
