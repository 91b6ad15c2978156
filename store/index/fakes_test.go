package index

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"hindsight/store"
)

// source is a store in memory. Its log keeps the last keep changes.
type source struct {
	mu      sync.Mutex
	mems    map[store.Scope][]store.Memory
	log     map[store.Scope][]store.Memory
	keep    int
	loads   int
	fail    error
	loading chan struct{} // a load waits for it, if set
}

func newSource() *source {
	return &source{mems: map[store.Scope][]store.Memory{}, log: map[store.Scope][]store.Memory{}, keep: 1 << 30}
}

func (s *source) put(m store.Memory) {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.mems[m.Scope]
	i := slices.IndexFunc(list, func(o store.Memory) bool { return o.ID == m.ID })
	if i < 0 {
		s.mems[m.Scope] = append(list, m)
	} else {
		list[i] = m
	}
	s.log[m.Scope] = append(s.log[m.Scope], m)
}

func (s *source) ScopeVersion(_ string, sc store.Scope) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return uint64(len(s.log[sc]))
}

func (s *source) ScopeMemories(ctx context.Context, _ string, sc store.Scope) ([]store.Memory, uint64, error) {
	if s.loading != nil {
		select {
		case <-s.loading:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	return slices.Clone(s.mems[sc]), uint64(len(s.log[sc])), s.fail
}

func (s *source) ScopeChanges(_ string, sc store.Scope, since uint64) ([]store.Memory, uint64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	log := s.log[sc]
	if len(log)-int(since) > s.keep {
		return nil, 0, false
	}
	return slices.Clone(log[since:]), uint64(len(log)), true
}

const ann = store.Scope("user:ann")

func memory(id, text string) store.Memory {
	return store.Memory{ID: id, Tenant: "t", Scope: ann, Text: text, State: store.Active, Type: store.UserFact}
}

func ask(words string, scopes ...store.Scope) Query {
	if len(scopes) == 0 {
		scopes = []store.Scope{ann}
	}
	q := Query{Tenant: "t", Scopes: scopes, Now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	for _, t := range Terms(words) {
		if !slices.ContainsFunc(q.Terms, func(o Term) bool { return o.Text == t }) {
			q.Terms = append(q.Terms, Term{Text: t, Weight: 1})
		}
	}
	return q
}

func ids(t *testing.T, x *Index, q Query) []string {
	t.Helper()
	res, err := x.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Memory.ID)
	}
	return out
}

func open(t testing.TB, cfg Config, s *source) *Index {
	x := New(cfg, s)
	t.Cleanup(x.Close)
	return x
}
