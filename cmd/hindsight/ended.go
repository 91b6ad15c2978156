package main

import (
	"context"

	"hindsight/proxy"
	"hindsight/store"
)

// ended records exchanges, lets reflection hear what users ask for in them, and
// tells it of sessions that their clients ended, once that is on disk: they
// needn't wait for the next tick.
type ended struct {
	proxy.Recorder
	heard func(*store.Exchange)
	news  chan struct{} // one that nobody has heard yet is enough
}

var _ proxy.Recorder = ended{}

func newEnded(r proxy.Recorder, heard func(*store.Exchange)) ended {
	return ended{r, heard, make(chan struct{}, 1)}
}

// Finish never blocks.
func (e ended) Finish(x *store.Exchange) {
	e.heard(x) // before: what is recorded belongs to the recorder
	e.Recorder.Finish(x)
	if !x.SessionInfo.End {
		return
	}
	select {
	case e.news <- struct{}{}:
	default:
	}
}

// tell calls wake after each commit of an ended session, until ctx ends.
func (e ended) tell(ctx context.Context, flush func(context.Context) error, wake func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.news:
		}
		if flush(ctx) == nil { // else memory is off, and the tick finds it later
			wake()
		}
	}
}
