package badgerdb

import (
	"errors"
	"slices"

	"hindsight/store"
)

// doubt is what a memory's confidence is multiplied with when a session
// contradicts it without saying what is true instead (then it is superseded);
// leastConfidence is where that ends.
const (
	doubt           = 0.7
	leastConfidence = 0.1
)

// applyVerdicts counts how injected memories fared. Counting makes no revision:
// nothing of what is said changes. Losing confidence does, so that it can be
// seen and undone.
func (s *Store) applyVerdicts(t *tx, j *store.Job, verdicts []store.Verdict) error {
	for _, v := range strongest(verdicts) {
		m, at, err := t.memory(v.ID)
		if errors.Is(err, store.ErrNotFound) || err == nil && m.Tenant != j.Owner.Tenant {
			continue // erased meanwhile, or a made-up id
		}
		if err != nil {
			return err
		}
		old := m
		switch v.Verdict {
		case store.VerdictIgnored:
			m.Ignored++
		case store.VerdictContradicted:
			m.Contradicted++
			if m.State == store.Active && m.Confidence > leastConfidence {
				m.Confidence = max(leastConfidence, m.Confidence*doubt)
				if err := s.putMemory(t, &m, &old); err != nil {
					return err
				}
				continue
			}
		case store.VerdictConfirmed:
			m.LastVerified = s.now()
			fallthrough
		case store.VerdictUsed:
			m.Uses, m.LastUsed = m.Uses+1, s.now()
		}
		if err := s.storeMemory(t, at, &m); err != nil {
			return err
		}
	}
	return nil
}

// strongest keeps one verdict for each memory: a long session is judged in
// parts, and repetition counts by sessions.
func strongest(verdicts []store.Verdict) []store.Verdict {
	rank := []string{store.VerdictIgnored, store.VerdictUsed, store.VerdictConfirmed, store.VerdictContradicted}
	var out []store.Verdict
	for _, v := range verdicts {
		i := slices.IndexFunc(out, func(o store.Verdict) bool { return o.ID == v.ID })
		switch now := slices.Index(rank, v.Verdict); {
		case now < 0: // a word that nobody knows
		case i < 0:
			out = append(out, v)
		case now > slices.Index(rank, out[i].Verdict):
			out[i] = v
		}
	}
	return out
}
