package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"hindsight/proxy/admin"
	"hindsight/store"
)

// memoriesCmd is `hindsight memories`.
type memoriesCmd struct {
	List    memoriesList    `cmd:"" help:"List memories, newest first."`
	Show    memoriesShow    `cmd:"" help:"Show one memory with its evidence."`
	Search  memoriesSearch  `cmd:"" help:"Search as the proxy does, with every part of the score."`
	Add     memoriesAdd     `cmd:"" help:"Write a memory."`
	Edit    memoriesEdit    `cmd:"" help:"Change a memory; its history is kept."`
	Forget  memoriesForget  `cmd:"" help:"Archive memories, or erase them: by their ids, or what matches a filter."`
	Verify  memoriesVerify  `cmd:"" help:"Say that memories are still true."`
	Restore memoriesRestore `cmd:"" help:"Make memories live again, or what they said at a revision."`
	Promote memoriesPromote `cmd:"" help:"Bring a solution or an error lesson to a scope that others read."`
	History memoriesHistory `cmd:"" help:"Show every revision of a memory."`
	Stats   memoriesStats   `cmd:"" help:"Show figures: what is kept, what came of it."`
	Chain   memoriesChain   `cmd:"" help:"Show what a memory replaced and what replaced it."`
	Why     memoriesWhy     `cmd:"" help:"Say why an answer was given its memories, and why not the others."`

	Consolidate memoriesConsolidate `cmd:"" help:"Make one memory of the episodic ones of each subject."`
	Undo        memoriesUndo        `cmd:"" help:"Undo the consolidation that made a memory."`
	Sweep       memoriesSweep       `cmd:"" help:"Forget now what the daily sweep would."`
}

const memoriesPath = "/api/v1/memories"

type memoriesList struct {
	reach
	Scope    string `placeholder:"SCOPE" help:"user:<id>, user:<id>/agent:<id>, agent:<id> or shared."`
	Type     string `placeholder:"TYPE" help:"user_fact, preference, solution, error_lesson or event."`
	Layer    string `placeholder:"LAYER" help:"episodic, semantic, skill, or working: what was just said in open sessions."`
	Subject  string `placeholder:"TEXT" help:"Exactly what it is about."`
	Session  string `placeholder:"ID" help:"The session that it comes from."`
	Scenario string `placeholder:"TEXT" help:"Exactly when it matters."`
	State    string `placeholder:"STATE" help:"active (default), superseded, consolidated, archived or quarantined."`
	Since    string `placeholder:"TIME" help:"Made at or after this: 2026-01-31, 2026-01-31T08:00:00Z, or 7d, 12h ago."`
	Until    string `placeholder:"TIME" help:"Made before this."`
	Limit    int    `placeholder:"N" default:"100" help:"Most memories; 100 where left out."`
	Cursor   string `placeholder:"CURSOR" help:"Where the page before ended."`
}

// Run lists them.
func (c *memoriesList) Run(ctx context.Context, a *app) error {
	q := c.query()
	since, until, err := span(c.Since, c.Until)
	if err != nil {
		return err
	}
	for name, v := range map[string]string{
		"scope": c.Scope, "type": c.Type, "layer": c.Layer, "subject": c.Subject, "session": c.Session,
		"scenario": c.Scenario, "state": c.State, "since": since, "until": until, "cursor": c.Cursor, "limit": strconv.Itoa(c.Limit),
	} {
		put(q, name, v)
	}
	var page struct {
		Memories   []store.Memory `json:"memories"`
		NextCursor string         `json:"next_cursor"`
	}
	return a.call(ctx, c.reach, http.MethodGet, memoriesPath, q, nil, &page, func() error {
		if len(page.Memories) == 0 {
			return a.say("No memories. They are made when a session ends, or with `hindsight memories add`.")
		}
		rows := make([][]string, len(page.Memories))
		for i, m := range page.Memories {
			rows[i] = []string{m.ID, string(m.Type), m.Text, string(m.Scope), when(m.CreatedAt)}
		}
		if err := a.printTable([]string{"id", "type", "text", "scope", "made"}, 2, rows); err != nil {
			return err
		}
		return a.more(page.NextCursor)
	})
}

type memoriesShow struct {
	reach
	ID string `arg:"" help:"The memory's id."`
}

