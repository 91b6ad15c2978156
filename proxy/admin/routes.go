package admin

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"hindsight/store"
)

// base is the path of the API's first version.
const base = "/api/v1"

// build registers every route and wraps them with what holds for all.
func (a *API) build() http.Handler {
	mux := http.NewServeMux()
	cfg := huma.DefaultConfig("Hindsight management API", a.cfg.Version)
	cfg.CreateHooks = nil // no $schema fields in answers
	cfg.DocsPath, cfg.SchemasPath = "", ""
	cfg.Formats = map[string]huma.Format{"application/json": huma.DefaultJSONFormat, "json": huma.DefaultJSONFormat}
	cfg.RejectUnknownQueryParameters = true // a misspelt filter must not list everything
	cfg.Transformers = []huma.Transformer{asProblem}
	cfg.Info.Description = "Memories, sessions and reflections of a Hindsight. Every call but the health ones needs the bearer token."
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	cfg.Security = []map[string][]string{{"token": {}}}
	api := humago.New(mux, cfg)

	a.health(api)
	a.memories(api)
	a.history(api)
	a.life(api)
	a.promotion(api)
	a.stats(api)
	a.search(api)
	a.sessions(api)
	a.events(api)
	a.closing(api)
	a.preview(api)
	a.reflections(api)
	a.tenants(api)
	a.embedding(api)
	a.links(api)
	a.settings(api)
	a.copying(api)
	a.backups(api)
	a.learning(api)
	a.changes(api)
	if a.cfg.Gatherer != nil {
		mux.Handle("GET /metrics", Metrics(a.cfg.Gatherer))
	}
	if a.cfg.MCP != nil {
		mux.Handle(mcpPath, a.cfg.MCP)
		mux.Handle(mcpPath+"/", a.cfg.MCP)
	}
	return a.whileOn(known(mux, literal(api.OpenAPI())))
}

// literal are the methods of each path without a parameter. Beside a path with
// one in the same place, the mux would take what is written there for a value.
func literal(doc *huma.OpenAPI) map[string][]string {
	out := map[string][]string{}
	for path, item := range doc.Paths {
		if strings.Contains(path, "{") {
			continue
		}
		for method, op := range map[string]*huma.Operation{
			http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPatch: item.Patch, http.MethodPut: item.Put, http.MethodDelete: item.Delete,
		} {
			if op != nil {
				out[path] = append(out[path], method)
			}
		}
		if item.Get != nil {
			out[path] = append(out[path], http.MethodHead)
		}
		slices.Sort(out[path])
	}
	return out
}

// Metrics serves metrics for scrapers, without a token.
func Metrics(g prometheus.Gatherer) http.Handler {
	return promhttp.HandlerFor(g, promhttp.HandlerOpts{})
}

// route registers one operation with its problem documents.
func route[I, O any](api huma.API, id, method, path, summary string, handler func(context.Context, *I) (*O, error), more ...func(*huma.Operation)) {
	op := huma.Operation{
		OperationID: id, Method: method, Path: path, Summary: summary,
		Responses: map[string]*huma.Response{"default": {
			Description: "A problem: what is wrong and what to do.",
			Content: map[string]*huma.MediaType{"application/problem+json": {
				Schema: huma.SchemaFromType(api.OpenAPI().Components.Schemas, problemType()),
			}},
		}},
	}
	for _, m := range more {
		m(&op)
	}
	huma.Register(api, op, handler)
	usual := op.Responses[strconv.Itoa(max(op.DefaultStatus, http.StatusOK))]
	for _, r := range op.Responses {
		if r.Content == nil && usual != nil {
			r.Content = usual.Content
		}
	}
}

// also documents a further status of an operation, with the body of the usual
// one.
func also(status int, description string) func(*huma.Operation) {
	return func(op *huma.Operation) {
		op.Responses[strconv.Itoa(status)] = &huma.Response{Description: description}
	}
}

