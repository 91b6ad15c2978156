package llm

import (
	"net/http"
	"testing"
	"time"
)

func TestRoomOf(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		headers map[string]string
		want    Room
		ok      bool
	}{
		"none":        {map[string]string{"X-Request-Id": "1"}, Room{Share: 1}, false},
		"half a pair": {map[string]string{"x-ratelimit-remaining-tokens": "1"}, Room{Share: 1}, false},
		"openai": {map[string]string{
			"x-ratelimit-limit-requests": "100", "x-ratelimit-remaining-requests": "90", "x-ratelimit-reset-requests": "1s",
			"x-ratelimit-limit-tokens": "1000", "x-ratelimit-remaining-tokens": "100", "x-ratelimit-reset-tokens": "6m0s",
		}, Room{0.1, 6 * time.Minute}, true},
		"anthropic": {map[string]string{
			"anthropic-ratelimit-input-tokens-limit": "50000", "anthropic-ratelimit-input-tokens-remaining": "0",
			"anthropic-ratelimit-input-tokens-reset": "2026-11-30T12:00:30Z",
		}, Room{0, 30 * time.Second}, true},
		"unix seconds":      {map[string]string{"x-ratelimit-limit": "10", "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1796040060"}, Room{0.1, time.Minute}, true},
		"unix milliseconds": {map[string]string{"x-ratelimit-limit": "10", "x-ratelimit-remaining": "1", "x-ratelimit-reset": "1796040060000"}, Room{0.1, time.Minute}, true},
		"seconds":           {map[string]string{"ratelimit-limit": "10", "ratelimit-remaining": "1", "ratelimit-reset": "60"}, Room{0.1, time.Minute}, true},
		"full":              {map[string]string{"ratelimit-limit": "10", "ratelimit-remaining": "10", "ratelimit-reset": "soon"}, Room{Share: 1}, true},
	} {
		h := http.Header{}
		for k, v := range c.headers {
			h.Set(k, v)
		}
		if got, ok := RoomOf(h, now); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v %v, want %+v %v", name, got, ok, c.want, c.ok)
		}
	}
	h := http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}}
	if d := RetryAfter(h, now); d != 1500*time.Millisecond {
		t.Errorf("retry after %s", d)
	}
}
