package fleet

import (
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// The wait after a delivery that failed: it doubles, from a quarter of a second
// to ten.
const (
	firstWait = 250 * time.Millisecond
	lastWait  = 10 * time.Second
)

func newWait() *backoff.ExponentialBackOff {
	b := &backoff.ExponentialBackOff{InitialInterval: firstWait, RandomizationFactor: 0.3, Multiplier: 2, MaxInterval: lastWait}
	b.Reset()
	return b
}

// later holds back the scopes whose last delivery failed, so that one that the
// shared store won't take doesn't keep the others waiting.
type later struct {
	mu    sync.Mutex
	until map[scopeKey]retry
}

type retry struct {
	at   time.Time
	wait *backoff.ExponentialBackOff
}

func (l *later) waits(k scopeKey, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Before(l.until[k].at)
}

func (l *later) failed(k scopeKey, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := l.until[k]
	if r.wait == nil {
		r.wait = newWait()
	}
	r.at = now.Add(r.wait.NextBackOff())
	l.until[k] = r
}

func (l *later) good(k scopeKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.until, k)
}
