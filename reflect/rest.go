package hreflect

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"hindsight/reflect/llm"
)

// When a provider's own figures say that a credential's rate runs short, its
// callers need it more than we do.
const (
	lowShare  = 0.2 // of a limit that must be left
	restUntil = time.Minute
	restMost  = time.Hour
)

// rests are the credentials that are to be left alone, by a hash: after a 429,
// or while little of their rate is left. What one job or one of the callers'
// own requests was told holds for all of reflection. The callers come first.
type rests struct {
	mu    sync.Mutex
	until map[[sha256.Size]byte]rest
}

type rest struct {
	until time.Time
	low   bool // no refusal, only little left: better news ends it
}

// hear takes what an answer says. least is how long a refusal holds that names
// no time.
func (r *rests) hear(key [sha256.Size]byte, status int, h http.Header, now time.Time, least time.Duration) {
	if status == http.StatusTooManyRequests {
		r.set(key, rest{until: now.Add(max(llm.RetryAfter(h, now), least))}, now)
		return
	}
	room, ok := llm.RoomOf(h, now)
	switch {
	case !ok:
	case room.Share < lowShare:
		wait := restUntil
		if room.Reset > 0 {
			wait = min(room.Reset, restMost)
		}
		r.set(key, rest{until: now.Add(wait), low: true}, now)
	default:
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.until[key].low {
			delete(r.until, key)
		}
	}
}

// note reads an error of a call of our own.
func (r *rests) note(e llm.Endpoint, err error, now time.Time, least time.Duration) {
	var refused *llm.Error
	if !errors.As(err, &refused) || refused.Status != http.StatusTooManyRequests || refused.Kind != llm.Retryable {
		return
	}
	r.set(restKey(e), rest{until: now.Add(max(refused.After, least))}, now)
}

// set lets a credential rest. A refusal isn't shortened by figures.
func (r *rests) set(key [sha256.Size]byte, is rest, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.until == nil {
		r.until = map[[sha256.Size]byte]rest{}
	}
	for k, was := range r.until { // those that are over
		if !was.until.After(now) {
			delete(r.until, k)
		}
	}
	if was := r.until[key]; is.low && !was.low && was.until.After(is.until) {
		return
	}
	r.until[key] = is
}

// resting says until when an endpoint isn't to be asked; the zero time means
// that it may be.
func (r *rests) resting(e llm.Endpoint, now time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if is := r.until[restKey(e)]; is.until.After(now) {
		return is.until
	}
	return time.Time{}
}

// restKey names a credential wherever it stands in a request; an endpoint
// without one by its address.
func restKey(e llm.Endpoint) [sha256.Size]byte {
	if e.Value == "" {
		return sha256.Sum256([]byte("at " + e.Base))
	}
	return credentialKey(e.Value)
}

func credentialKey(value string) [sha256.Size]byte {
	if len(value) > 7 && strings.EqualFold(value[:7], "bearer ") {
		value = value[7:]
	}
	return sha256.Sum256([]byte("key " + value))
}

// Answered takes what an upstream said of a credential's rate in its answer to a
// caller's own request: sent are that request's headers as they went out. It
// doesn't block, and does next to nothing where the answer says nothing.
func (r *Runner) Answered(sent http.Header, status int, got http.Header) {
	if status != http.StatusTooManyRequests {
		if _, ok := llm.RoomOf(got, time.Time{}); !ok {
			return
		}
	}
	for _, name := range []string{"Authorization", "X-Api-Key", "Api-Key"} {
		if v := sent[name]; len(v) > 0 && v[0] != "" {
			r.rests.hear(credentialKey(v[0]), status, got, r.cfg.Now(), r.cfg.Backoff)
			return
		}
	}
}
