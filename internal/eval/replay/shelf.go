package replay

import (
	"context"
	"slices"
	"time"

	"hindsight/inject"
	"hindsight/store"
	"hindsight/store/index"
)

// shelf holds memories, their vectors and the last record of what was considered.
// Nothing of it is on disk. It is searched as a question of the past would have
// searched it. One goroutine asks at a time.
type shelf struct {
	inject.Searcher // of an index over the shelf itself

	memories map[scope][]store.Memory
	vectors  map[string][]float32 // by id
	offered  map[string]time.Time
	why      store.Why

	session string
	at      time.Time
}

type scope struct {
	tenant string
	scope  store.Scope
}

var (
	_ index.Source  = (*shelf)(nil)
	_ index.Vectors = (*shelf)(nil)
	_ inject.Ledger = (*shelf)(nil)
)

func newShelf(memories []store.Memory, vectors map[string][]float32) *shelf {
	s := &shelf{memories: make(map[scope][]store.Memory), vectors: vectors, offered: make(map[string]time.Time)}
	for _, m := range memories {
		at := scope{m.Tenant, m.Scope}
		s.memories[at] = append(s.memories[at], m)
	}
	return s
}

// asked sets who asks, and when.
func (s *shelf) asked(session string, at time.Time) {
	s.session, s.at, s.why = session, at, store.Why{}
}

// could says whether a memory could have been told.
func (s *shelf) could(m *store.Memory) bool {
	return m.CreatedAt.Before(s.at) &&
		!slices.ContainsFunc(m.Evidence, func(e store.Evidence) bool { return e.Session == s.session })
}

// then is the query as it could have been answered.
func (s *shelf) then(q index.Query) index.Query {
	keep := q.Keep
	q.Keep = func(m *store.Memory) bool { return s.could(m) && (keep == nil || keep(m)) }
	return q
}

func (s *shelf) Search(ctx context.Context, q index.Query) (index.Result, error) {
	return s.Searcher.Search(ctx, s.then(q))
}

func (s *shelf) List(ctx context.Context, q index.Query) ([]*store.Memory, error) {
	return s.Searcher.List(ctx, s.then(q))
}

func (s *shelf) told(id string) Told {
	t := Told{ID: id}
	if i := slices.IndexFunc(s.why.Considered, func(c store.Candidate) bool { return c.ID == id }); i >= 0 {
		t.Text, t.Score = s.why.Considered[i].Text, s.why.Considered[i].Parts["final"]
	}
	return t
}

// The memories never change.

func (s *shelf) ScopeVersion(string, store.Scope) uint64 { return 1 }

func (s *shelf) ScopeMemories(_ context.Context, tenant string, sc store.Scope) ([]store.Memory, uint64, error) {
	return s.memories[scope{tenant, sc}], 1, nil
}

func (s *shelf) ScopeChanges(string, store.Scope, uint64) ([]store.Memory, uint64, bool) {
	return nil, 1, true
}

func (s *shelf) VectorVersion(string, store.Scope) uint64 { return 1 }

func (s *shelf) ScopeVectors(_ context.Context, tenant string, sc store.Scope, take func(string, []float32)) (uint64, error) {
	for _, m := range s.memories[scope{tenant, sc}] {
		if v, ok := s.vectors[m.ID]; ok {
			take(m.ID, v)
		}
	}
	return 1, nil
}

func (s *shelf) VectorChanges(string, store.Scope, uint64, func(string, []float32)) (uint64, bool) {
	return 1, true
}

// Blocks live in the engine's memory, for as long as it does.

func (s *shelf) LoadLedger(context.Context, store.Owner, string) ([]store.LedgerEntry, error) {
	return nil, nil
}

func (s *shelf) SaveLedger(entries []store.LedgerEntry) {
	for _, e := range entries {
		for _, id := range e.Checks {
			s.offered[id] = e.Created
		}
	}
}

func (s *shelf) Gone(string) bool            { return false }
func (s *shelf) Offered(id string) time.Time { return s.offered[id] }
func (s *shelf) SaveWhy(w store.Why)         { s.why = w }
