package badgerdb

import (
	"context"
	"fmt"

	"hindsight/store"
)

// memoryKeys is how many keys one written memory takes at most.
const memoryKeys = 9

// PutMemories writes many memories, each as [Store.PutMemory] would, and returns
// what stands then, in their order. They are committed in pieces of under a
// megabyte: an error, which names the memory, leaves those of earlier pieces
// written. Other writers wait for all of it.
func (s *Store) PutMemories(ctx context.Context, ms []store.Memory) ([]store.Memory, error) {
	for i := range ms {
		if err := writable(&ms[i]); err != nil {
			return nil, fmt.Errorf("memory %d: %w", i+1, err)
		}
	}
	if err := s.roomToWrite(); err != nil {
		return nil, err
	}
	out := make([]store.Memory, len(ms))
	err := s.change(func(t *tx) error {
		for i, m := range ms {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("memory %d: %w", i+1, err)
			}
			if err := t.room(memoryBytes(&m), memoryKeys); err != nil {
				return err
			}
			var err error
			if out[i], _, err = s.writeMemory(t, m); err != nil {
				return fmt.Errorf("memory %d: %w", i+1, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, wrap("write memories", err)
	}
	return out, nil
}

// memoryBytes estimates what a memory takes on disk, generously.
func memoryBytes(m *store.Memory) int {
	n := 2048 + 2*(len(m.Text)+len(m.Subject)+len(m.Scenario))
	for i := range m.Evidence {
		n += 256 + 2*(len(m.Evidence[i].Quote)+len(m.Evidence[i].Context))
	}
	for k, v := range m.Metadata {
		n += 16 + 2*(len(k)+len(v))
	}
	return n
}
