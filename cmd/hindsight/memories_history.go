package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"hindsight/proxy/admin"
	"hindsight/store"
)

type memoriesRestore struct {
	reach
	IDs      []string `arg:"" name:"id" help:"The memories' ids."`
	Revision int      `placeholder:"N" help:"Say again what the memory said at this revision (see history)."`
}

// Run restores them. One that was replaced takes its successor's place again.
func (c *memoriesRestore) Run(ctx context.Context, a *app) error {
	q := url.Values{}
	if c.Revision != 0 {
		if len(c.IDs) > 1 {
			return &failure{wrong: "--revision is of one memory and there are several ids", next: "Restore them one by one.", code: exitUsage}
		}
		q.Set("revision", strconv.Itoa(c.Revision))
	}
	return a.each(ctx, c.reach, http.MethodPost, c.IDs, "/restore", q, "Restored: %s")
}

type memoriesHistory struct {
	reach
	ID string `arg:"" help:"The memory's id."`
}

// Run shows the revisions, the present one first.
func (c *memoriesHistory) Run(ctx context.Context, a *app) error {
	return a.past(ctx, c.reach, c.ID, func(h admin.History) error {
		rows := make([][]string, len(h.Revisions))
		for i, m := range h.Revisions {
			rows[i] = []string{strconv.Itoa(m.Revision), when(m.UpdatedAt), changedBy(m), string(m.State), m.Text, strconv.Itoa(len(m.Evidence))}
		}
		if err := a.printTable([]string{"revision", "from", "by", "state", "text", "evidence"}, 4, rows); err != nil {
			return err
		}
		if len(h.Chain) > 1 {
			return a.say("It is one of a chain of %d: hindsight memories chain %s", len(h.Chain), c.ID)
		}
		return nil
	})
}

type memoriesChain struct {
	reach
	ID string `arg:"" help:"The id of any memory of the chain."`
}

// Run shows the chain with its evidence, in the order in which it was said.
func (c *memoriesChain) Run(ctx context.Context, a *app) error {
	return a.past(ctx, c.reach, c.ID, func(h admin.History) error {
		for i, m := range h.Chain {
			if i > 0 {
				if err := a.say(""); err != nil {
					return err
				}
			}
			pairs := [][2]string{{"id", m.ID}, {"text", m.Text}, {"scope", string(m.Scope)}, {"state", string(m.State)}, {"replaced by", m.SupersededBy}, {"valid to", when(m.ValidTo)}}
			for _, id := range m.SourceIDs {
				pairs = append(pairs, [2]string{"made of", id})
			}
			if err := a.printFields(append(pairs, evidenceOf(m)...)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// past fetches a memory's history and prints it.
func (a *app) past(ctx context.Context, r reach, id string, human func(admin.History) error) error {
	path, err := idPath(memoriesPath, id)
	if err != nil {
		return err
	}
	var h admin.History
	return a.call(ctx, r, http.MethodGet, path+"/history", nil, nil, &h, func() error { return human(h) })
}

// changedBy says what made a memory's revision.
func changedBy(m store.Memory) string {
	if m.Change.Session != "" {
		return fmt.Sprintf("%s (session %s)", m.Change.By, m.Change.Session)
	}
	return string(m.Change.By)
}

// evidenceOf are the words that a memory rests on, with their place and time.
func evidenceOf(m store.Memory) [][2]string {
	var pairs [][2]string
	for _, e := range m.Evidence {
		where := fmt.Sprintf("“%s” (session %s, turn %d", e.Quote, e.Session, e.Turn)
		if !e.Time.IsZero() {
			where += ", " + when(e.Time)
		}
		pairs = append(pairs, [2]string{"evidence", where + ")"})
	}
	return pairs
}
