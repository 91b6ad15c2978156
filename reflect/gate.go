package hreflect

import (
	"context"
	"runtime"
)

// gate bounds how many jobs compute at a time: as many as half of the processors,
// one at least, whatever the number of workers. The others are left to requests.
// A job holds a place from its claim to its end, but not while it waits for a
// model, which is most of its time. What it computes is cut into pieces besides
// (an exchange, an event, an item of an answer, a candidate), between which
// whatever else can run does, so that one processor serves both.
type gate chan struct{}

func newGate() gate { return make(gate, max(1, runtime.GOMAXPROCS(0)/2)) }

// placeKey is where a context says that its job holds a place.
type placeKey struct{}

// enter waits for a place. The context that it returns is the job's; leave gives
// the place up. The error is ctx's.
func (g gate) enter(ctx context.Context) (mine context.Context, leave func(), err error) {
	select {
	case g <- struct{}{}:
		return context.WithValue(ctx, placeKey{}, g), func() { <-g }, nil
	case <-ctx.Done():
		return ctx, func() {}, ctx.Err()
	}
}

// away runs what only waits, without the place that the job holds, if it does. It
// must hold no lock that another job may want before it leaves its own place.
func away(ctx context.Context, do func()) {
	g, ok := ctx.Value(placeKey{}).(gate)
	if !ok {
		do()
		return
	}
	<-g
	defer func() { g <- struct{}{} }() // soon: nobody waits inside
	do()
}
