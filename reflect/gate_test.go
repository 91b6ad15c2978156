package hreflect

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// However many jobs there are, no more compute at a time than there are places;
// while one waits for a model, another has its place.
func TestTheGateBoundsWhatComputes(t *testing.T) {
	g := make(gate, 2)
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
	if len(g) != 0 {
		t.Errorf("%d places are still taken", len(g))
	}
}

func TestTheGateEndsWithItsContext(t *testing.T) {
	g := make(gate, 1)
	_, leave, err := g.enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := g.enter(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a job that is to end waits: %v", err)
	}
	leave()
	ran := false
	if away(t.Context(), func() { ran = true }); !ran || len(g) != 0 {
		t.Error("what has no place can't be away from it")
	}
}
