package hreflect

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However many jobs there are, no more compute at a time than there are places;
// while one waits for a model, another has its place.
func TestTheGateBoundsWhatComputes(t *testing.T) {
	g := newGate(nil)
	g.places = make(chan *place, 2)
	g.places <- &place{}
	g.places <- &place{}
	var inside, most, waiting atomic.Int32
	all := make(chan struct{})
	compute := func() {
		n := inside.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		inside.Add(-1)
	}
	var jobs sync.WaitGroup
	for range 8 {
		jobs.Go(func() {
			mine, leave, err := g.enter(t.Context())
			if err != nil {
				t.Error(err)
				return
			}
			defer leave()
			compute()
			away(mine, func() {
				if waiting.Add(1) == 8 {
					close(all)
				}
				<-all // each waits until all do
			})
			compute()
		})
	}
	jobs.Wait()
	if most.Load() > 2 {
		t.Errorf("%d computed at a time", most.Load())
	}
	if len(g.places) != 2 {
		t.Errorf("%d places are free, want 2", len(g.places))
	}
}

func TestTheGateEndsWithItsContext(t *testing.T) {
	g := newGate(nil)
	var leaves []func()
	for range cap(g.places) {
		_, leave, err := g.enter(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		leaves = append(leaves, leave)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := g.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a job that is to end waits: %v", err)
	}
	for _, leave := range leaves {
		leave()
	}
	ran := false
	if away(t.Context(), func() { ran = true }); !ran || len(g.places) != cap(g.places) {
		t.Error("what has no place can't be away from it")
	}
}

// While requests are under way reflection computes for a twentieth of the time.
func TestReflectionRestsWhileRequestsAreUnderWay(t *testing.T) {
	const piece = 10 * time.Millisecond
	// jobs runs two workers' jobs, each with a piece before its model and one after
	// it, and returns how many ended in ten seconds.
	jobs := func(t *testing.T, busy func() bool, model time.Duration) (ended int) {
		g := newGate(busy)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		var done atomic.Int32
		var workers sync.WaitGroup
		for range 2 * cap(g.places) {
			workers.Go(func() {
				for {
					mine, leave, err := g.enter(ctx)
					if err != nil {
						return
					}
					time.Sleep(piece)
					away(mine, func() { time.Sleep(model) })
					time.Sleep(piece)
					leave()
					done.Add(1)
				}
			})
		}
		workers.Wait()
		if len(g.places) != cap(g.places) {
			t.Errorf("%d of %d places are free", len(g.places), cap(g.places))
		}
		return int(done.Load()) / cap(g.places)
	}
	always, never := func() bool { return true }, func() bool { return false }
	synctest.Test(t, func(t *testing.T) {
		if n := jobs(t, always, 0); n < 20 || n > 27 { // 20 ms of 400 for each
			t.Errorf("while requests are under way %d jobs ended for a place", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if n := jobs(t, never, 0); n < 450 {
			t.Errorf("while nobody asks %d jobs ended for a place", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		if n := jobs(t, always, 2*time.Second); n < 7 { // ten without a rest
			t.Errorf("with a model that takes its time %d jobs ended for a place", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		until := time.Now().Add(time.Second)
		if n := jobs(t, func() bool { return time.Now().Before(until) }, 0); n < 400 {
			t.Errorf("after a second of requests %d jobs ended for a place", n)
		}
	})
}
