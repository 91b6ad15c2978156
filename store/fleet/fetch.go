package fleet

import (
	"context"
	"fmt"
	"slices"

	"hindsight/store"
)

// fetchTakes is the share of a request's time that finding its conversation may
// take: recall wants some of it too.
const fetchTakes = 0.5

// The results of a fetch, for its counter.
const (
	fetchFound   = "found"
	fetchUnknown = "unknown"
	fetchLate    = "late"
	fetchAway    = "away"
)

// Fetch reads what other sidecars know of a conversation, found by what was said
// in it (keys of anchors) or by its id where that is known, and takes it in. It
// returns the sessions of which something may be new here. It is for the request
// path: it takes at most half of the time that ctx leaves, and no error fails a
// request.
func (f *Fleet) Fetch(ctx context.Context, o store.Owner, session string, keys []store.Hash) []string {
	if !f.up() {
		f.met.fetched.WithLabelValues(fetchAway).Inc()
		return nil
	}
	some, cancel := part(ctx, fetchTakes)
	defer cancel()
	sessions, err := f.fetch(some, o, session, keys)
	switch {
	case err != nil:
		f.health.missed()
		f.met.fetched.WithLabelValues(fetchLate).Inc()
		f.log.Debug("a conversation can't be read from the shared memory", "error", err)
	case len(sessions) == 0:
		f.met.fetched.WithLabelValues(fetchUnknown).Inc()
	default:
		f.met.fetched.WithLabelValues(fetchFound).Inc()
	}
	return sessions
}

func (f *Fleet) fetch(ctx context.Context, o store.Owner, session string, keys []store.Hash) ([]string, error) {
	home := o.OwnScopes()
	var sessions []string
	if session != "" {
		sessions = append(sessions, session)
	}
	if len(keys) > 0 {
		said := make([]string, len(keys))
		for i, k := range keys {
			said[i] = k.String()
		}
		rs, err := f.remote.Records(ctx, o.Tenant, store.RecordQuery{
			Scopes: home, Kinds: []store.RecordKind{store.RecordExchange}, Keys: said, Limit: 100,
		})
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			if !slices.Contains(sessions, r.Session) {
				sessions = append(sessions, r.Session)
			}
		}
	}
	if len(sessions) == 0 {
		return nil, nil
	}
	n, err := f.takeIn(ctx, o.Tenant, store.RecordQuery{
		Scopes: home, Kinds: []store.RecordKind{store.RecordExchange, store.RecordLedger}, Sessions: sessions,
	})
	if n == 0 {
		return nil, err
	}
	return sessions, err
}

// takeIn takes in what a query finds, up to 10,000 records, and says how many it
// found.
func (f *Fleet) takeIn(ctx context.Context, tenant string, q store.RecordQuery) (n int, err error) {
	q.Limit = 10_000
	rs, err := f.remote.Records(ctx, tenant, q)
	if err != nil || len(rs) == 0 {
		return 0, err
	}
	return len(rs), f.local.AbsorbRecords(ctx, rs)
}

// LearnErased takes in what other sidecars have erased of a tenant, scopes and
// memories.
func (f *Fleet) LearnErased(ctx context.Context, tenant string) error {
	q := store.RecordQuery{AllScopes: true, Kinds: []store.RecordKind{store.RecordErasure, store.RecordGone}, Limit: 10_000}
	for {
		rs, err := f.remote.Records(ctx, tenant, q)
		if err != nil {
			return fmt.Errorf("read what other sidecars erased: %w", err)
		}
		if err := f.local.AbsorbRecords(ctx, rs); err != nil {
			return err
		}
		if len(rs) < q.Limit || !rs[len(rs)-1].Changed.After(q.Since) {
			return nil
		}
		q.Since = rs[len(rs)-1].Changed
	}
}

// Join brings a session here as all sidecars together know it, for somebody who
// waits for it, such as the one who closes it.
func (f *Fleet) Join(ctx context.Context, o store.Owner, session string) {
	if !f.up() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	if _, err := f.fetch(ctx, o, session, nil); err != nil {
		f.log.Debug("a session can't be read from the shared memory", "error", err)
	}
}
