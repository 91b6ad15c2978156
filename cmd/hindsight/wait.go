package main

import (
	"context"
	"errors"
	"time"
)

// wait sleeps, unless ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// until waits for a condition.
func until(ctx context.Context, not string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for !done() {
		if wait(ctx, 20*time.Millisecond) != nil {
			return errors.New("after 20 s, " + not)
		}
	}
	return nil
}
