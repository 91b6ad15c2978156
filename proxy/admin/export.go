package admin

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// ndjson is the media type of exports and imports: one JSON value a line.
const ndjson = "application/x-ndjson"

// exportPage is how many memories or sessions are read at a time.
const exportPage = 500

// The kinds of lines beside memories, which have none.
const (
	lineRevision = "revision"
	lineSession  = "session"
	lineError    = "error"
)

// exportLine is a line of an export that isn't a memory as it stands.
type exportLine struct {
	Kind    string        `json:"kind"`
	Memory  *store.Memory `json:"memory,omitempty"`  // of a revision
	Session *Session      `json:"session,omitempty"` // of a session
	Events  []store.Event `json:"events,omitempty"`
	Detail  string        `json:"detail,omitempty"` // of an error
}

// copying registers export and import.
func (a *API) copying(api huma.API) {
	route(api, "export", http.MethodGet, base+"/export", "Export the memories of a scope, or of all, one a line, whatever their state", a.export,
		answersLines("Each line is a memory with its evidence. With everything=true older revisions ({\"kind\":\"revision\",\"memory\":…}) and sessions ({\"kind\":\"session\",\"session\":…,\"events\":[…]}) follow. A line {\"kind\":\"error\",\"detail\":…} says that the export broke off."))
	route(api, "import", http.MethodPost, base+"/import", "Import memories, one a line", a.importLines, takesLines)
}

// answersLines describes an answer of lines.
func answersLines(description string) func(*huma.Operation) {
	return func(op *huma.Operation) {
		op.Responses["200"] = &huma.Response{
			Description: description,
			Content:     map[string]*huma.MediaType{ndjson: {Schema: &huma.Schema{Type: "string"}}},
		}
	}
}

type exportInput struct {
	Tenant     string `query:"tenant" maxLength:"200"`
	Scope      string `query:"scope" doc:"One scope with its agents' parts; all where left out."`
	Everything bool   `query:"everything" doc:"Older revisions and sessions too."`
}

// exporter writes the lines of one export.
type exporter struct {
	*API
	tenant  string
	scopes  []store.Scope // empty: all
	lines   *json.Encoder
	changed []string // ids of written memories that have older revisions
}

func (a *API) export(ctx context.Context, in *exportInput) (*huma.StreamResponse, error) {
	tenant, sc, err := a.asked(ctx, in.Tenant, in.Scope)
	if err != nil {
		return nil, err
	}
	e := &exporter{API: a, tenant: tenant}
	if sc != "" {
		if e.scopes, err = a.scopesBelow(ctx, tenant, sc); err != nil {
			return nil, err
		}
	}
	return &huma.StreamResponse{Body: func(out huma.Context) {
		out.SetHeader("Content-Type", ndjson)
		e.lines = json.NewEncoder(out.BodyWriter())
		err := e.memories(ctx)
		if err == nil && in.Everything {
			if err = e.revisions(ctx); err == nil {
				err = e.sessions(ctx, sc)
			}
		}
		if err != nil { // the status has gone out already
			a.log.Error("an export broke off", "error", err)
			_ = e.lines.Encode(exportLine{Kind: lineError, Detail: "the export broke off; Hindsight's log says why"}) // or the client is gone
		}
	}}, nil
}

// scopesBelow is a scope with the parts of it that hold something.
func (a *API) scopesBelow(ctx context.Context, tenant string, sc store.Scope) ([]store.Scope, error) {
	all, err := a.searchScopes(ctx, tenant, nil)
	out := []store.Scope{sc}
	for _, s := range all {
		if strings.HasPrefix(string(s), string(sc)+"/") {
			out = append(out, s)
		}
	}
	return out, err
}

// memories writes the memories of each state, the live ones first, and notes
// those that were something else before.
func (e *exporter) memories(ctx context.Context) error {
	scopes := e.scopes
	if len(scopes) == 0 {
		scopes = []store.Scope{""}
	}
	for _, sc := range scopes {
		for _, state := range []store.State{store.Active, store.Superseded, store.Consolidated, store.Archived, store.Quarantined} {
			f := store.MemoryFilter{Tenant: e.tenant, Scope: sc, State: state, Limit: exportPage}
			for more := true; more; more = f.Cursor != "" {
				page, next, err := e.cfg.Store.Memories(ctx, f)
				if err != nil {
					return err
				}
				for _, m := range page {
					if m.Revision > 1 {
						e.changed = append(e.changed, m.ID)
					}
					if err := e.lines.Encode(view(m)); err != nil {
						return err
					}
				}
				f.Cursor = next
			}
		}
	}
	return nil
}

// revisions writes the older forms of the memories that have some.
func (e *exporter) revisions(ctx context.Context) error {
	for _, id := range e.changed {
		past, err := e.cfg.Store.Revisions(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			continue // erased meanwhile
		}
		if err != nil {
			return err
		}
		for _, m := range past {
			shown := view(m)
			if err := e.lines.Encode(exportLine{Kind: lineRevision, Memory: &shown}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sessions writes the conversations.
func (e *exporter) sessions(ctx context.Context, sc store.Scope) error {
	f := store.SessionFilter{Tenant: e.tenant, Limit: exportPage}
	if sc != "" {
		user, own := sc.UserOf()
		if !own {
			return nil // nobody's conversation
		}
		if f.User = user; sc != store.UserScope(user) {
			f.Scope = sc
		}
	}
	for more := true; more; more = f.Cursor != "" {
		page, next, err := e.cfg.Store.Sessions(ctx, f)
		if err != nil {
			return err
		}
		for _, s := range page {
			xs, err := e.cfg.Store.Exchanges(ctx, s.Owner, s.ID, 0, 0)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			shown := sessionView(s)
			line := exportLine{Kind: lineSession, Session: &shown}
			for _, x := range xs {
				line.Events = append(line.Events, x.Events...)
			}
			if err := e.lines.Encode(line); err != nil {
				return err
			}
		}
		f.Cursor = next
	}
	return nil
}
