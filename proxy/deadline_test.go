package proxy

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A deadline ends like one of the standard library's, whoever asks first.
func TestDeadline(t *testing.T) {
	d := newDeadline(time.Hour)
	if d.Err() != nil || d.timed != nil {
		t.Errorf("it has ended, or has a timer that nobody asked for: %v", d.Err())
	}
	derived, cancel := context.WithCancel(d)
	defer cancel()
	d.stop()
	if <-derived.Done(); !errors.Is(derived.Err(), context.Canceled) || !errors.Is(d.Err(), context.Canceled) {
		t.Errorf("stopped: %v, derived %v", d.Err(), derived.Err())
	}

	d = newDeadline(time.Hour)
	d.stop()
	if <-d.Done(); !errors.Is(d.Err(), context.Canceled) {
		t.Errorf("stopped before anybody asked: %v", d.Err())
	}

	d = newDeadline(-time.Second)
	if !errors.Is(d.Err(), context.DeadlineExceeded) {
		t.Errorf("past: %v", d.Err())
	}
	if <-d.Done(); !errors.Is(d.Err(), context.DeadlineExceeded) {
		t.Errorf("past, with its timer: %v", d.Err())
	}

	d = newDeadline(10 * time.Millisecond)
	<-d.Done()
	if at, ok := d.Deadline(); !ok || time.Now().Before(at) || !errors.Is(d.Err(), context.DeadlineExceeded) {
		t.Errorf("waited for: %v", d.Err())
	}
}
