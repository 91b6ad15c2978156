// Package recall measures what the product finds, on data that isn't part of
// it. [Load] reads data sets, [Import] writes their units as memories through
// the store's own write path (each corpus a scope, session and turn as
// evidence), and [Measure] asks their questions twice: once through the search
// that people have, which ranks and keeps nothing out, and once through the
// plan that the proxy makes for a request, gate, duplicates and budgets
// included. [Tune] asks at several settings of the gate and proposes one.
//
// Nothing in package inject or in the index knows of a data set: all that is
// particular to one is here.
package recall

import (
	"context"
	"fmt"
	"time"

	"hindsight/inject"
	"hindsight/store"
)

// Engine is the product's recall.
type Engine interface {
	Plan(ctx context.Context, c inject.Conversation) inject.Plan
	Search(ctx context.Context, r inject.SearchRequest) (inject.SearchResult, error)
}

// Writer is the product's store.
type Writer interface {
	PutMemories(ctx context.Context, ms []store.Memory) ([]store.Memory, error)
}

// tenant holds all corpora.
const tenant = "eval"

// depth is how many results a ranking shows, and first how many of them count
// as found when the gate is judged.
const (
	depth = 50
	first = 5
)

// answer is what became of one question.
type answer struct {
	q     *Question
	ranks []int // by relevant unit: its place among the results, from 1; 0: not there
	shown bool  // the gate let something through
	took  time.Duration
	words bool // the vectors were missing
}

// ask asks every question of the set. gated: as the proxy does for a request of
// its own; else as a person's search. Each corpus is searched once before, so
// that no question pays for loading it.
func (im *Imported) ask(ctx context.Context, e Engine, gated bool) ([]answer, error) {
	var out []answer
	for _, c := range im.set.Corpora {
		if len(c.Questions) == 0 {
			continue
		}
		if _, err := e.Search(ctx, im.request(c, &c.Questions[0])); err != nil {
			return nil, fmt.Errorf("load corpus %s: %w", c.Name, err)
		}
		for i := range c.Questions {
			q := &c.Questions[i]
			a := answer{q: q, ranks: make([]int, len(q.Relevant))}
			ids, err := im.found(ctx, e, c, q, &a, gated)
			if err != nil {
				return nil, fmt.Errorf("ask %q: %w", q.Text, err)
			}
			a.shown = len(ids) > 0
			place := make(map[string]int, len(ids))
			for n, id := range ids {
				place[id] = n + 1
			}
			for n, unit := range q.Relevant {
				a.ranks[n] = place[im.memory[key{c.Name, unit}]]
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// found lists the memories that one question brings up, the best first.
func (im *Imported) found(ctx context.Context, e Engine, c Corpus, q *Question, a *answer, gated bool) ([]string, error) {
	start := time.Now()
	var ids []string
	if gated {
		p := e.Plan(ctx, im.conversation(c, q))
		a.took = time.Since(start)
		if p.Status == inject.Skipped {
			return nil, fmt.Errorf("recall didn't run: %s", p.Reason)
		}
		for _, r := range p.New {
			ids = append(ids, r.ID)
		}
		a.words = p.Degraded != ""
		return ids, nil
	}
	res, err := e.Search(ctx, im.request(c, q))
	a.took = time.Since(start)
	if err != nil {
		return nil, err
	}
	for i := range res.Results {
		ids = append(ids, res.Results[i].Memory.ID)
	}
	a.words = res.Degraded != ""
	return ids, nil
}

func owner(c Corpus) store.Owner { return store.Owner{Tenant: tenant, User: c.Name} }

func (im *Imported) request(c Corpus, q *Question) inject.SearchRequest {
	o := owner(c)
	return inject.SearchRequest{
		Tenant: o.Tenant, Scopes: o.OwnScopes(), Query: q.Text, Context: q.Context, TopK: depth, Now: c.now(q), Zone: time.UTC,
	}
}

// conversation is a request that has the question as its last message. Each is
// a session of its own: nothing has been said before.
func (im *Imported) conversation(c Corpus, q *Question) inject.Conversation {
	name := fmt.Sprintf("%s/%d", c.Name, q.number)
	var body store.Hash
	copy(body[:], name)
	return inject.Conversation{
		Owner: owner(c), Session: name, Places: []inject.Place{{Key: body}}, Words: q.Text, Context: q.Context,
		Texts: append(append([]string(nil), q.Context...), q.Text), BodyHash: body, Recall: true, Now: c.now(q), Zone: time.UTC,
	}
}