// open marks an operation that needs no token.
func open(op *huma.Operation) { op.Security = []map[string][]string{{}} }

// whileOn answers for the store while it can't be used.
func (a *API) whileOn(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, base+"/") {
			if on, reason := a.cfg.Store.State(); !on {
				offProblem(reason).write(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// known answers with a problem where the mux has no handler, and where a path
// that is one of literal is called by another method.
func known(mux *http.ServeMux, literal map[string][]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if methods, ok := literal[r.URL.Path]; ok && !slices.Contains(methods, r.Method) {
			notAllowed(w, r, strings.Join(methods, ", "))
			return
		}
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		probe := headerOnly{header: http.Header{}}
		h.ServeHTTP(&probe, r)
		if allow := probe.header.Get("Allow"); allow != "" {
			notAllowed(w, r, allow)
			return
		}
		problem(http.StatusNotFound, "GET /openapi.json lists the paths.", "there is nothing at %s", r.URL.Path).write(w)
	})
}

func notAllowed(w http.ResponseWriter, r *http.Request, allow string) {
	w.Header().Set("Allow", allow)
	problem(http.StatusMethodNotAllowed, "Use "+allow+".", "%s isn't possible on %s", r.Method, r.URL.Path).write(w)
}

// headerOnly takes a handler's headers and drops the rest.
type headerOnly struct{ header http.Header }

func (h *headerOnly) Header() http.Header         { return h.header }
func (h *headerOnly) Write(b []byte) (int, error) { return len(b), nil }
func (h *headerOnly) WriteHeader(int)             {}

// tenant fills in the tenant: as given, else the configured one, else the only
// one there is. field is where it was left out.
func (a *API) tenant(ctx context.Context, given, field string) (string, error) {
	if given == "" {
		given = a.cfg.Tenant
	}
	if len(given) > store.MaxID || strings.ContainsFunc(given, unicode.IsControl) {
		return "", wrong(http.StatusUnprocessableEntity, field, "Name one of GET /api/v1/tenants.", "isn't a name of 1 to %d bytes without control characters", store.MaxID)
	}
	if given != "" {
		alias, err := a.cfg.Store.TenantAlias(ctx, given)
		return alias, a.fail("tenant "+given, err)
	}
	all, err := a.cfg.Store.TenantNames(ctx)
	if err != nil {
		return "", a.fail("the tenants", err)
	}
	if len(all) == 1 {
		return all[0], nil
	}
	if len(all) == 0 {
		return "", wrong(http.StatusBadRequest, field, "Name the tenant that it is for, or set HINDSIGHT_TENANT.", "is left out, and nothing is kept of any tenant yet")
	}
	return "", wrong(http.StatusBadRequest, field, "Name one of GET /api/v1/tenants, or set HINDSIGHT_TENANT.", "is left out and there are %d tenants", len(all))
}

// scope checks a scope's form; empty stays empty.
func scope(given, field string) (store.Scope, error) {
	if given == "" {
		return "", nil
	}
	s, err := store.ParseScope(given)
	if err != nil {
		return "", wrong(http.StatusUnprocessableEntity, field, "Correct the scope.", "%v", err)
	}
	return s, nil
}

// asked are the tenant and the scope of a query.
func (a *API) asked(ctx context.Context, tenant, sc string) (string, store.Scope, error) {
	t, err := a.tenant(ctx, tenant, "query.tenant")
	if err != nil {
		return "", "", err
	}
	s, err := scope(sc, "query.scope")
	return t, s, err
}

// writeScope fills in the scope of a write: as given, else the default user's.
func (a *API) writeScope(ctx context.Context, given, field string) (store.Scope, error) {
	if given != "" {
		return scope(given, field)
	}
	if user := a.cfg.User(ctx); user != "" {
		return store.UserScope(user), nil
	}
	return "", wrong(http.StatusBadRequest, field, "Name one, such as user:alice, or set HINDSIGHT_DEFAULT_USER.", "is left out and there is no default user")
}
