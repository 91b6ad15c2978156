package fleet

import (
	"errors"
	"strings"
	"sync"
	"time"
)

// refused is the error of what the shared store has answered and not taken, as one
// whose disk is full does. It can still be read.
type refused struct{ error }

func isRefused(err error) bool {
	var r refused
	return errors.As(err, &r)
}

// refusal remembers that the shared store takes nothing of what waits.
type refusal struct {
	mu    sync.Mutex
	since time.Time // zero: it does
	why   string
}

func (r *refusal) note(err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.why, _, _ = strings.Cut(err.Error(), "\n") // every scope has its own, and they are alike
	if r.since.IsZero() {
		r.since = now
	}
}

func (r *refusal) over() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.since, r.why = time.Time{}, ""
}

// Refused says why the shared store takes nothing of what waits for it, and for
// how long it has been so; empty where it does.
func (f *Fleet) Refused() (why string, lasts time.Duration) {
	r := &f.refusal
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		return "", 0
	}
	return r.why, f.cfg.Now().Sub(r.since)
}
