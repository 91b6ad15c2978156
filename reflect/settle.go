package hreflect

import (
	"errors"
	"sync"

	"hindsight/store"
)

// settling lets one writer at a time compare with the memories that exist and
// write, in each person's scopes: two sessions of a user that taught the same
// thing at once must not both find it new. Other people's writers don't wait.
type settling struct {
	mu    sync.Mutex
	lanes map[lane]*turn
}

type lane struct {
	tenant string
	whose  store.Scope
}

// turn is the lock of a lane that somebody holds or waits for.
type turn struct {
	sync.Mutex
	users int
}

// compared runs do, which compares with the memories of a scope's person and
// writes, in that person's lane; anew where somebody edited a memory in between.
func (s *settling) compared(tenant string, sc store.Scope, do func() error) error {
	defer s.enter(tenant, sc)()
	const tries = 4
	for try := 1; ; try++ {
		err := do()
		if !errors.Is(err, store.ErrStale) || try == tries {
			return err
		}
	}
}

// enter waits for the lane of a scope: all scopes of one user are one lane. The
// returned call leaves it.
func (s *settling) enter(tenant string, sc store.Scope) (leave func()) {
	if user, own := sc.UserOf(); own {
		sc = store.UserScope(user)
	}
	l := lane{tenant, sc}
	s.mu.Lock()
	if s.lanes == nil {
		s.lanes = map[lane]*turn{}
	}
	t := s.lanes[l]
	if t == nil {
		t = &turn{}
		s.lanes[l] = t
	}
	t.users++
	s.mu.Unlock()
	t.Lock()
	return func() {
		t.Unlock()
		s.mu.Lock()
		defer s.mu.Unlock()
		if t.users--; t.users == 0 {
			delete(s.lanes, l)
		}
	}
}
