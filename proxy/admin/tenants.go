package admin

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/store"
)

func (a *API) tenants(api huma.API) {
	route(api, "list-tenants", http.MethodGet, base+"/tenants", "List tenants and what stands in their scopes", a.listTenants)
	route(api, "link-tenants", http.MethodPost, base+"/tenants/link", "Join a tenant to another, after a credential was rotated", a.linkTenants)
	route(api, "erase-scope", http.MethodDelete, base+"/tenants/{tenant}/scopes/{scope}", "Erase everything of a scope", a.eraseScope)
	route(api, "get-erasure", http.MethodGet, base+"/tenants/{tenant}/scopes/{scope}/erasure", "The receipt of the last erasure of a scope, or of that of one memory, and how far it is", a.getErasure)
}

type tenantsOutput struct {
	Body struct {
		Tenants []store.Tenant `json:"tenants" nullable:"false"`
	}
}

func (a *API) listTenants(ctx context.Context, _ *struct{}) (*tenantsOutput, error) {
	a.settled(ctx)
	all, err := a.cfg.Store.Tenants(ctx)
	if err != nil {
		return nil, a.fail("the tenants", err)
	}
	out := &tenantsOutput{}
	out.Body.Tenants = []store.Tenant{}
	for _, t := range all {
		scopes := make([]store.ScopeCount, len(t.Scopes))
		for i, s := range t.Scopes {
			if s.Memories == nil {
				s.Memories = map[store.State]int{}
			}
			scopes[i] = s
		}
		t.Scopes = scopes
		out.Body.Tenants = append(out.Body.Tenants, t)
	}
	return out, nil
}

type linkInput struct {
	Body struct {
		From string `json:"from" minLength:"1" maxLength:"200" doc:"The tenant that ends."`
		To   string `json:"to" minLength:"1" maxLength:"200" doc:"The tenant that it goes on in."`
	}
}

type linkOutput struct {
	Body struct {
		From string `json:"from"`
		To   string `json:"to"`
	}
}

func (a *API) linkTenants(ctx context.Context, in *linkInput) (*linkOutput, error) {
	if in.Body.From == in.Body.To {
		return nil, wrong(http.StatusUnprocessableEntity, "body.to", "Name two tenants; GET /api/v1/tenants lists them.", "is the same tenant as from")
	}
	what := fmt.Sprintf("tenant %q or %q", in.Body.From, in.Body.To)
	from, err := a.cfg.Store.TenantAlias(ctx, in.Body.From)
	if err != nil {
		return nil, a.fail(what, err)
	}
	to, err := a.cfg.Store.TenantAlias(ctx, in.Body.To)
	if err != nil {
		return nil, a.fail(what, err)
	}
	switch {
	case from == to: // asked for again
	case from != in.Body.From:
		return nil, wrong(http.StatusConflict, "body.from", "Link "+from+" instead.", "goes on in %s already", from)
	default:
		if err := a.cfg.Store.LinkTenants(ctx, from, to); err != nil {
			return nil, a.fail(what, err)
		}
	}
	out := &linkOutput{}
	out.Body.From, out.Body.To = in.Body.From, to
	return out, nil
}

// ScopePath names a scope of a tenant.
type ScopePath struct {
	Tenant string `path:"tenant" maxLength:"200"`
	Scope  string `path:"scope" doc:"Percent-encoded as a part of a path: user:alice%2Fagent:coder." example:"user:alice"`
}

type eraseOutput struct{ Body store.Receipt }

type erasureInput struct {
	ScopePath
	Memory string `query:"memory" maxLength:"200" doc:"The id of a memory of the scope: the receipt of its erasure."`
}

func (a *API) eraseScope(ctx context.Context, in *ScopePath) (*eraseOutput, error) {
	return a.erasure(ctx, in, "", a.cfg.Store.EraseScope)
}

func (a *API) getErasure(ctx context.Context, in *erasureInput) (*eraseOutput, error) {
	what := ""
	if in.Memory != "" {
		what = fmt.Sprintf("the erasure of memory %q in ", in.Memory)
	}
	return a.erasure(ctx, &in.ScopePath, what, func(ctx context.Context, tenant string, sc store.Scope) (store.Receipt, error) {
		return a.cfg.Store.Erasure(ctx, tenant, sc, in.Memory)
	})
}

func (a *API) erasure(ctx context.Context, in *ScopePath, what string, of func(context.Context, string, store.Scope) (store.Receipt, error)) (*eraseOutput, error) {
	sc, err := scope(in.Scope, "path.scope")
	if err != nil {
		return nil, err
	}
	tenant, err := a.tenant(ctx, in.Tenant, "path.tenant")
	if err != nil {
		return nil, err
	}
	receipt, err := of(ctx, tenant, sc)
	if err != nil {
		return nil, a.fail(fmt.Sprintf("%sscope %q of tenant %q", what, sc, tenant), err)
	}
	return &eraseOutput{Body: receipt}, nil
}
