package weaviatedb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	pb "github.com/weaviate/weaviate/grpc/generated/protocol/v1"

	"hindsight/store"
	"hindsight/store/index"
)

const (
	// candidates is how many memories each leg gives, by vector and by words: twice
	// what the embedded index returns, since the legs don't see what neighbours and
	// sessions add.
	candidates = 2 * index.DefaultLimit
	// sessionsOf is how many of the best candidates are given the rest of their
	// sessions.
	sessionsOf = 2 * index.DefaultLimit
	// inSessions bounds what is fetched of those.
	inSessions = 1000
	// standingMost bounds what a listing returns.
	standingMost = 1000
)

// Search finds candidates of all scopes side by side, by vector and by words, adds
// the rest of their sessions and what else speaks about the same things, and ranks
// them by the embedded index's code.
func (d *DB) Search(ctx context.Context, q index.Query) (res index.Result, err error) {
	ctx, done, err := d.begin(ctx, "search", d.cfg.Timeout)
	if err != nil {
		return index.Result{}, err
	}
	defer func() { done(&err) }()
	groups := d.groups(q)
	found := make([]sample, len(groups))
	errs := make([]error, len(groups))
	var wg sync.WaitGroup
	for i, scopes := range groups {
		wg.Go(func() { errs[i] = d.gather(ctx, q, scopes, &found[i]) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return index.Result{}, fmt.Errorf("search the shared memory: %w", err)
	}
	res, err = index.Rank(ctx, q, together(q, found))
	return res, err
}

// groups are the scopes of a query as Weaviate's tenants hold them.
func (d *DB) groups(q index.Query) [][]store.Scope {
	scopes := slices.Clone(q.Scopes)
	slices.Sort(scopes)
	scopes = slices.Compact(scopes)
	if len(scopes) == 0 {
		return nil
	}
	if d.cfg.Layout == LayoutShared {
		return [][]store.Scope{scopes}
	}
	return slices.Collect(slices.Chunk(scopes, 1))
}

// sample is what was found in one tenant of Weaviate.
type sample struct {
	by    map[string]store.SharedMemory // by id
	docs  int
	df    []int
	least float64
	all   bool     // by has all that there are
	of    *figures // nil: not known
}

// gather fills a sample.
func (d *DB) gather(ctx context.Context, q index.Query, scopes []store.Scope, s *sample) error {
	of := d.memoriesOf(q.Tenant, scopes...)
	d.used.touch(of.tenant)
	live := narrowed(of, q)
	var byVector, byWords []found
	var least float64
	var counted []int
	err := sideBySide(
		func() (err error) {
			if len(q.Vector) > 0 {
				byVector, err = d.near(ctx, live, whole(candidates), q.Vector)
			}
			return err
		},
		func() (err error) {
			if len(q.Vector) > 0 {
				least, err = d.farthest(ctx, live, q.Vector)
			}
			return err
		},
		func() (err error) {
			if len(q.Terms) > 0 {
				byWords, err = d.byWords(ctx, live, whole(candidates), termTexts(q))
			}
			return err
		},
		func() (err error) {
			counted, err = d.frequencies(ctx, of, q)
			return err
		})
	if err != nil {
		return err
	}
	s.by, s.docs, s.df, s.least = map[string]store.SharedMemory{}, counted[0], counted[1:], least
	if err := s.add(append(byVector, byWords...)); err != nil {
		return err
	}
	if s.all = len(s.by) >= s.docs && !q.Standing; s.all {
		return nil
	}
	var rest []found
	err = sideBySide(
		func() (err error) { rest, err = d.around(ctx, q, live, s); return err },
		func() error { s.of = d.figuresOf(ctx, of, s.docs); return nil })
	if err != nil {
		return err
	}
	return s.add(rest)
}

// narrowed leaves out what can't be an answer: what isn't active, and where only
// standing memories are wanted, the others.
func narrowed(w where, q index.Query) where {
	states := []string{string(store.Active)}
	if q.Archived {
		states = append(states, string(store.Archived))
	}
	w = w.and(anyOf(propState, states))
	if q.Standing {
		w = w.and(&pb.Filters{Operator: pb.Filters_OPERATOR_EQUAL, Target: on(propStanding), TestValue: &pb.Filters_ValueBoolean{ValueBoolean: true}})
	}
	return w
}

// farthest is the least cosine of any vector with v: that of the nearest to its
// opposite.
func (d *DB) farthest(ctx context.Context, w where, v []float32) (float64, error) {
	opposite := make([]float32, len(v))
	for i, x := range v {
		opposite[i] = -x
	}
	got, err := d.near(ctx, w, want{props: []string{propMemory}, vector: true, limit: 1}, opposite)
	if err != nil || len(got) == 0 {
		return 0, err
	}
	return dot(got[0].vector, v), nil
}

func dot(a, b []float32) (sum float64) {
	for i := range min(len(a), len(b)) {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

// frequencies counts the active memories, and those that hold each term.
func (d *DB) frequencies(ctx context.Context, of where, q index.Query) ([]int, error) {
	live := of.and(anyOf(propState, []string{string(store.Active)}))
	wheres := []where{live}
	for _, t := range q.Terms {
		wheres = append(wheres, live.and(anyOf(propWords, []string{readable(t.Text)})))
	}
	return d.counts(ctx, wheres...)
}

// around fetches what bears on the scores of the best candidates.
func (d *DB) around(ctx context.Context, q index.Query, live where, s *sample) ([]found, error) {
	q.Limit = sessionsOf
	q.Keep = nil
	res, err := index.Rank(ctx, q, s.whole())
	if err != nil {
		return nil, err
	}
	sessions, things := map[string]bool{}, map[string]bool{}
	for _, h := range res.Hits {
		if len(h.Memory.Evidence) > 0 && h.Memory.Evidence[0].Session != "" {
			sessions[h.Memory.Evidence[0].Session] = true
		}
		if h.Memory.About != "" {
			things[h.Memory.About] = true
		}
	}
	var f *pb.Filters
	switch {
	case len(sessions) == 0 && len(things) == 0:
		return nil, nil
	case len(things) == 0:
		f = anyOf(propSession, names(sessions))
	case len(sessions) == 0:
		f = anyOf(propAbout, names(things))
	default:
		f = either(anyOf(propSession, names(sessions)), anyOf(propAbout, names(things)))
	}
	return d.list(ctx, live.and(f), whole(inSessions))
}

func names(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for s := range set {
		out = append(out, readable(s))
	}
	slices.Sort(out)
	return out
}

func termTexts(q index.Query) []string {
	out := make([]string, len(q.Terms))
	for i, t := range q.Terms {
		out[i] = readable(t.Text)
	}
	return out
}

func (s *sample) add(list []found) error {
	for i := range list {
		m, err := openMemory(list[i].text(propData))
		if err != nil {
			return err
		}
		s.by[m.ID] = store.SharedMemory{Memory: m, Vector: list[i].vector}
	}
	return nil
}

// whole is what ranking takes.
func (s *sample) whole() index.Sample {
	out := index.Sample{Docs: s.docs, DF: s.df, Least: s.least}
	if s.all {
		out.DF = nil
	} else if s.of != nil {
		out.Means, out.Sessions = s.of.means(), s.of.sessions
	}
	for _, m := range s.by {
		out.Memories = append(out.Memories, m)
	}
	slices.SortFunc(out.Memories, func(a, b store.SharedMemory) int { return strings.Compare(a.Memory.ID, b.Memory.ID) })
	return out
}

// together joins the samples of several tenants of Weaviate.
func together(q index.Query, list []sample) index.Sample {
	if len(list) == 1 {
		return list[0].whole()
	}
	all := sample{by: map[string]store.SharedMemory{}, df: make([]int, len(q.Terms)), all: true, of: &figures{}}
	for i := range list {
		s := &list[i]
		for id, m := range s.by {
			all.by[id] = m
		}
		all.docs += s.docs
		all.least = min(all.least, s.least)
		all.all = all.all && s.all
		for i, n := range s.df {
			all.df[i] += n
		}
		switch {
		case all.of == nil:
		case s.of != nil:
			all.of.plus(s.of)
		case s.all:
			all.of.plus(s.measured())
		default:
			all.of = nil
		}
	}
	return all.whole()
}

// measured are the figures of a sample that has everything.
func (s *sample) measured() *figures {
	f := &figures{}
	sessions := map[string]bool{}
	for _, m := range s.by {
		if m.Memory.State != store.Active {
			continue
		}
		for i, n := range index.LengthsOf(&m.Memory) {
			if n > 0 {
				f.sum[i], f.count[i] = f.sum[i]+n, f.count[i]+1
			}
		}
		if len(m.Memory.Evidence) > 0 && m.Memory.Evidence[0].Session != "" {
			sessions[m.Memory.Evidence[0].Session] = true
		}
	}
	f.sessions = len(sessions)
	return f
}

// List returns the memories that the query's scopes, time and Keep allow, at most
// a thousand of a scope: it is made for standing ones.
func (d *DB) List(ctx context.Context, q index.Query) (out []*store.Memory, err error) {
	ctx, done, err := d.begin(ctx, "list", d.cfg.Timeout)
	if err != nil {
		return nil, err
	}
	defer func() { done(&err) }()
	for _, scopes := range d.groups(q) {
		w := d.memoriesOf(q.Tenant, scopes...)
		d.used.touch(w.tenant)
		got, err := d.list(ctx, narrowed(w, q), want{props: []string{propData}, limit: standingMost})
		if err != nil {
			return nil, fmt.Errorf("list shared memories: %w", err)
		}
		s := sample{by: map[string]store.SharedMemory{}}
		if err := s.add(got); err != nil {
			return nil, err
		}
		list := index.Allowed(q, s.whole())
		out = append(out, list...)
	}
	return out, nil
}

// sideBySide runs functions at once and returns their errors.
func sideBySide(fs ...func() error) error {
	errs := make([]error, len(fs))
	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}
