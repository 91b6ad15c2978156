package reflecteval

import (
	"context"
	"sync"

	"hindsight/store"
)

// Product reflects a case in a scope of its own.
type Product interface {
	Reflect(ctx context.Context, c Case) (Outcome, error)
}

// Language is the figures of one language.
type Language struct {
	Counts
	Types map[store.Type]Counts `json:"types"`
}

// Report is what a run found.
type Report struct {
	Model     string               `json:"model"`
	Total     Counts               `json:"total"`
	Languages map[string]*Language `json:"languages"`
	Results   []Result             `json:"results"`
}

// Measure has every case reflected, so many at a time, and counts. A case
// without an answer counts as failed, and its expected memories as missed.
// done, where not nil, is told how many have ended. The error is ctx's.
func Measure(ctx context.Context, model string, cases []Case, parallel int, p Product, done func(n int)) (*Report, error) {
	results := make([]Result, len(cases))
	var mu sync.Mutex
	ended := 0
	slots := make(chan struct{}, max(1, parallel))
	var running sync.WaitGroup
	for i, c := range cases {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break
		}
		running.Go(func() {
			defer func() { <-slots }()
			o, err := p.Reflect(ctx, c)
			r := Judge(c, o)
			if err != nil {
				r.Failed, r.Error = 1, err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			results[i] = r
			if ended++; done != nil {
				done(ended)
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return sum(model, results), nil
}

func sum(model string, results []Result) *Report {
	rep := &Report{Model: model, Languages: map[string]*Language{}, Results: results}
	for _, r := range results {
		l := rep.Languages[r.Lang]
		if l == nil {
			l = &Language{Types: map[store.Type]Counts{}}
			rep.Languages[r.Lang] = l
		}
		rep.Total.add(r.Counts)
		l.add(r.Counts)
		for t, c := range r.byType {
			have := l.Types[t]
			have.add(c)
			l.Types[t] = have
		}
	}
	return rep
}
