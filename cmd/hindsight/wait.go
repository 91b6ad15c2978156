package main

import (
	"context"
	"fmt"
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

// until waits 20 s for a condition.
func until(ctx context.Context, not string, done func() bool) error {
	return untilWithin(ctx, 20*time.Second, not, done)
}

func untilWithin(ctx context.Context, most time.Duration, not string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for !done() {
		if wait(ctx, 20*time.Millisecond) != nil {
			return fmt.Errorf("after %v, %s", most, not)
		}
	}
	return nil
}
