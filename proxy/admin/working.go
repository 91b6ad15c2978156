package admin

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"hindsight/inject"
	"hindsight/store"
	"hindsight/store/index"
)

// maxOpen is how many open sessions the working layer looks into, those
// that began last.
const maxOpen = 50

// working lists what was said in open sessions, the newest first, in the form of
// memories. It isn't kept as such and has no history: an id leads nowhere, and
// when the session ends, reflection decides what becomes a memory.
func (a *API) working(ctx context.Context, f store.MemoryFilter) ([]store.Memory, string, error) {
	after := ""
	if f.Cursor != "" {
		b, err := base64.RawURLEncoding.DecodeString(f.Cursor)
		if err != nil {
			return nil, "", store.ErrCursor
		}
		after = string(b)
	}
	all, err := a.said(ctx, f)
	if err != nil {
		return nil, "", err
	}
	place := func(m store.Memory) string { return m.CreatedAt.UTC().Format("20060102T150405.000000000") + m.ID }
	slices.SortFunc(all, func(x, y store.Memory) int { return cmp.Compare(place(y), place(x)) })
	page := slices.DeleteFunc(all, func(m store.Memory) bool { return after != "" && place(m) >= after })
	if f.Limit <= 0 || len(page) <= f.Limit {
		return page, "", nil
	}
	page = page[:f.Limit]
	return page, base64.RawURLEncoding.EncodeToString([]byte(place(page[len(page)-1]))), nil
}

// said reads the events of the open sessions that a filter selects.
func (a *API) said(ctx context.Context, f store.MemoryFilter) ([]store.Memory, error) {
	if f.Type != "" && f.Type != store.EventType || f.State != "" && f.State != store.Active || f.Subject != "" || f.Scenario != "" {
		return nil, nil
	}
	sessions, err := a.openSessions(ctx, f)
	if err != nil {
		return nil, err
	}
	var out []store.Memory
	for _, s := range sessions {
		xs, err := a.cfg.Store.Exchanges(ctx, s.Owner, s.ID, 0, 0)
		if err != nil {
			return nil, err
		}
		for _, x := range xs {
			for i, e := range x.Events {
				m := workingMemory(s, x, i, e)
				if m.Text != "" && (f.Since.IsZero() || !m.CreatedAt.Before(f.Since)) && (f.Until.IsZero() || m.CreatedAt.Before(f.Until)) {
					out = append(out, m)
				}
			}
		}
	}
	return out, nil
}

// openSessions lists the open sessions that a filter selects. One that has ended is no
// longer working memory.
func (a *API) openSessions(ctx context.Context, f store.MemoryFilter) ([]store.Session, error) {
	if f.Session != "" {
		s, err := a.session(ctx, SessionPath{ID: f.Session, Tenant: f.Tenant})
		if err != nil {
			return nil, err
		}
		if user, own := f.Scope.UserOf(); s.State != store.Open || s.Owner.Tenant != f.Tenant || f.Scope != "" && (!own || user != s.Owner.User) {
			return nil, nil
		}
		return []store.Session{s}, nil
	}
	a.settled(ctx)
	sf := store.SessionFilter{Tenant: f.Tenant, State: store.Open, Limit: maxOpen}
	if f.Scope != "" {
		user, own := f.Scope.UserOf()
		if !own {
			return nil, nil // nobody's conversation
		}
		if sf.User = user; f.Scope != store.UserScope(user) {
			sf.Scope = f.Scope
		}
	}
	sessions, _, err := a.cfg.Store.Sessions(ctx, sf)
	return sessions, err
}

// workingMemory is an event in the form of a memory.
func workingMemory(s store.Session, x store.Exchange, i int, e store.Event) store.Memory {
	by := store.ByAssistant
	switch e.Kind {
	case store.UserInput:
		by = store.ByUser
	case store.ToolCall, store.ToolResult:
		by = store.ByTool
	}
	at := e.Time
	if at.IsZero() {
		at = x.Started
	}
	m := store.Memory{
		ID: fmt.Sprintf("w.%s.%08d.%04d", s.ID, x.Seq, i), Tenant: s.Owner.Tenant, Scope: s.Owner.Scope(),
		Layer: store.Working, Type: store.EventType, State: store.Active, Text: e.Text, AttributedTo: by,
		Evidence:  []store.Evidence{{Session: s.ID, Turn: e.Turn, Time: at}},
		CreatedAt: at, UpdatedAt: at, Metadata: map[string]string{"kind": string(e.Kind)},
	}
	if e.Name != "" {
		m.Metadata["name"] = e.Name
	}
	return m
}

// searchWorking finds what was said in open sessions by the share of the
// question's words that it holds. narrow says that the request names scopes.
func (a *API) searchWorking(ctx context.Context, r inject.SearchRequest, narrow bool) ([]Hit, error) {
	if len(r.Types) > 0 && !slices.Contains(r.Types, store.EventType) {
		return []Hit{}, nil
	}
	scopes := []store.Scope{""}
	if narrow {
		scopes = r.Scopes
	}
	words := distinct(r.Query)
	hits := []Hit{}
	for _, sc := range scopes {
		found, err := a.said(ctx, store.MemoryFilter{
			Tenant: r.Tenant, Scope: sc, Session: r.Session, Subject: r.Subject, Scenario: r.Scenario, Since: r.Since, Until: r.Until,
		})
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			has := distinct(m.Text)
			n := 0
			for w := range words {
				if has[w] {
					n++
				}
			}
			if n == 0 || slices.ContainsFunc(hits, func(h Hit) bool { return h.Memory.ID == m.ID }) {
				continue
			}
			score := float64(n) / float64(len(words))
			hits = append(hits, Hit{Memory: view(m), Score: score, Parts: map[string]float64{"words": score, "final": score}})
		}
	}
	return best(hits, r.TopK), nil
}

func distinct(text string) map[string]bool {
	out := map[string]bool{}
	for _, t := range index.Tokens(text) {
		out[t.Text] = true
	}
	return out
}

// best are the first of hits by score, of equals the newest.
func best(hits []Hit, most int) []Hit {
	slices.SortStableFunc(hits, func(x, y Hit) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), y.Memory.CreatedAt.Compare(x.Memory.CreatedAt))
	})
	return hits[:min(len(hits), most)]
}

// sessionID is Hindsight's id of a session that is named in a filter. A session
// that isn't kept any more is taken by its name: memories outlive it.
func (a *API) sessionID(ctx context.Context, tenant, given string) (string, error) {
	if given == "" {
		return "", nil
	}
	if _, err := a.cfg.Store.FindSession(ctx, given); !errors.Is(err, store.ErrNotFound) {
		return given, a.fail("the session", err)
	}
	page, _, err := a.cfg.Store.Sessions(ctx, store.SessionFilter{Tenant: tenant, External: given, Limit: 2})
	switch {
	case err != nil:
		return "", a.fail("the session", err)
	case len(page) > 1:
		return "", problem(http.StatusConflict, "Use Hindsight's own id; GET /api/v1/sessions?external_id= lists them.", "session %q is the name of several", given)
	case len(page) == 1:
		return page[0].ID, nil
	}
	return given, nil
}
