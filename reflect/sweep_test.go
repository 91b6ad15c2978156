package hreflect_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	hreflect "hindsight/reflect"
	"hindsight/reflect/lifecycle"
	"hindsight/store"
)

// failing is a store that stops working after so many writes.
type failing struct {
	hreflect.SweepStore
	left int
}

var errStopped = errors.New("stopped")

func (f *failing) write() error {
	if f.left--; f.left < 0 {
		return errStopped
	}
	return nil
}

func (f *failing) Fade(ctx context.Context, tenant string, fates []store.Fate) ([]string, error) {
	if err := f.write(); err != nil {
		return nil, err
	}
	return f.SweepStore.Fade(ctx, tenant, fates)
}

func (f *failing) SetFact(ctx context.Context, name, value string) error {
	if err := f.write(); err != nil {
		return err
	}
	return f.SweepStore.SetFact(ctx, name, value)
}

// fill gives some users old events of little importance and one that matters.
func (h *house) fill(users, each int) {
	h.t.Helper()
	for u := range users {
		for i := range each {
			m := store.Memory{
				Tenant: "t", Scope: store.UserScope(fmt.Sprint("u", u)), Type: store.EventType, Text: fmt.Sprintf("Event %d of user %d.", i, u),
				Importance: 0.4, CreatedAt: h.clock.now().Add(-91 * 24 * time.Hour),
			}
			if i == 0 {
				m.Importance = 0.9
			}
			if _, _, err := h.PutMemory(h.t.Context(), m); err != nil {
				h.t.Fatal(err)
			}
		}
	}
}

// byState counts memories.
func (h *house) byState() map[store.State]int {
	h.t.Helper()
	all, err := h.Tenants(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	n := map[store.State]int{}
	for _, t := range all {
		for _, sc := range t.Scopes {
			for st, k := range sc.Memories {
				n[st] += k
			}
		}
	}
	maps.DeleteFunc(n, func(_ store.State, k int) bool { return k == 0 })
	return n
}

// Stopped before any of its writes, a sweep goes on where it was and comes to
// the same end; no memory is lost on the way.
func TestASweepThatIsStoppedGoesOn(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	const users, each = 3, 70 // two batches a scope
	h.fill(users, each)
	for stop := 0; ; stop++ {
		st := &failing{h.Store, stop}
		s := hreflect.NewSweeper(hreflect.SweepConfig{Forgetting: lifecycle.DefaultForgetting(), Now: h.clock.now}, st)
		swept, err := s.Sweep(t.Context(), "", false)
		if err == nil {
			if stop == 0 {
				t.Fatal("it was never stopped")
			}
			t.Logf("whole with %d writes, %d archived in the last run", stop, swept.Archived)
			break
		}
		if !errors.Is(err, errStopped) {
			t.Fatal(err)
		}
		n := h.byState()
		if n[store.Active]+n[store.Archived] != users*each || n[store.Active] < users {
			t.Fatalf("stopped before write %d: %v", stop+1, n)
		}
	}
	if d := cmp.Diff(map[store.State]int{store.Active: users, store.Archived: users * (each - 1)}, h.byState()); d != "" {
		t.Error(d)
	}
}

func TestASweepOfATenantDryAndByItself(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	h.fill(1, 10)
	before := h.byState()
	var gathered int
	s := hreflect.NewSweeper(hreflect.SweepConfig{
		Forgetting: lifecycle.DefaultForgetting(), Now: h.clock.now, Look: time.Millisecond,
		Gather: func(_ context.Context, all []store.Memory) error { gathered += len(all); return nil },
	}, h.Store)
	dry, err := s.Sweep(t.Context(), "t", true)
	if err != nil || dry.Archived != 9 || len(dry.Memories) != 9 || dry.Memories[0].Reason != lifecycle.TooOld || dry.Memories[0].Text == "" {
		t.Errorf("dry: %+v, %v", dry, err)
	}
	if d := cmp.Diff(before, h.byState()); d != "" || gathered != 0 {
		t.Errorf("a dry run changed something (%d gathered): %s", gathered, d)
	}
	if none, err := s.Sweep(t.Context(), "another", false); err != nil || none.Archived != 0 {
		t.Errorf("another tenant: %+v, %v", none, err)
	}
	ended := func() string {
		at, _, err := h.Fact(t.Context(), "sweep.ended")
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	day := func(want map[store.State]int) {
		t.Helper()
		was := ended()
		stop := background(t, s.Run)
		h.until("the sweep", func() bool { return ended() != was })
		stop()
		if d := cmp.Diff(want, h.byState()); d != "" {
			t.Error(d)
		}
	}
	day(map[store.State]int{store.Active: 1, store.Archived: 9})
	if gathered != 10 {
		t.Errorf("%d gathered", gathered)
	}
	// Not twice in a day.
	h.clock.add(24*time.Hour - time.Second)
	h.fill(1, 20) // a person who writes what was archived takes it back, and vouches for it
	stop := background(t, s.Run)
	select {
	case <-time.After(50 * time.Millisecond): // some fifty looks
	case <-t.Context().Done():
	}
	stop()
	if n := h.byState(); n[store.Active] != 20 {
		t.Errorf("twice in a day: %v", n)
	}
	h.clock.add(time.Second)
	day(map[store.State]int{store.Active: 10, store.Archived: 10})
	h.clock.add(90 * 24 * time.Hour)
	day(map[store.State]int{store.Active: 1, store.Archived: 19})
	// A year later the archive is emptied.
	h.clock.add(365 * 24 * time.Hour)
	day(map[store.State]int{store.Active: 1})
}

// One memory above the bound, and the lowest tenth goes.
func TestASweepByNumber(t *testing.T) {
	t.Parallel()
	h := newHouse(t, nil)
	f := lifecycle.DefaultForgetting()
	f.Most = 200
	for i := range f.Most + 1 {
		m := store.Memory{Tenant: "t", Scope: ann.Scope(), Type: store.UserFact, Text: fmt.Sprintf("Fact %d.", i), Importance: float64(i) / 201}
		if _, _, err := h.PutMemory(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}
	s := hreflect.NewSweeper(hreflect.SweepConfig{Forgetting: f, Now: h.clock.now}, h.Store)
	swept, err := s.Sweep(t.Context(), "t", false)
	if err != nil || swept.Archived != 21 {
		t.Errorf("%+v, %v", swept, err)
	}
	for _, m := range swept.Memories {
		if m.Reason != lifecycle.TooMany || m.Score > 0.5*21/201+0.3+0.001 {
			t.Errorf("%+v", m)
		}
	}
	if again, err := s.Sweep(t.Context(), "t", false); err != nil || again.Archived != 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
}
