package badgerdb

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"sync"

	"hindsight/store"
)

// vectors is what the store knows about embeddings beside their rows. A row
// lies under its memory's key, marked with the number of the model that made it:
// rows of another number are as good as none, and are overwritten one by one.
type vectors struct {
	feed *feed

	mu    sync.Mutex
	model byte           // in use; 0: none
	scan  bool           // not all memories have been looked through
	from  []byte         // where looking goes on
	wants map[string]int // ids of changed memories, and the order of their arrival
	order int
	wake  chan struct{}
}

// maxWants bounds the changed memories that wait; above it all are looked through.
const maxWants = 4096

func newVectors() *vectors {
	return &vectors{feed: newFeed(), wants: map[string]int{}, wake: make(chan struct{}, 1)}
}

// later asks for a memory's vector once t is committed.
func (v *vectors) later(t *tx, id string) {
	t.after = append(t.after, func() {
		v.mu.Lock()
		if len(v.wants) < maxWants {
			v.order++
			v.wants[id] = v.order
		} else {
			v.lookAgain()
		}
		v.mu.Unlock()
		v.stir()
	})
}

// lookAgain begins the look through all memories anew.
func (v *vectors) lookAgain() {
	v.scan, v.from = true, nil
	clear(v.wants)
}

// reset is for a directory that was opened: indices read anew, and what was
// wanted before may have been lost.
func (v *vectors) reset() {
	v.feed.reset()
	v.mu.Lock()
	v.lookAgain()
	v.mu.Unlock()
	v.stir()
}

func (v *vectors) stir() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// used is the number of the model in use, 0 for none.
func (v *vectors) used() byte {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.model
}

// take returns up to n wanted ids, the oldest first.
func (v *vectors) take(n int) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	ids := make([]string, 0, len(v.wants))
	for id := range v.wants {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, func(a, b string) int { return v.wants[a] - v.wants[b] })
	ids = ids[:min(n, len(ids))]
	for _, id := range ids {
		delete(v.wants, id)
	}
	return ids
}

// modelFact is the name of the fact that holds a modelRecord.
const modelFact = "embedding model"

type modelRecord struct {
	store.EmbeddingModel
	Mark byte `json:"mark"`
}

// UseVectors takes a model's vectors into use: from now on they are asked for and
// given out. The error is a *store.OtherModel where the data has vectors of
// another one; renew drops those instead, and is of no effect where the model is
// the one that the data has.
func (s *Store) UseVectors(_ context.Context, m store.EmbeddingModel, renew bool) error {
	var mark byte
	err := s.change(func(t *tx) error {
		key := factKey(t.h, modelFact)
		var is modelRecord
		switch raw, err := t.raw(key); {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return err
		default:
			if err := json.Unmarshal(raw, &is); err != nil {
				return err
			}
		}
		switch {
		case is.Same(m):
			mark = is.Mark
			return nil
		case is.Mark != 0 && !renew:
			return &store.OtherModel{Stored: is.EmbeddingModel, Configured: m}
		}
		mark = is.Mark%math.MaxUint8 + 1
		raw, err := json.Marshal(modelRecord{m, mark})
		if err != nil {
			return err
		}
		return t.set(key, raw, 0, 0)
	})
	var other *store.OtherModel
	if errors.As(err, &other) {
		mark = 0
	} else if err != nil {
		return wrap("use vectors", err)
	}
	s.vectors.mu.Lock()
	changed := s.vectors.model != mark
	s.vectors.model = mark
	s.vectors.mu.Unlock()
	if changed {
		s.vectors.reset()
	}
	return err
}

