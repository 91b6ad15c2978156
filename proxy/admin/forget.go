package admin

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"hindsight/store"
	"hindsight/store/index"
)

type forgetMatchingInput struct {
	Body struct {
		Tenant   string    `json:"tenant,omitempty" maxLength:"200"`
		Scope    string    `json:"scope,omitempty" doc:"The default user's where left out. It is no filter: DELETE of a scope erases all of one."`
		Query    string    `json:"query,omitempty" maxLength:"2000" doc:"Every word of it stands in the memory."`
		Subject  string    `json:"subject,omitempty" maxLength:"500"`
		Session  string    `json:"session,omitempty" maxLength:"64" doc:"The session that it comes from."`
		Scenario string    `json:"scenario,omitempty" maxLength:"2000"`
		Type     string    `json:"type,omitempty" enum:"user_fact,preference,solution,error_lesson,event"`
		Layer    string    `json:"layer,omitempty" enum:"episodic,semantic,skill"`
		Since    time.Time `json:"since,omitzero" doc:"Created at or after."`
		Until    time.Time `json:"until,omitzero" doc:"Created before."`
		Erase    bool      `json:"erase,omitempty" doc:"Remove them for good instead of archiving them."`
		DryRun   bool      `json:"dry_run,omitempty" doc:"Only say which."`
	}
}

// Forgotten is the receipt of a forget by filter. Each of the memories can be
// restored, unless they were erased.
type Forgotten struct {
	DryRun   bool           `json:"dry_run"`
	Erased   bool           `json:"erased"`
	Count    int            `json:"count"`
	Memories []store.Memory `json:"memories" nullable:"false"`
	// Erasure counts all that was erased, with what is out of reach.
	Erasure *store.Receipt `json:"erasure,omitempty"`
}

type forgetMatchingOutput struct{ Body Forgotten }

func (a *API) forgetMatching(ctx context.Context, in *forgetMatchingInput) (*forgetMatchingOutput, error) {
	b := &in.Body
	f := store.MemoryFilter{
		Type: store.Type(b.Type), Layer: store.Layer(b.Layer), Subject: strings.TrimSpace(b.Subject),
		Session: strings.TrimSpace(b.Session), Scenario: strings.TrimSpace(b.Scenario), Since: b.Since, Until: b.Until,
	}
	terms := termsOf(b.Query)
	if f == (store.MemoryFilter{}) && len(terms) == 0 {
		return nil, wrong(http.StatusBadRequest, "body", "Give at least one of query, subject, session, scenario, type, layer, since and until; to forget all of a scope, erase the scope.",
			"the filter is empty, and an empty filter forgets nothing")
	}
	if strings.TrimSpace(b.Query) != "" && len(terms) == 0 {
		return nil, wrong(http.StatusUnprocessableEntity, "body.query", "Write words that stand in the memories.", "holds no word to look for")
	}
	if err := ordered(b.Since, b.Until, "body.until", "since"); err != nil {
		return nil, err
	}
	var err error
	if f.Tenant, err = a.tenant(ctx, b.Tenant, "body.tenant"); err != nil {
		return nil, err
	}
	if f.Scope, err = a.writeScope(ctx, b.Scope, "body.scope"); err != nil {
		return nil, err
	}
	found, err := a.matching(ctx, f, terms)
	if err != nil {
		return nil, err
	}
	out := &forgetMatchingOutput{Body: Forgotten{DryRun: b.DryRun, Erased: b.Erase && !b.DryRun, Memories: []store.Memory{}}}
	for _, m := range found {
		if !b.DryRun {
			kept, receipt, err := a.forget(ctx, m.ID, b.Erase)
			if errors.Is(err, store.ErrNotFound) {
				continue // it went with another
			}
			if err != nil {
				return nil, a.fail("memory "+m.ID, err)
			}
			m = kept
			out.Body.count(receipt)
		}
		out.Body.Memories = append(out.Body.Memories, view(m))
	}
	out.Body.Count = len(out.Body.Memories)
	return out, nil
}

// count adds the receipt of an erasure, if there is one.
func (f *Forgotten) count(r *store.Receipt) {
	switch {
	case r == nil:
	case f.Erasure == nil:
		r.Memory = "" // it is that of all of them
		f.Erasure = r
	default:
		f.Erasure.Add(*r)
	}
}

// matching lists what a filter finds before anything is forgotten: the active
// memories, and those that went into another that doesn't match itself.
func (a *API) matching(ctx context.Context, f store.MemoryFilter, terms []string) ([]store.Memory, error) {
	var out []store.Memory
	taken := map[string]bool{}
	for _, f.State = range []store.State{store.Active, store.Consolidated} {
		for f.Cursor = ""; ; {
			page, next, err := a.cfg.Store.Memories(ctx, f)
			if err != nil {
				return nil, a.fail("the memories", err)
			}
			for _, m := range page {
				if !holds(m, terms) || taken[m.SupersededBy] {
					continue
				}
				taken[m.ID] = true
				out = append(out, m)
			}
			if f.Cursor = next; next == "" {
				break
			}
		}
	}
	return out, nil
}

// termsOf are the words that a query looks for, stemmed; of scripts without
// spaces single characters.
func termsOf(text string) []string {
	var out []string
	for _, t := range index.Tokens(text) {
		if t.Kind != index.Bigram {
			out = append(out, t.Text)
		}
	}
	return out
}

// holds says whether every term stands in a memory's text, subject or quotes.
func holds(m store.Memory, terms []string) bool {
	if len(terms) == 0 {
		return true
	}
	text := m.Text + "\n" + m.Subject
	for _, e := range m.Evidence {
		text += "\n" + e.Quote
	}
	have := termsOf(text)
	return !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(have, t) })
}
