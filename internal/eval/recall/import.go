package recall

import (
	"context"
	"fmt"
	"strings"

	"hindsight/store"
)

// Imported is a set whose units are memories.
type Imported struct {
	set    *Set
	memory map[key]string // the id of the memory that a unit became
}

type key struct{ corpus, unit string }

// Import writes the units of a set. Units of one text are one memory, as they
// would be for anybody who writes them.
func Import(ctx context.Context, w Writer, set *Set) (*Imported, error) {
	im := &Imported{set: set, memory: map[key]string{}}
	for _, c := range set.Corpora {
		made, err := w.PutMemories(ctx, memories(c))
		if err != nil {
			return nil, fmt.Errorf("write corpus %s: %w", c.Name, err)
		}
		for i, u := range c.Units {
			im.memory[key{c.Name, u.ID}] = made[i].ID
		}
	}
	return im, nil
}

// memories makes a memory of each unit. Type, importance and confidence are the
// same for all, so that none of them orders anything. A unit of a session is
// its own evidence, with the units beside it as the context; one without a
// session is a memory that somebody wrote, which has none.
func memories(c Corpus) []store.Memory {
	turn := make([]int, len(c.Units))
	sessions := map[string][]int{}
	for i, u := range c.Units {
		turn[i] = len(sessions[u.Session])
		sessions[u.Session] = append(sessions[u.Session], i)
	}
	out := make([]store.Memory, len(c.Units))
	for i, u := range c.Units {
		m := store.Memory{
			Tenant: tenant, Scope: owner(c).Scope(), Type: store.EventType, Text: u.said(),
			Importance: 0.5, Confidence: 1, AttributedTo: store.ByUser, CreatedAt: u.Time,
		}
		if u.Session != "" {
			beside := sessions[u.Session]
			var around []string
			for n := max(0, turn[i]-1); n <= min(len(beside)-1, turn[i]+1); n++ {
				around = append(around, c.Units[beside[n]].said())
			}
			m.Evidence = []store.Evidence{{
				Session: u.Session, Turn: turn[i], Quote: u.said(), Time: u.Time, Context: strings.Join(around, "\n"),
			}}
		}
		out[i] = m
	}
	return out
}

// said is a unit as it is read: who says it, and what.
func (u Unit) said() string {
	if u.Speaker == "" {
		return u.Text
	}
	return u.Speaker + ": " + u.Text
}
