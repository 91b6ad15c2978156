package session

import (
	"net/http"
	"strconv"
	"time"

	"hindsight/store"
)

const (
	// retryWithin is how long after the end of a failed request the same body
	// is taken for its retry.
	retryWithin = time.Minute
	// announcedWithin is the same for a client that says it retries, from the
	// beginning of the earlier request: its timeout may have been long.
	announcedWithin = 15 * time.Minute
)

// attempt is one exchange as its client tries it, maybe more than once. A body
// that is sent twice at once is two attempts: fifty conversations may open
// with the same words in parallel. Tracker.mu guards it.
type attempt struct {
	exchange, session string
	grown             *growth // of which its message is a later form
	continues         bool    // its session had an answer before
	heard             int     // see work.heard
	tries             int
	flying            bool
	complete          bool // a whole 2xx answer has come
	at                time.Time
}

// attemptsKept bounds the attempts of one body.
const attemptsKept = 128

// retryCount reads the number of retries that a Stainless SDK announces.
func retryCount(h http.Header) int {
	v := h.Get("X-Stainless-Retry-Count")
	if v == "" {
		return 0 // most requests: an error costs
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0
	}
	return n
}

// retried finds the attempt that a request repeats, nil if it is none's
// repetition. The caller holds mu.
func (k *Tracker) retried(body store.Hash, announced bool, now time.Time) *attempt {
	all, _ := k.attempts.get(body)
	for _, a := range all {
		if !a.flying && !a.complete && now.Sub(a.at) <= retryWithin {
			return a
		}
	}
	if !announced {
		return nil
	}
	for i := len(all) - 1; i >= 0; i-- {
		if now.Sub(all[i].at) <= announcedWithin {
			return all[i]
		}
	}
	return nil
}

// try begins a try of an attempt, a new one if a is nil, and returns which try
// it is. The caller holds mu.
func (k *Tracker) try(a *attempt, body store.Hash, session string, now time.Time) (*attempt, int) {
	if a == nil {
		a = &attempt{exchange: newExchangeID(session), session: session}
		all, _ := k.attempts.get(body)
		fresh := make([]*attempt, 0, len(all)+1)
		for _, b := range all {
			if b.flying || now.Sub(b.at) <= announcedWithin {
				fresh = append(fresh, b)
			}
		}
		fresh = append(fresh, a)
		k.attempts.put(body, fresh[max(0, len(fresh)-attemptsKept):])
	}
	a.tries++
	a.flying, a.at = true, now
	return a, a.tries
}

// over ends a try and says whether its answer is to be recorded under the
// exchange: not if it came to nothing while another try has had the whole
// answer or is on its way. The caller holds mu.
func (a *attempt) over(try int, complete bool, now time.Time) bool {
	latest, had := try == a.tries, a.complete
	if latest {
		a.flying = false
	}
	a.complete, a.at = had || complete, now
	return complete || latest && !had
}
