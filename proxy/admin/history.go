package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// history registers the calls on a memory's past.
func (a *API) history(api huma.API) {
	route(api, "memory-history", http.MethodGet, base+"/memories/{id}/history", "Every revision of a memory, and what replaced what", a.memoryHistory)
	route(api, "restore-memory", http.MethodPost, base+"/memories/{id}/restore", "Make a memory live again, or say again what it said at a revision", a.restoreMemory)
}

// History is a memory's past. Chain holds the memory too.
type History struct {
	Revisions []store.Memory `json:"revisions" nullable:"false" doc:"Every form that it had, the present one first; change says what made it."`
	Chain     []store.Memory `json:"chain" nullable:"false" doc:"What it replaced, what replaced it, what it was made of: in the order in which they were said."`
}

type historyOutput struct{ Body History }

func (a *API) memoryHistory(ctx context.Context, in *MemoryPath) (*historyOutput, error) {
	now, err := a.cfg.Store.Memory(ctx, in.ID)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	older, err := a.cfg.Store.Revisions(ctx, in.ID)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	chain, err := a.cfg.Store.Chain(ctx, in.ID)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	return &historyOutput{History{Revisions: views(append([]store.Memory{now}, older...)), Chain: views(chain)}}, nil
}

type restoreInput struct {
	MemoryPath
	Revision int `query:"revision" minimum:"1" doc:"What it said then, as a new revision. Left out: as it stands."`
}

func (a *API) restoreMemory(ctx context.Context, in *restoreInput) (*memoryOutput, error) {
	m, err := a.cfg.Store.RestoreMemory(ctx, in.ID, in.Revision)
	return a.one(in.what(), m, err)
}
