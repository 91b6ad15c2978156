package main

import (
	"context"
	"net/http"

	"hindsight/inject"
	"hindsight/proxy/admin"
	"hindsight/store"
	"hindsight/store/fleet"
)

// headerDegraded says of an answer of the management API that it may lack what
// other sidecars have written.
const headerDegraded = "Hindsight-Degraded"

// manages is the management API's store: where sidecars share a memory, it sees
// what all of them have.
func (s *shared) manages(m managed) admin.Store {
	if s == nil {
		return m
	}
	return everybodys{m, s}
}

// searches is the same for searching.
func (s *shared) searches(here admin.Searcher) admin.Searcher {
	if s == nil {
		return here
	}
	return askedAnew{here, s.fleet}
}

// tells marks answers that come from an old copy.
func (s *shared) tells(h http.Handler) http.Handler {
	if s == nil {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lacks := new(lack)
		h.ServeHTTP(&telling{ResponseWriter: w, lacks: lacks}, r.WithContext(context.WithValue(r.Context(), lackKey{}, lacks)))
	})
}

// lack says whether an answer lacks something. One goroutine, that of the
// request, uses it.
type lack struct{ is bool }

type lackKey struct{}

// telling puts the header in front of the answer.
type telling struct {
	http.ResponseWriter
	lacks *lack
}

// WriteHeader implements http.ResponseWriter.
func (t *telling) WriteHeader(status int) {
	if t.lacks.is {
		t.Header().Set(headerDegraded, fleet.Cache)
	}
	t.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (t *telling) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// everybodys refreshes what a call looks at before it does.
type everybodys struct {
	managed
	shared *shared
}

var _ admin.Store = everybodys{}

func (e everybodys) refresh(ctx context.Context, tenant string, scopes ...store.Scope) {
	fresh := e.shared.fleet.Refresh(ctx, tenant, scopes...)
	if l, ok := ctx.Value(lackKey{}).(*lack); ok && !fresh {
		l.is = true
	}
}

// State implements admin.Store.
func (e everybodys) State() (on bool, reason string) {
	if reason := e.shared.foreign(); reason != "" {
		return false, reason
	}
	return e.managed.State()
}

// near brings a memory here as the fleet has it. Whose it is isn't known where it
// isn't here: then every tenant is looked at.
func (e everybodys) near(ctx context.Context, id string) {
	if m, err := e.managed.Memory(ctx, id); err == nil {
		e.refresh(ctx, m.Tenant, m.Scope)
		return
	}
	tenants, err := e.Tenants(ctx)
	if err != nil {
		return // the call itself says so
	}
	for _, t := range tenants {
		e.refresh(ctx, t.ID)
		if _, err := e.managed.Memory(ctx, id); err == nil {
			return
		}
	}
}

// Memories implements admin.Memories.
func (e everybodys) Memories(ctx context.Context, f store.MemoryFilter) ([]store.Memory, string, error) {
	var scopes []store.Scope
	if f.Scope != "" {
		scopes = []store.Scope{f.Scope}
	}
	if f.Cursor == "" { // the pages of one listing show one state
		e.refresh(ctx, f.Tenant, scopes...)
	}
	return e.managed.Memories(ctx, f)
}

// Memory implements admin.Memories.
func (e everybodys) Memory(ctx context.Context, id string) (store.Memory, error) {
	e.near(ctx, id)
	return e.managed.Memory(ctx, id)
}

// PutMemory implements admin.Memories: what another sidecar has the same words
// of isn't written twice.
func (e everybodys) PutMemory(ctx context.Context, m store.Memory) (store.Memory, bool, error) {
	e.refresh(ctx, m.Tenant, m.Scope)
	return e.managed.PutMemory(ctx, m)
}

// EditMemory implements admin.Memories.
func (e everybodys) EditMemory(ctx context.Context, id string, edit func(*store.Memory) error) (store.Memory, error) {
	e.near(ctx, id)
	return e.managed.EditMemory(ctx, id, edit)
}

// ForgetMemory implements admin.Archive.
func (e everybodys) ForgetMemory(ctx context.Context, id string) (store.Memory, error) {
	e.near(ctx, id)
	return e.managed.ForgetMemory(ctx, id)
}

// EraseMemory implements admin.Archive.
func (e everybodys) EraseMemory(ctx context.Context, id string) (store.Receipt, error) {
	e.near(ctx, id)
	return e.managed.EraseMemory(ctx, id)
}

// RestoreMemory implements admin.Archive.
func (e everybodys) RestoreMemory(ctx context.Context, id string, revision int) (store.Memory, error) {
	e.near(ctx, id)
	return e.managed.RestoreMemory(ctx, id, revision)
}

// EraseScope implements admin.Archive. What the receipt counts is what all
// sidecars together had.
func (e everybodys) EraseScope(ctx context.Context, tenant string, sc store.Scope) (store.Receipt, error) {
	e.refresh(ctx, tenant, sc)
	return e.managed.EraseScope(ctx, tenant, sc)
}

// LinkTenants implements admin.Tenants. What others have erased of the two is erased
// here first: moved to another name it would come back. While they can't be asked,
// nothing is linked.
func (e everybodys) LinkTenants(ctx context.Context, from, to string) error {
	for _, tenant := range []string{from, to} {
		if err := e.shared.fleet.LearnErased(ctx, tenant); err != nil {
			return &store.Off{Reason: "tenants can't be linked now: " + err.Error()}
		}
	}
	return e.managed.LinkTenants(ctx, from, to)
}

// Figures implements admin.Counter.
func (e everybodys) Figures(ctx context.Context, tenant string) (store.Figures, error) {
	e.refresh(ctx, tenant)
	return e.managed.Figures(ctx, tenant)
}

// askedAnew refreshes what is searched.
type askedAnew struct {
	admin.Searcher
	fleet *fleet.Fleet
}

// Search implements admin.Searcher.
func (a askedAnew) Search(ctx context.Context, r inject.SearchRequest) (inject.SearchResult, error) {
	fresh := a.fleet.Refresh(ctx, r.Tenant, r.Scopes...)
	out, err := a.Searcher.Search(ctx, r)
	if err == nil && !fresh && out.Degraded == "" {
		out.Degraded = fleet.Cache
	}
	return out, err
}
