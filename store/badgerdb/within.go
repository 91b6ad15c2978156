package badgerdb

import (
	"context"
	"fmt"
	"runtime/debug"
)

// readsAtOnce bounds the reads that requests wait for. Where the disk doesn't
// answer, those that nobody waits for any more pile up to here and no further.
const readsAtOnce = 256

// within is view for a read that a request waits for: it returns when ctx ends,
// with its cause, and leaves a read that hangs on the disk behind. fn's result
// must be its own. A panic of fn is the caller's, as it is with view.
func within[T any](ctx context.Context, s *Store, fn func(view) (T, error)) (T, error) {
	type outcome struct {
		value    T
		err      error
		panicked any
	}
	var none T
	select {
	case s.reads <- struct{}{}:
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
	done := make(chan outcome, 1)
	go func() {
		defer func() { <-s.reads }()
		var o outcome
		defer func() {
			if r := recover(); r != nil {
				o.panicked = fmt.Sprintf("%v\n%s", r, debug.Stack())
			}
			done <- o
		}()
		o.err = s.view(func(v view) (err error) {
			o.value, err = fn(v)
			return err
		})
	}()
	select {
	case o := <-done:
		if o.panicked != nil {
			panic(o.panicked)
		}
		return o.value, o.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}
