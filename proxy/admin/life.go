package admin

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// life registers the calls on what becomes of memories: several become one, old
// ones are forgotten.
func (a *API) life(api huma.API) {
	route(api, "consolidate-memories", http.MethodPost, base+"/memories/consolidate", "Make one memory of the episodic ones of each subject", a.consolidate)
	route(api, "undo-consolidation", http.MethodPost, base+"/memories/{id}/undo", "Undo the consolidation that made a memory: its sources come back, it is archived", a.undoConsolidation)
	route(api, "sweep-memories", http.MethodPost, base+"/memories/sweep", "Forget now what the daily sweep would", a.sweep)
	route(api, "forget-memories", http.MethodPost, base+"/memories/forget", "Forget what matches a filter", a.forgetMatching)
}

func noLife() error {
	return problem(http.StatusNotImplemented, "Ask the server that runs on this directory.", "nothing here consolidates or sweeps")
}

type consolidateInput struct {
	Body struct {
		Tenant  string `json:"tenant,omitempty" maxLength:"200"`
		Scope   string `json:"scope,omitempty" doc:"All of the tenant's where left out."`
		Subject string `json:"subject,omitempty" maxLength:"500" doc:"All that have two episodic memories or more where left out."`
		DryRun  bool   `json:"dry_run,omitempty" doc:"Only say which would become one. No model is asked."`
	}
}

type consolidateOutput struct {
	Body struct {
		DryRun bool          `json:"dry_run"`
		Merged []store.Merge `json:"merged" nullable:"false" doc:"One for each subject: memory is what was made, reason why nothing was."`
	}
}

func (a *API) consolidate(ctx context.Context, in *consolidateInput) (*consolidateOutput, error) {
	if a.cfg.Life == nil {
		return nil, noLife()
	}
	tenant, err := a.tenant(ctx, in.Body.Tenant, "body.tenant")
	if err != nil {
		return nil, err
	}
	sc, err := scope(in.Body.Scope, "body.scope")
	if err != nil {
		return nil, err
	}
	merged, err := a.cfg.Life.Consolidate(ctx, tenant, sc, in.Body.Subject, in.Body.DryRun)
	if err != nil {
		return nil, a.fail("the consolidation", err)
	}
	out := &consolidateOutput{}
	out.Body.DryRun, out.Body.Merged = in.Body.DryRun, append([]store.Merge{}, merged...)
	for i := range out.Body.Merged {
		if m := out.Body.Merged[i].Memory; m != nil {
			shown := view(*m)
			out.Body.Merged[i].Memory = &shown
		}
	}
	return out, nil
}

type undoOutput struct {
	Body struct {
		Memory  store.Memory   `json:"memory" doc:"What the consolidation made, archived now."`
		Sources []store.Memory `json:"sources" nullable:"false" doc:"Its sources, active again."`
	}
}

func (a *API) undoConsolidation(ctx context.Context, in *MemoryPath) (*undoOutput, error) {
	m, sources, err := a.cfg.Store.UndoConsolidation(ctx, in.ID)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	out := &undoOutput{}
	out.Body.Memory, out.Body.Sources = view(m), views(sources)
	return out, nil
}

type sweepInput struct {
	Body struct {
		Tenant string `json:"tenant,omitempty" maxLength:"200"`
		DryRun bool   `json:"dry_run,omitempty" doc:"Only say what would go, and why."`
	}
}

type sweepOutput struct{ Body store.SweepReport }

func (a *API) sweep(ctx context.Context, in *sweepInput) (*sweepOutput, error) {
	if a.cfg.Life == nil {
		return nil, noLife()
	}
	tenant, err := a.tenant(ctx, in.Body.Tenant, "body.tenant")
	if err != nil {
		return nil, err
	}
	report, err := a.cfg.Life.Sweep(ctx, tenant, in.Body.DryRun)
	if err != nil {
		return nil, a.fail("the sweep", err)
	}
	return &sweepOutput{Body: report}, nil
}
