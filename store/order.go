package store

import (
	"cmp"
	"time"
)

// Stated is when a memory was last said and in which turn, by its newest
// evidence; without any it is when it was written.
func (m *Memory) Stated() (at time.Time, turn int) {
	for i, e := range m.Evidence {
		if i == 0 || e.Time.After(at) || e.Time.Equal(at) && e.Turn > turn {
			at, turn = e.Time, e.Turn
		}
	}
	if len(m.Evidence) == 0 {
		at = m.CreatedAt
	}
	return at, turn
}

// Order compares two memories about one thing: negative where b holds and a
// doesn't. The user's word comes after everybody else's, then what was said
// later, by event time, turn and id. It depends on nothing else, so that
// whoever applies it, in whichever order memories arrived, finds the same.
func Order(a, b *Memory) int {
	at, turn := a.Stated()
	bt, other := b.Stated()
	return cmp.Or(-cmp.Compare(trust(a.AttributedTo), trust(b.AttributedTo)), at.Compare(bt), cmp.Compare(turn, other), cmp.Compare(a.ID, b.ID))
}

func trust(s Speaker) int {
	switch s {
	case ByUser:
		return 0
	case ByAssistant:
		return 1
	}
	return 2
}
