package badgerdb

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"hindsight/store"
)

// history does random things at three sidecars that hear of each other late,
// in any order and more than once, and that are opened anew in between.
type history struct {
	t     *testing.T
	rnd   *rand.Rand
	clock *clock
	all   []running
	cloud *cloud
	ids   []string
	said  int
}

func (h *history) step() {
	t, at := h.t, h.rnd.IntN(len(h.all))
	s := h.all[at].Store
	h.clock.add(time.Duration(h.rnd.IntN(3)) * time.Second)
	id := "none"
	if len(h.ids) > 0 {
		id = h.ids[h.rnd.IntN(len(h.ids))]
	}
	var err error
	switch h.rnd.IntN(12) {
	case 0, 1, 2:
		h.said++
		m := written(fmt.Sprint("fact ", h.said))
		m.Evidence = []store.Evidence{{Session: fmt.Sprint("s", h.rnd.IntN(3)), Turn: h.said, Quote: fmt.Sprint("quote ", h.said), Time: h.clock.now()}}
		h.ids = append(h.ids, put(t, s, m).ID)
	case 3:
		h.said++
		_, err = s.EditMemory(t.Context(), id, func(m *store.Memory) error { m.Text = fmt.Sprint("edited ", h.said); return nil })
	case 4:
		_, err = s.EditMemory(t.Context(), id, func(m *store.Memory) error { m.Importance += 0.01; m.LastVerified = h.clock.now(); return nil })
	case 5:
		_, err = s.ForgetMemory(t.Context(), id)
	case 6:
		if h.rnd.IntN(3) == 0 {
			_, err = s.EraseMemory(t.Context(), id)
		} else {
			_, err = s.ForgetMemory(t.Context(), id)
		}
	case 7:
		_, err = s.RestoreMemory(t.Context(), id, 0)
	case 8:
		h.said++
		x := said(ann, fmt.Sprint("s", h.rnd.IntN(3)), fmt.Sprint("x", h.said), fmt.Sprint("words ", h.said), h.clock.now())
		x.Turn = h.said
		tell(t, s, x)
	case 9:
		h.cloud.deliver(s)
	case 10:
		h.cloud.give(s, func(string, string) int { return h.rnd.IntN(3) - 1 })
	case 11:
		if h.rnd.IntN(4) == 0 {
			cfg := s.cfg
			h.all[at].stop()
			h.all[at] = open(t, cfg)
		} else {
			h.reflect(s)
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		t.Fatal(err)
	}
}

// reflect reflects what is due, if the session's exchanges are here.
func (h *history) reflect(s *Store) {
	session := fmt.Sprint("s", h.rnd.IntN(3))
	_, ok, err := s.Enqueue(h.t.Context(), ann, session, store.TriggerExplicit)
	if errors.Is(err, store.ErrNotFound) || !ok && err == nil {
		return
	}
	if err != nil {
		h.t.Fatal(err)
	}
	for {
		j, ok, err := s.Claim(h.t.Context(), "holder", time.Minute)
		if err != nil {
			h.t.Fatal(err)
		}
		if !ok {
			return
		}
		h.said++
		m := written(fmt.Sprint("learned ", h.said))
		m.ID, m.Evidence = fmt.Sprint("learned", h.said), []store.Evidence{{Session: session, Turn: h.said, Quote: fmt.Sprint("quote ", h.said), Time: h.clock.now()}}
		h.ids = append(h.ids, m.ID)
		must[store.Job](h.t)(s.Apply(h.t.Context(), j, store.Outcome{Memories: []store.Memory{m}, Verdicts: []store.Verdict{{ID: h.ids[0], Verdict: store.VerdictUsed}}}))
	}
}

func TestAnyHistoryOfAFleetEndsInOneState(t *testing.T) {
	t.Parallel()
	seeds := 8
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			c := newClock()
			h := &history{t: t, rnd: rand.New(rand.NewPCG(uint64(seed), 7)), clock: c, all: sidecars(t, 3, c), cloud: newCloud(t)}
			for range 120 {
				h.step()
			}
			h.cloud.settle(h.all...)
			first := stateOf(t, h.all[0].Store)
			for i, s := range h.all[1:] {
				if d := gocmp.Diff(first, stateOf(t, s.Store)); d != "" {
					t.Fatalf("sidecars 0 and %d differ:\n%s", i+1, d)
				}
			}
			for _, m := range first.Memories {
				shared, ok := h.cloud.memories[m.ID]
				if !ok || shared.Memory.Digest() != m.Digest() {
					t.Errorf("%s is shared: %v, otherwise", m.Text, ok)
				}
			}
			if len(h.cloud.memories) != len(first.Memories) {
				t.Errorf("%d memories are shared, %d are here", len(h.cloud.memories), len(first.Memories))
			}
		})
	}
}

// sharedState is what a fleet must agree on.
type sharedState struct {
	Memories  []store.Memory
	Exchanges map[string]bool // by id: it is no material any more
	Stones    int
	Gone      map[string]bool
}

func stateOf(t testing.TB, s *Store) sharedState {
	t.Helper()
	st := sharedState{Exchanges: map[string]bool{}, Gone: map[string]bool{}}
	ms, _, err := s.ScopeMemories(t.Context(), "acme", ann.Scope())
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(ms, func(a, b store.Memory) int { return cmp.Compare(a.ID, b.ID) })
	for _, m := range ms {
		m.Evidence = slices.SortedFunc(slices.Values(m.Evidence), func(a, b store.Evidence) int { return cmp.Compare(a.Quote, b.Quote) })
		st.Gone[m.ID] = s.Gone(m.ID)
		st.Memories = append(st.Memories, m)
	}
	for i := range 3 {
		session := fmt.Sprint("s", i)
		x, err := s.Session(t.Context(), ann, session)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		for _, e := range must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, session, 0, 0)) {
			st.Exchanges[e.ID] = e.Seq <= x.Cursor || len(e.Events) == 0
		}
		tokens := 0
		for _, e := range must[[]store.Exchange](t)(s.Exchanges(t.Context(), ann, session, x.Cursor, 0)) {
			if len(e.Events) > 0 {
				tokens += e.Tokens
			}
		}
		if tokens != x.NewTokens {
			t.Errorf("session %s says %d new tokens, has %d", session, x.NewTokens, tokens)
		}
	}
	err = s.view(func(v view) error {
		for r := range v.rows([]byte{famForgotten}, nil) {
			var x tombstone
			if err := r.into(&x); err != nil {
				return err
			}
			if x.stands() {
				st.Stones++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return st
}
