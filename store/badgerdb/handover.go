package badgerdb

import (
	"context"
	"errors"
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
	out := []store.Session{}
	err := s.view(func(v view) error {
		for _, at := range open {
			x, err := v.session(at)
			if errors.Is(err, store.ErrNotFound) {
				continue // erased meanwhile
			}
			if err != nil {
				return err
			}
			out = append(out, x)
		}
		return nil
	})
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
