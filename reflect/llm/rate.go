package llm

import (
	"net/http"
	"strconv"
	"time"
)

// Room is what an upstream says is left of a credential's rate: the smallest
// share of any of its limits, from 0 to 1, and how long until that one is new.
type Room struct {
	Share float64
	Reset time.Duration // 0: not said
}

// RoomOf reads the rate-limit headers of an answer; false where there are none.
// OpenAI's and those that copy it have x-ratelimit-remaining-requests beside
// -limit- and -reset-, Anthropic anthropic-ratelimit-requests-remaining.
func RoomOf(h http.Header, now time.Time) (Room, bool) {
	least, found := Room{Share: 1}, false
	for _, n := range rateHeaders() {
		limit, ok := count(h, n[0])
		left, also := count(h, n[1])
		if !ok || !also || limit <= 0 {
			continue
		}
		found = true
		if share := min(1, max(0, left/limit)); share < least.Share {
			least = Room{share, reset(h, n[2], now)}
		}
	}
	return least, found
}

// rateHeaders are the names of limit, remaining and reset, as net/http has them.
func rateHeaders() [8][3]string {
	return [8][3]string{
		{"X-Ratelimit-Limit-Requests", "X-Ratelimit-Remaining-Requests", "X-Ratelimit-Reset-Requests"},
		{"X-Ratelimit-Limit-Tokens", "X-Ratelimit-Remaining-Tokens", "X-Ratelimit-Reset-Tokens"},
		{"X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset"},
		{"Anthropic-Ratelimit-Requests-Limit", "Anthropic-Ratelimit-Requests-Remaining", "Anthropic-Ratelimit-Requests-Reset"},
		{"Anthropic-Ratelimit-Tokens-Limit", "Anthropic-Ratelimit-Tokens-Remaining", "Anthropic-Ratelimit-Tokens-Reset"},
		{"Anthropic-Ratelimit-Input-Tokens-Limit", "Anthropic-Ratelimit-Input-Tokens-Remaining", "Anthropic-Ratelimit-Input-Tokens-Reset"},
		{"Anthropic-Ratelimit-Output-Tokens-Limit", "Anthropic-Ratelimit-Output-Tokens-Remaining", "Anthropic-Ratelimit-Output-Tokens-Reset"},
		{"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset"},
	}
}

func count(h http.Header, name string) (float64, bool) {
	v := h[name]
	if len(v) == 0 {
		return 0, false
	}
	n, err := strconv.ParseFloat(v[0], 64)
	return n, err == nil
}

// reset reads a duration (6m0s), a date, or a number of seconds, of Unix
// seconds or of Unix milliseconds: servers disagree, and the sizes tell.
func reset(h http.Header, name string, now time.Time) time.Duration {
	v := h.Get(name)
	if d, err := time.ParseDuration(v); err == nil && d > 0 {
		return d
	}
	if at, err := time.Parse(time.RFC3339, v); err == nil {
		return max(0, at.Sub(now))
	}
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil || n <= 0:
		return 0
	case n < 1e8:
		return time.Duration(n * float64(time.Second))
	case n < 1e11:
		return max(0, time.Unix(int64(n), 0).Sub(now))
	case n < 1e14:
		return max(0, time.UnixMilli(int64(n)).Sub(now))
	}
	return 0
}

// RetryAfter is how long an answer's server wants to be left alone, 0 where it
// doesn't say.
func RetryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms, 86400e3) * float64(time.Millisecond))
	}
	return retryAfter(h.Get("Retry-After"), now)
}
