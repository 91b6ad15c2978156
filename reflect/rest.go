package hreflect

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"sync"
	"time"

	"hindsight/reflect/llm"
)

// rests are the credentials that a provider wants to be left alone with after
// a 429, by a hash: what one job was told holds for the next one too. The
// callers' own requests come first.
type rests struct {
	mu    sync.Mutex
	until map[[sha256.Size]byte]time.Time
}

// note reads an error of a call.
func (r *rests) note(e llm.Endpoint, err error, now time.Time, least time.Duration) {
	var refused *llm.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || refused.Kind != llm.Retryable {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = map[[sha256.Size]byte]time.Time{}
	}
	for k, at := range r.until { // those that are over
		if !at.After(now) {
			delete(r.until, k)
		}
	}
	r.until[restKey(e)] = now.Add(max(refused.After, least))
}

// resting says until when an endpoint isn't to be asked; the zero time means
// that it may be.
func (r *rests) resting(e llm.Endpoint, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at := r.until[restKey(e)]; at.After(now) {
		return at
	}
	return time.Time{}
}

func restKey(e llm.Endpoint) [sha256.Size]byte {
	return sha256.Sum256([]byte(e.Base + "\x00" + e.Value))
}
