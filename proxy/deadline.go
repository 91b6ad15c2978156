package proxy

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time or by stop. Its timer is made when
// somebody waits for it: most requests only ask whether it has ended.
type deadline struct {
	at time.Time

	mu      sync.Mutex
	stopped bool
	timed   context.Context // made by the first Done
	cancel  context.CancelFunc
}

func newDeadline(in time.Duration) *deadline { return &deadline{at: time.Now().Add(in)} }

func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

func (d *deadline) Value(any) any { return nil }

func (d *deadline) Done() <-chan struct{} { return d.timer().Done() }

// AfterFunc lets contexts be derived without a goroutine each.
func (d *deadline) AfterFunc(f func()) func() bool { return context.AfterFunc(d.timer(), f) }

func (d *deadline) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.timed != nil:
		return d.timed.Err()
	case d.stopped:
		return context.Canceled
	case !time.Now().Before(d.at):
		return context.DeadlineExceeded
	}
	return nil
}

func (d *deadline) timer() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timed == nil {
		d.timed, d.cancel = context.WithDeadline(context.Background(), d.at)
		if d.stopped {
			d.cancel()
		}
	}
	return d.timed
}

// stop ends the context and gives its timer back.
func (d *deadline) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
	if d.cancel != nil {
		d.cancel()
	}
}
