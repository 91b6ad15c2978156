package badgerdb

import (
	"context"
	"time"

	"hindsight/store"
)

// Unreflected lists the sessions that have something no reflection has covered,
// whether or not a job waits for it.
func (s *Store) Unreflected(context.Context) ([]store.Session, error) {
	var open []conversation
	s.mu.RLock()
	for at, l := range s.mem.sessions {
		if l.LastSeq > l.Cursor {
			open = append(open, at)
		}
	}
	s.mu.RUnlock()
	out, err := s.sessionsAt(open)
	return out, wrap("list sessions without reflection", err)
}

// PutJobBack gives a claimed job back that wasn't worked, due again at a time. It
// doesn't count as an attempt.
func (s *Store) PutJobBack(_ context.Context, j store.Job, at time.Time) error {
	return s.held(j, "put job back", func(_ *tx, is *store.Job) error {
		is.State, is.NotBefore, is.Claim, is.Lease = store.Queued, at, "", time.Time{}
		is.Attempts--
		return nil
	})
}
