package admin

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hindsight/inject"
	"hindsight/store"
)

// Searcher is the proxy's own recall, ungated.
type Searcher interface {
	Search(ctx context.Context, r inject.SearchRequest) (inject.SearchResult, error)
}

func (a *API) search(api huma.API) {
	route(api, "search-memories", http.MethodPost, base+"/memories/search", "Search as the proxy does, with every part of the score", a.searchMemories)
}

type searchInput struct {
	Body struct {
		Query    string    `json:"query" minLength:"1" maxLength:"8000" doc:"What to look for, in the words of the question."`
		Tenant   string    `json:"tenant,omitempty" maxLength:"200"`
		Scopes   []string  `json:"scopes,omitempty" minItems:"1" maxItems:"100" nullable:"false" doc:"All of the tenant where left out."`
		Types    []string  `json:"types,omitempty" minItems:"1" nullable:"false" enum:"user_fact,preference,solution,error_lesson,event"`
		Layers   []string  `json:"layers,omitempty" minItems:"1" nullable:"false" enum:"working,episodic,semantic,skill" doc:"working, where it is named: what was just said in open sessions."`
		Subject  string    `json:"subject,omitempty" maxLength:"500"`
		Session  string    `json:"session,omitempty" maxLength:"1000" doc:"Hindsight's id or the client's own."`
		Scenario string    `json:"scenario,omitempty" maxLength:"2000"`
		TopK     int       `json:"top_k,omitempty" minimum:"1" maximum:"50" default:"10"`
		Since    time.Time `json:"since,omitzero" doc:"Created at or after."`
		Until    time.Time `json:"until,omitzero" doc:"Created before."`
		Archived bool      `json:"include_archived,omitempty" doc:"Archived memories too, and those no longer valid."`
	}
}

// Found is the answer to a search.
type Found struct {
	Results          []Hit          `json:"results" nullable:"false"`
	Degraded         string         `json:"degraded" doc:"words or cache, where recall had to do with less."`
	ExcludedByFilter map[string]int `json:"excluded_by_filter" doc:"How many memories of each type the filters kept out."`
}

// Hit is one memory that was found. Parts are those of the score: vector, words,
// recency, importance, final.
type Hit struct {
	Memory store.Memory       `json:"memory"`
	Score  float64            `json:"score"`
	Parts  map[string]float64 `json:"parts"`
}

type searchOutput struct{ Body Found }

func (a *API) searchMemories(ctx context.Context, in *searchInput) (*searchOutput, error) {
	if a.cfg.Searcher == nil {
		return nil, problem(http.StatusNotImplemented, "Ask the running server.", "this process doesn't search")
	}
	b := &in.Body
	tenant, err := a.tenant(ctx, b.Tenant, "body.tenant")
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(b.Query) == "" {
		return nil, wrong(http.StatusUnprocessableEntity, "body.query", "Write what to look for.", "holds nothing but white space")
	}
	if err := ordered(b.Since, b.Until, "body.until", "since"); err != nil {
		return nil, err
	}
	scopes, err := a.searchScopes(ctx, tenant, b.Scopes)
	if err != nil {
		return nil, err
	}
	r := inject.SearchRequest{
		Tenant: tenant, Scopes: scopes, Query: b.Query, Types: kinds[store.Type](b.Types), Layers: kinds[store.Layer](b.Layers),
		Subject: b.Subject, Session: b.Session, Scenario: b.Scenario, TopK: b.TopK,
		Since: b.Since, Until: b.Until, Archived: b.Archived, Now: a.cfg.Now(), Zone: a.cfg.Zone,
	}
	out := &searchOutput{Body: Found{Results: []Hit{}, ExcludedByFilter: map[string]int{}}}
	stored := slices.DeleteFunc(slices.Clone(r.Layers), func(l store.Layer) bool { return l == store.Working })
	if len(stored) < len(r.Layers) {
		if out.Body.Results, err = a.searchWorking(ctx, r, len(b.Scopes) > 0); err != nil {
			return nil, a.fail("the search", err)
		}
		if len(stored) == 0 {
			return out, nil
		}
	}
	r.Layers = stored
	if r.Session, err = a.sessionID(ctx, tenant, b.Session); err != nil {
		return nil, err
	}
	found, err := a.cfg.Searcher.Search(ctx, r)
	if err != nil {
		return nil, a.fail("the search", err)
	}
	out.Body.Degraded = found.Degraded
	for _, r := range found.Results {
		out.Body.Results = append(out.Body.Results, Hit{Memory: view(r.Memory), Score: r.Score, Parts: r.Parts})
	}
	if len(stored) < len(b.Layers) {
		out.Body.Results = best(out.Body.Results, b.TopK)
	}
	if found.Excluded != nil {
		out.Body.ExcludedByFilter = found.Excluded
	}
	return out, nil
}

// searchScopes are the given scopes, or all that the tenant has.
func (a *API) searchScopes(ctx context.Context, tenant string, given []string) ([]store.Scope, error) {
	var scopes []store.Scope
	for i, g := range given {
		sc, err := store.ParseScope(g)
		if err != nil {
			return nil, wrong(http.StatusUnprocessableEntity, fmt.Sprintf("body.scopes[%d]", i), "Correct the scope.", "%v", err)
		}
		scopes = append(scopes, sc)
	}
	if len(given) > 0 {
		return scopes, nil
	}
	scopes, err := a.cfg.Store.Scopes(ctx, tenant)
	return scopes, a.fail("the scopes", err)
}

func kinds[T ~string](names []string) []T {
	out := make([]T, len(names))
	for i, n := range names {
		out[i] = T(n)
	}
	return out
}