// Run shows it.
func (c *memoriesShow) Run(ctx context.Context, a *app) error {
	path, err := idPath(memoriesPath, c.ID)
	if err != nil {
		return err
	}
	var m store.Memory
	return a.call(ctx, c.reach, http.MethodGet, path, nil, nil, &m, func() error { return a.printMemory(m) })
}

// printMemory prints a memory whole.
func (a *app) printMemory(m store.Memory) error {
	pairs := [][2]string{
		{"id", m.ID}, {"text", m.Text}, {"type", string(m.Type)}, {"layer", string(m.Layer)}, {"state", string(m.State)},
		{"tenant", m.Tenant}, {"scope", string(m.Scope)}, {"subject", m.Subject}, {"scenario", m.Scenario},
		{"importance", share(m.Importance)}, {"confidence", share(m.Confidence)}, {"said by", string(m.AttributedTo)},
		{"made", when(m.CreatedAt)}, {"changed", when(m.UpdatedAt)}, {"verified", when(m.LastVerified)},
		{"last used", when(m.LastUsed)}, {"uses", strconv.Itoa(m.Uses)}, {"archived", when(m.ArchivedAt)},
		{"valid from", when(m.ValidFrom)}, {"valid to", when(m.ValidTo)}, {"superseded by", m.SupersededBy},
		{"revision", strconv.Itoa(m.Revision)}, {"changed by", changedBy(m)},
	}
	for _, id := range m.SourceIDs {
		pairs = append(pairs, [2]string{"made of", id})
	}
	return a.printFields(append(pairs, evidenceOf(m)...)...)
}

func share(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

type memoriesAdd struct {
	reach
	Text       string   `arg:"" help:"One statement that stands on its own."`
	Type       string   `required:"" placeholder:"TYPE" help:"user_fact, preference, solution, error_lesson or event."`
	Scope      string   `placeholder:"SCOPE" help:"Where it goes; the default user's scope where left out."`
	Subject    string   `placeholder:"TEXT" help:"What it is about."`
	Scenario   string   `placeholder:"TEXT" help:"When it matters."`
	Importance *float64 `placeholder:"SHARE" help:"0 to 1; 0.7 where left out."`
	Standing   bool     `help:"It holds in every conversation."`
}

// Run writes it.
func (c *memoriesAdd) Run(ctx context.Context, a *app) error {
	body := map[string]any{"text": c.Text, "type": c.Type}
	for name, v := range map[string]string{"tenant": c.Tenant, "scope": c.Scope, "subject": c.Subject, "scenario": c.Scenario} {
		if v != "" {
			body[name] = v
		}
	}
	if c.Importance != nil {
		body["importance"] = *c.Importance
	}
	if c.Standing {
		body["standing"] = true
	}
	var m store.Memory
	return a.call(ctx, c.reach, http.MethodPost, memoriesPath, nil, body, &m, func() error {
		return a.say("Kept as %s in %s.", m.ID, m.Scope)
	})
}

// each calls the same route for several memories. All ids are looked at before
// the first call, so that a slip in the last doesn't leave half of it done.
func (a *app) each(ctx context.Context, r reach, method string, ids []string, suffix string, q url.Values, done string) (err error) {
	paths := make([]string, len(ids))
	for i, id := range ids {
		path, err := idPath(memoriesPath, id)
		if err != nil {
			return err
		}
		paths[i] = path + suffix
	}
	c, err := a.client(ctx, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.close()) }()
	all := []admin.ForgottenMemory{}
	for i, path := range paths {
		var m admin.ForgottenMemory
		if _, err := c.do(ctx, method, path, q, nil, &m); err != nil {
			return err
		}
		all = append(all, m)
		if !a.json {
			if err := a.say(done, ids[i]); err != nil {
				return err
			}
			if err := a.printReceipt(m.Erasure); err != nil {
				return err
			}
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"memories": all})
	}
	return nil
}

// idPath is the path of one thing. An id that is empty (a variable that wasn't
// set in a script) must not become the path of all things.
func idPath(base, id string) (string, error) {
	if strings.TrimSpace(id) == "" {
		return "", &failure{wrong: "an id is empty", next: "Give the id; a list shows it in its first column.", code: exitUsage}
	}
	return base + "/" + url.PathEscape(id), nil
}
