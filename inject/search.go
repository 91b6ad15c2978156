package inject

import (
	"context"
	"fmt"
	"slices"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

// SearchRequest is a person's search of one tenant's memories. Zero filters
// select all.
type SearchRequest struct {
	Tenant   string
	Scopes   []store.Scope
	Query    string
	Context  []string // the turns before the query, oldest first
	Types    []store.Type
	Layers   []store.Layer
	Subject  string
	Session  string
	Scenario string
	TopK     int // 0 means 10, at most 50
	Since    time.Time
	Until    time.Time // created before
	Archived bool      // archived and no longer valid ones too
	Now      time.Time
	Zone     *time.Location
}

// Scored is one found memory: Score lies between 0 and 1, Parts are its parts
// by name (words, recency, importance, final …). Evidence contexts are left
// out of the memory.
type Scored struct {
	Memory store.Memory
	Score  float64
	Parts  map[string]float64
}

// SearchResult holds the best memories, best first. Excluded says by type how
// many of the best without filters the filters kept out.
type SearchResult struct {
	Results  []Scored
	Degraded string
	Excluded map[string]int
}

// Search is the proxy's own recall, ungated: for people, who see the scores. A
// query without words finds nothing.
func (e *Engine) Search(ctx context.Context, r SearchRequest) (SearchResult, error) {
	if r.TopK <= 0 {
		r.TopK = 10
	}
	r.TopK = min(r.TopK, index.DefaultLimit)
	q := e.query(r.Query, r.Context, r.Now, r.Zone)
	v, late := e.vector(ctx, q, personWaits)()
	ask := index.Query{Tenant: r.Tenant, Scopes: r.Scopes, Terms: q.terms, Vector: v, Share: q.share(), Now: r.Now, Archived: r.Archived}
	out := SearchResult{Results: []Scored{}, Excluded: map[string]int{}}
	if late {
		out.Degraded = degradedWords
	}
	if len(q.terms) == 0 && len(v) == 0 {
		return out, nil
	}
	ask.Keep, ask.Whole = r.keeps, r.filters()
	res, err := e.src.Search(ctx, ask)
	if err != nil {
		return out, fmt.Errorf("search: %w", err)
	}
	found := e.judged(res, ask, q, e.cfg.Gate)
	out.Degraded = worse(out.Degraded, res.Degraded)
	for _, c := range found[:min(r.TopK, len(found))] {
		out.Results = append(out.Results, Scored{Memory: *c.hit.Memory, Score: c.final, Parts: c.parts()})
	}
	if !r.filters() {
		return out, nil
	}
	whole := res.Whole
	if whole == nil {
		ask.Keep = nil
		all, err := e.src.Search(ctx, ask)
		if err != nil {
			return out, fmt.Errorf("search: %w", err)
		}
		whole = &all
	}
	all := e.judged(*whole, ask, q, e.cfg.Gate)
	for _, c := range all[:min(r.TopK, len(all))] {
		if m := c.hit.Memory; !r.keeps(m) {
			out.Excluded[string(m.Type)]++
		}
	}
	return out, nil
}

// ranked are the candidates with their gate values, and a word for what the
// search lacked.
func (e *Engine) ranked(ctx context.Context, ask index.Query, q query, strict float64) (cands []candidate, lacks string, err error) {
	res, err := e.src.Search(ctx, ask)
	if err != nil {
		return nil, "", fmt.Errorf("search: %w", err)
	}
	return e.judged(res, ask, q, strict), res.Degraded, nil
}

// judged are the candidates of a result with their gate values.
func (e *Engine) judged(res index.Result, ask index.Query, q query, strict float64) []candidate {
	cands := rank(res.Hits, e.cfg.Ranking, q, ask.Now)
	gate(newJudge(q, res, e.against(q, ask.Vector)), cands, strict)
	return cands
}

// worse is the word that says more of two: that memories come from an old copy
// outweighs how they were found in it.
func worse(a, b string) string {
	if b != "" {
		return b
	}
	return a
}

// filters says whether there is anything that a filter could keep out.
func (r *SearchRequest) filters() bool {
	return len(r.Types) > 0 || len(r.Layers) > 0 || r.Subject != "" || r.Scenario != "" || r.Session != "" || !r.Since.IsZero() || !r.Until.IsZero()
}

// keeps says whether a memory passes the request's filters.
func (r *SearchRequest) keeps(m *store.Memory) bool {
	return (len(r.Types) == 0 || slices.Contains(r.Types, m.Type)) &&
		(len(r.Layers) == 0 || slices.Contains(r.Layers, m.Layer)) &&
		(r.Subject == "" || store.Fold(m.Subject) == store.Fold(r.Subject)) &&
		(r.Scenario == "" || store.Fold(m.Scenario) == store.Fold(r.Scenario)) &&
		(r.Session == "" || slices.ContainsFunc(m.Evidence, func(ev store.Evidence) bool { return ev.Session == r.Session })) &&
		(r.Since.IsZero() || !m.CreatedAt.Before(r.Since)) &&
		(r.Until.IsZero() || m.CreatedAt.Before(r.Until))
}
