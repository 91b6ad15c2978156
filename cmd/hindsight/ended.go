package main

import (
	"context"

	"hindsight/proxy"
	"hindsight/reflect/extract"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

// counted is the store, and tells reflection what each exchange sent: what it
// may cost follows from that.
type counted struct {
	*badgerdb.Store
	sent func(x *store.Exchange)
}

// Finish never blocks.
func (c counted) Finish(x *store.Exchange) {
	c.sent(x)
	if x.SessionInfo.Trial != "" {
		x.SessionInfo.Corrections = corrections(x)
	}
	c.Store.Finish(x)
}

// corrections counts the messages that put right what the model had said.
func corrections(x *store.Exchange) int {
	n := 0
	for _, e := range x.Events {
		if e.Kind == store.UserInput && e.Turn > 1 && extract.PutsRight(e.Text) {
			n++
		}
	}
	return n
}

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
