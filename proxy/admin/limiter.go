package admin

import (
	"sync"
	"time"
)

const (
	maxFails  = 10          // wrong tokens that a peer may show at once
	failEvery = time.Second // after which one more is allowed
	maxPeers  = 1024        // peers that are remembered
)

// Limiter bounds how fast a peer can try tokens. A peer that tries too fast is
// refused whatever it shows; the owner's socket stays open.
type Limiter struct {
	now func() time.Time
	mu  sync.Mutex
	// clear holds, for each peer, when all its failures are forgiven: each one
	// moves the time on by failEvery.
	clear map[string]time.Time
}

// NewLimiter is one that nobody has failed yet.
func NewLimiter(now func() time.Time) *Limiter {
	return &Limiter{now: now, clear: map[string]time.Time{}}
}

// Wait is how long a peer must wait before it may try again; 0: not at all.
func (l *Limiter) Wait(peer string) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, known := l.clear[peer]
	if !known {
		return 0
	}
	return max(0, at.Add(-(maxFails-1)*failEvery).Sub(l.now()))
}

// Failed notes a wrong token.
func (l *Limiter) Failed(peer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if len(l.clear) >= maxPeers {
		for p, at := range l.clear {
			if !at.After(now) {
				delete(l.clear, p)
			}
		}
	}
	if len(l.clear) >= maxPeers {
		clear(l.clear) // a flood of peers: forgetting is better than growing
	}
	from := l.clear[peer]
	if from.Before(now) {
		from = now
	}
	l.clear[peer] = from.Add(failEvery)
}
