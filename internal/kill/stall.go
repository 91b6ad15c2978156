package kill

import (
	"context"
	"sync"
	"time"
)

// A process that isn't given the processor can't keep a bound of time. Where a
// timer of the harness itself came late by more than starved within a second before
// a kill, only what the binary had shown as recorded is owed; likewise where each
// sync is copied.
const starved = 25 * time.Millisecond

// stalls remembers when a timer last came late.
type stalls struct {
	mu   sync.Mutex
	last time.Time
}

// watch looks until the context ends.
func (s *stalls) watch(ctx context.Context) {
	const tick = 10 * time.Millisecond
	for ctx.Err() == nil {
		begun := time.Now()
		wait(ctx, tick)
		if now := time.Now(); now.Sub(begun) > tick+starved {
			s.mu.Lock()
			s.last = now
			s.mu.Unlock()
		}
	}
}

// before says whether a timer came late shortly before a kill.
func (s *stalls) before(killed time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return killed.Sub(s.last) < time.Second
}
