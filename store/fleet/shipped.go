package fleet

import (
	"sync"
	"time"

	"hindsight/store"
)

// How much of what was delivered is remembered, so that it can be looked for
// after the shared store has been away: a server that crashed was seen to have
// lost sight of its last acknowledged batch.
const (
	shippedFor  = 5 * time.Minute
	shippedMost = 5_000
)

// shipped remembers what was delivered in the last minutes.
type shipped struct {
	mu   sync.Mutex
	list []delivered // oldest first
}

type delivered struct {
	key    scopeKey
	at     time.Time
	memory *store.SharedMemory // one of these
	record *store.SharedRecord
}

func (s *shipped) memories(k scopeKey, ms []store.SharedMemory, now time.Time) {
	ds := make([]delivered, len(ms))
	for i := range ms {
		ds[i] = delivered{key: k, at: now, memory: &ms[i]}
	}
	s.add(now, ds...)
}

func (s *shipped) records(k scopeKey, rs []store.SharedRecord, now time.Time) {
	ds := make([]delivered, len(rs))
	for i := range rs {
		ds[i] = delivered{key: k, at: now, record: &rs[i]}
	}
	s.add(now, ds...)
}

// add remembers what was delivered now, and forgets what is old.
func (s *shipped) add(now time.Time, ds ...delivered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, ds...)
	n := max(0, len(s.list)-shippedMost)
	for n < len(s.list) && now.Sub(s.list[n].at) > shippedFor {
		n++
	}
	if n > 0 {
		s.list = append([]delivered(nil), s.list[n:]...)
	}
}

// since returns what was delivered after a moment.
func (s *shipped) since(at time.Time) []delivered {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, d := range s.list {
		if d.at.After(at) {
			return append([]delivered(nil), s.list[i:]...)
		}
	}
	return nil
}
