package admin

import (
	"context"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

// promotion registers the call that shares a memory.
func (a *API) promotion(api huma.API) {
	route(api, "promote-memory", http.MethodPost, base+"/memories/{id}/promote", "Bring a solution or an error lesson to a scope that others read", a.promoteMemory,
		created, also(http.StatusOK, "It is there already: the memory that holds it."))
}

type promoteInput struct {
	MemoryPath
	Body struct {
		Scope string `json:"scope" doc:"agent:<id> or shared; a grant must open it." example:"shared"`
	}
}

func (a *API) promoteMemory(ctx context.Context, in *promoteInput) (*memoryOutput, error) {
	to, err := store.ParseScope(in.Body.Scope)
	if err != nil {
		return nil, wrong(http.StatusUnprocessableEntity, "body.scope", "Correct the scope.", "%v", err)
	}
	if _, own := to.UserOf(); own {
		return nil, wrong(http.StatusUnprocessableEntity, "body.scope", "Choose shared or agent:<id>.", "is a user's own")
	}
	m, err := a.cfg.Store.Memory(ctx, in.ID)
	if err != nil {
		return nil, a.fail(in.what(), err)
	}
	if !slices.Contains(a.cfg.Shares[m.Tenant], to) {
		return nil, wrong(http.StatusConflict, "body.scope", "Add {tenant: "+m.Tenant+", scope: "+string(to)+", to: users} to grants in the configuration first.", "isn't granted to anybody in tenant %s", m.Tenant)
	}
	kept, created, err := a.cfg.Store.Promote(ctx, store.Promotion{Tenant: m.Tenant, To: to, Sources: []string{m.ID}, Person: true})
	out, err := a.one(in.what(), kept, err)
	if out != nil && created {
		out.Status = http.StatusCreated
	}
	return out, err
}