// Unembedded waits for memories that have no vector of the model in use, and
// returns up to n of them. One that gets no vector is offered again after its next
// change and after the next opening of the store, not before.
func (s *Store) Unembedded(ctx context.Context, n int) ([]store.Memory, error) {
	for {
		out, more, err := s.unembedded(n)
		if err != nil || len(out) > 0 {
			return out, wrap("find memories without a vector", err)
		}
		if more {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			continue
		}
		select {
		case <-s.vectors.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// looked is how many memories one transaction looks at.
const looked = 1000

func (s *Store) unembedded(n int) (out []store.Memory, more bool, err error) {
	mark := s.vectors.used()
	if mark == 0 {
		return nil, false, nil
	}
	ids := s.vectors.take(n)
	s.vectors.mu.Lock()
	scan, from := s.vectors.scan && len(ids) == 0, s.vectors.from
	s.vectors.mu.Unlock()
	prefix := []byte{famMemory}
	if from == nil {
		from = prefix
	}
	var next []byte // nil: looked at everything
	err = s.view(func(v view) error {
		for _, id := range ids {
			m, at, err := v.memory(id)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if has, err := v.embedded(at, v.h.memory(id), mark); err != nil {
				return err
			} else if !has && embeddable(m.State) {
				out = append(out, m)
			}
		}
		if !scan {
			return nil
		}
		seen := 0
		for r := range v.rows(prefix, from) {
			if seen++; seen > looked || len(out) >= n {
				next = r.key()
				return nil
			}
			if !embeddable(markedState(r.meta())) {
				continue
			}
			has, err := v.embedded(place(r.item.Key()[1:]), tail(r), mark)
			if err != nil {
				return err
			}
			if has {
				continue
			}
			var m store.Memory
			if err := r.into(&m); err != nil {
				return err
			}
			out = append(out, m)
		}
		return nil
	})
	if err != nil || !scan {
		return out, len(ids) > 0, err
	}
	s.vectors.mu.Lock()
	defer s.vectors.mu.Unlock()
	s.vectors.from, s.vectors.scan = next, next != nil
	return out, s.vectors.scan, nil
}

func embeddable(st store.State) bool { return st == store.Active || st == store.Archived }

func vectorKey(at place, id store.Hash) []byte { return join(famVector, at[:], id[:]) }

// embedded says whether a memory has a vector of a model.
func (v view) embedded(at place, id store.Hash, mark byte) (bool, error) {
	r, err := v.row(vectorKey(at, id))
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil && r.meta() == mark, err
}

// PutVectors keeps the vectors of memories: the i-th belongs to the i-th memory as
// it was read. Of a memory that says something else by now, or is gone, nothing is
// kept.
func (s *Store) PutVectors(_ context.Context, mems []store.Memory, values [][]float32) error {
	if err := s.roomToWrite(); err != nil {
		return err
	}
	mark := s.vectors.used()
	if mark == 0 {
		return errors.New("keep vectors: no model is in use")
	}
	return wrap("keep vectors", s.change(func(t *tx) error {
		for i := range mems {
			if err := t.room(len(mems[i].ID)+4*len(values[i])+300, 2); err != nil {
				return err
			}
			if err := s.putVector(t, &mems[i], values[i], mark); err != nil {
				return err
			}
		}
		return nil
	}))
}

// putVector writes the vector of a memory, unless that says something else now.
func (s *Store) putVector(t *tx, of *store.Memory, values []float32, mark byte) error {
	m, at, err := t.memory(of.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || m.Text != of.Text || m.Subject != of.Subject || !embeddable(m.State) {
		return err
	}
	id := t.h.memory(m.ID)
	if err := t.putPlain(vectorKey(at, id), appendVector(nil, m.ID, values), mark, 0); err != nil {
		return err
	}
	s.vectors.feed.later(t, m.Tenant, m.Scope, m.ID)
	if err := s.shipMemory(t, at, m.ID); err != nil {
		return err
	}
	return s.unready(t, at, id)
}

// dropVector removes the vector of a memory that says something else now.
func (s *Store) dropVector(t *tx, at place, m *store.Memory) error {
	key := vectorKey(at, t.h.memory(m.ID))
	if _, err := t.row(key); errors.Is(err, store.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	s.vectors.feed.later(t, m.Tenant, m.Scope, m.ID)
	return t.del(key) // its memory's change is noted
}

// CountVectors counts the memories that have a vector of the model in use, and
// those that should.
func (s *Store) CountVectors(ctx context.Context) (have, want int, err error) {
	mark := s.vectors.used()
	err = s.view(func(v view) error {
		for r := range v.rows([]byte{famMemory}, nil) {
			if want%looked == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if embeddable(markedState(r.meta())) {
				want++
			}
		}
		for r := range v.rows([]byte{famVector}, nil) {
			if have%looked == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if r.meta() == mark {
				have++
			}
		}
		return nil
	})
	return min(have, want), want, wrap("count vectors", err)
}
