package badgerdb

import (
	"context"
	"sort"
	"time"

	"hindsight/store"
)

// ClaimBeside takes, for the holder of a claimed job, further ones of the same
// owner: the oldest of idle sessions that are due and were never tried, at most
// so many, and together with that job's session of at most so many new tokens.
func (s *Store) ClaimBeside(_ context.Context, j store.Job, lease time.Duration, tokens, most int) ([]store.Job, error) {
	var out []store.Job
	err := s.change(func(t *tx) error {
		out = nil
		now := s.now()
		for _, b := range s.idleBeside(t.h, j, now, tokens, most) {
			b.State, b.Claim, b.Lease, b.NotBefore = store.Running, j.Claim, now.Add(lease), time.Time{}
			b.Attempts++
			if err := s.putJob(t, &b); err != nil {
				return err
			}
			out = append(out, b)
		}
		return nil
	})
	if err != nil {
		return nil, wrap("claim jobs beside another", err)
	}
	return out, nil
}

func (s *Store) idleBeside(h *handle, j store.Job, now time.Time, tokens, most int) []store.Job {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var out []store.Job
	size := map[string]int{}
	for _, o := range s.mem.jobs {
		l := s.mem.sessions[h.conversation(o.Owner, o.Session)]
		if l == nil || o.Owner != j.Owner {
			continue
		}
		size[o.ID] = l.NewTokens
		if o.ID == j.ID || o.Consolidates() || o.State != store.Queued || o.Trigger != store.TriggerIdle || o.Attempts > 0 || o.NotBefore.After(now) || l.Cursor != o.From {
			continue
		}
		out = append(out, *o)
	}
	sort.Slice(out, func(i, k int) bool { return older(&out[i], &out[k]) })
	left := tokens - size[j.ID]
	kept := out[:0]
	for _, o := range out {
		if len(kept) < most && size[o.ID] <= left {
			left -= size[o.ID]
			kept = append(kept, o)
		}
	}
	return kept
}
