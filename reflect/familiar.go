package hreflect

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"hindsight/store"
)

const (
	familiarMost = 20_000      // memories of all scopes together
	familiarFor  = time.Minute // after their last use
)

// familiar holds the memories of the scopes that somebody has just written to, or
// that a session was reflected in: each statement is compared with all of them, and
// they are read once and followed from then on. What it gives out is never changed.
type familiar struct {
	store Records

	mu     sync.Mutex // guards the list, not what the scopes hold
	scopes []*familiarScope
}

type familiarScope struct {
	tenant string
	scope  store.Scope
	forget *time.Timer

	mu       sync.Mutex
	read     bool
	version  uint64
	memories []store.Memory
	at       map[string]int // where a memory stands, by id
}

// memories are all that an owner's own scopes hold.
func (r *Runner) memories(ctx context.Context, o store.Owner) ([]store.Memory, error) {
	return r.within(ctx, o.Tenant, o.OwnScopes()...)
}

// within are all memories of some scopes.
func (r *Runner) within(ctx context.Context, tenant string, scopes ...store.Scope) ([]store.Memory, error) {
	var all []store.Memory
	for _, sc := range scopes {
		ms, err := r.familiar.all(ctx, tenant, sc)
		if err != nil {
			return nil, err
		}
		all = append(all, ms...)
	}
	return all, nil
}

// all are the memories of a scope as they are now, whatever their state.
func (f *familiar) all(ctx context.Context, tenant string, sc store.Scope) ([]store.Memory, error) {
	s := f.of(tenant, sc)
	s.mu.Lock()
	err := s.follow(ctx, f.store)
	memories := s.memories
	s.mu.Unlock()
	if err != nil {
		f.drop(s)
		return nil, fmt.Errorf("read memories of the scope: %w", err)
	}
	f.trim()
	return memories, nil
}

// of is the scope's place, the last in the list.
func (f *familiar) of(tenant string, sc store.Scope) *familiarScope {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.scopes, func(s *familiarScope) bool { return s.tenant == tenant && s.scope == sc })
	var s *familiarScope
	if i < 0 {
		s = &familiarScope{tenant: tenant, scope: sc}
		s.forget = time.AfterFunc(familiarFor, func() { f.drop(s) })
	} else {
		s = f.scopes[i]
		f.scopes = slices.Delete(f.scopes, i, i+1)
		s.forget.Reset(familiarFor)
	}
	f.scopes = append(f.scopes, s)
	return s
}

// trim drops the scopes that were used longest ago while there are too many
// memories, the last one too if it alone has.
func (f *familiar) trim() {
	f.mu.Lock()
	scopes := slices.Clone(f.scopes)
	f.mu.Unlock()
	held := 0
	for _, s := range slices.Backward(scopes) {
		s.mu.Lock()
		held += len(s.memories)
		s.mu.Unlock()
		if held > familiarMost {
			f.drop(s)
		}
	}
}

func (f *familiar) drop(s *familiarScope) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s.forget.Stop()
	f.scopes = slices.DeleteFunc(f.scopes, func(o *familiarScope) bool { return o == s })
}

// Forget takes an erased scope's memories out of memory.
func (r *Runner) Forget(tenant string, sc store.Scope) {
	f := &r.familiar
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scopes = slices.DeleteFunc(f.scopes, func(s *familiarScope) bool {
		gone := s.tenant == tenant && s.scope == sc
		if gone {
			s.forget.Stop()
		}
		return gone
	})
}

// follow takes over what has changed, or reads the scope. The caller holds mu.
func (s *familiarScope) follow(ctx context.Context, from Records) error {
	if s.read {
		if changes, version, ok := from.ScopeChanges(s.tenant, s.scope, s.version); ok {
			s.take(changes)
			s.version = version
			return nil
		}
	}
	memories, version, err := from.ScopeMemories(ctx, s.tenant, s.scope)
	if err != nil {
		return err
	}
	s.read, s.version = true, version
	s.hold(memories)
	return nil
}

func (s *familiarScope) hold(memories []store.Memory) {
	s.memories, s.at = memories, make(map[string]int, len(memories))
	for i := range memories {
		s.at[memories[i].ID] = i
	}
}

// take puts memories in the place of their older forms. One that was erased comes
// without a text.
func (s *familiarScope) take(changes []store.Memory) {
	if len(changes) == 0 {
		return
	}
	s.memories = slices.Clone(s.memories) // others may hold it
	gone := false
	for _, m := range changes {
		i, known := s.at[m.ID]
		gone = gone || m.Text == ""
		switch {
		case known:
			s.memories[i] = m
		case m.Text != "":
			s.at[m.ID] = len(s.memories)
			s.memories = append(s.memories, m)
		}
	}
	if gone {
		s.hold(slices.DeleteFunc(s.memories, func(m store.Memory) bool { return m.Text == "" }))
	}
}
