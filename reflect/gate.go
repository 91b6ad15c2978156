package hreflect

import (
	"context"
	"runtime"
	"time"
)

// gate bounds what jobs compute. As many compute at a time as half of the
// processors, one at least, whatever the number of workers; the others are left to
// requests. A job holds a place from its claim to its end, but not while it waits for
// a model, which is most of its time. What it computes is cut into pieces besides
// (an exchange, an event, an item of an answer, a candidate), between which
// whatever else can run does, so that one processor serves both. And while requests
// are under way a place rests after it was used: see busyRest.
type gate struct {
	places chan *place
	busy   func() bool
}

// place is the right to compute.
type place struct {
	since time.Time // when it was taken
	rests time.Time // until then, while requests are under way
}

// While requests are under way a place rests for so many times what was computed with
// it: it takes a twentieth of a processor then. A model takes a hundred times as
// long as what is computed around it, so that a job waits for its place only when
// many are due.
const busyRest = 19

// restLongest bounds a rest: most of what took so long was waiting.
const restLongest = time.Second

// restLook is how often a place that rests looks whether requests are still under way.
const restLook = 20 * time.Millisecond

// newGate makes a gate. busy says whether requests are under way; nil: never.
func newGate(busy func() bool) *gate {
	if busy == nil {
		busy = func() bool { return false }
	}
	n := max(1, runtime.GOMAXPROCS(0)/2)
	g := &gate{places: make(chan *place, n), busy: busy}
	for range n {
		g.places <- &place{}
	}
	return g
}

// heldKey is where a context says that its job holds a place.
type heldKey struct{}

// held is what a job has of a gate.
type held struct {
	gate  *gate
	place *place
}

// enter waits for a place. The context that it returns is the job's; leave gives
// the place up. The error is ctx's.
func (g *gate) enter(ctx context.Context) (mine context.Context, leave func(), err error) {
	h := &held{gate: g}
	if err := h.take(ctx); err != nil {
		return ctx, func() {}, err
	}
	return context.WithValue(ctx, heldKey{}, h), h.giveUp, nil
}

func (h *held) take(ctx context.Context) error {
	select {
	case h.place = <-h.gate.places:
	case <-ctx.Done():
		return ctx.Err()
	}
	for left := time.Until(h.place.rests); left > 0 && h.gate.busy(); left = time.Until(h.place.rests) {
		select {
		case <-time.After(min(left, restLook)):
		case <-ctx.Done():
			h.gate.places <- h.place
			return ctx.Err()
		}
	}
	h.place.since = time.Now()
	return nil
}

func (h *held) giveUp() {
	now := time.Now()
	h.place.rests = now.Add(min(busyRest*now.Sub(h.place.since), restLongest))
	h.gate.places <- h.place
}

// away runs what only waits, without the place that the job holds, if it does. It
// must hold no lock that another job may want before it leaves its own place.
func away(ctx context.Context, do func()) {
	h, ok := ctx.Value(heldKey{}).(*held)
	if !ok {
		do()
		return
	}
	h.giveUp()
	defer func() { _ = h.take(context.WithoutCancel(ctx)) }() // soon: nobody waits inside
	do()
}
