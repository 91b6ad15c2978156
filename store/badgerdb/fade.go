package badgerdb

import (
	"context"
	"errors"

	"hindsight/store"
)

// Fade does to memories of a tenant what a sweep decided, and lists those that it
// was done to: what was changed, used or erased since it was read is left alone.
// Each memory changes in one transaction; the list may take several, so that
// what was killed in between is before or after for every one of them. It leaves
// no tombstone: what only faded may be learned again. A deleted one takes what a
// consolidation hid behind it along. Callers hand over a few dozen at a time,
// because writers wait meanwhile.
func (s *Store) Fade(_ context.Context, tenant string, fates []store.Fate) ([]string, error) {
	if err := s.roomToWrite(); err != nil {
		return nil, err
	}
	var done []string
	err := s.change(func(t *tx) error {
		t.by = store.Change{By: store.Swept}
		tenant := s.tenant(tenant)
		for _, f := range fates {
			m, at, err := t.memory(f.ID)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			if m.Tenant != tenant || m.Revision != f.Revision || m.State != f.State || !m.LastUsed.Equal(f.LastUsed) {
				continue
			}
			if err := t.room(weight(&m), 100); err != nil {
				return err
			}
			if err := s.fade(t, at, &m, f); err != nil {
				return err
			}
			done = append(done, f.ID)
		}
		return nil
	})
	return done, wrap("sweep memories", err)
}

// weight is about what writing a memory and its older form takes, in bytes.
func weight(m *store.Memory) int {
	n := 2048 + len(m.Text) + len(m.Scenario)
	for _, e := range m.Evidence {
		n += 200 + len(e.Quote) + len(e.Context)
	}
	return 2 * n
}

func (s *Store) fade(t *tx, at place, old *store.Memory, f store.Fate) error {
	m := *old
	switch f.Do {
	case store.FateArchive:
		m.State, m.ArchivedAt = store.Archived, s.now()
	case store.FateLower:
		m.Importance = f.To
	case store.FateDelete:
		hidden, err := t.hidden(old)
		if err != nil {
			return err
		}
		var gone store.Receipt // nobody reads it
		for i := range hidden {
			if err := s.dropMemory(t, at, &hidden[i], &gone); err != nil {
				return err
			}
		}
		return s.dropMemory(t, at, old, &gone)
	default:
		return errors.New("unknown fate " + string(f.Do))
	}
	return s.putMemory(t, &m, old)
}
