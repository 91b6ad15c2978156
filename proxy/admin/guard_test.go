package admin

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// steady is a readiness that doesn't change.
func steady(ready bool, memory, reason string) func() (bool, string, string) {
	return func() (bool, string, string) { return ready, memory, reason }
}

// offStore is a store that can't be used. Nothing but State may be called.
type offStore struct{ Store }

func (offStore) State() (bool, string) {
	return false, "the directory is locked by process 7; stop it"
}

func guarded(t *testing.T, cfg Config) http.Handler {
	t.Helper()
	cfg.Store = offStore{}
	cfg.Ready = steady(true, "off", "locked")
	return New(cfg).Handler()
}

// send makes one request; edit may be nil.
func get(h http.Handler, path string, edit func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:8081"
	r.Header.Set("Authorization", "Bearer 0123456789abcdef")
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestGuard(t *testing.T) {
	h := guarded(t, Config{Token: "0123456789abcdef", Hosts: []string{"Memory.example.com", "other.example.com:9000"}})
	for _, c := range []struct {
		name string
		path string
		edit func(*http.Request)
		want int
	}{
		{"right token", "/openapi.json", nil, 200},
		{"no token", "/openapi.json", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"wrong token", "/openapi.json", func(r *http.Request) { r.Header.Set("Authorization", "Bearer 0123456789abcdeX") }, 401},
		{"half a token", "/openapi.json", func(r *http.Request) { r.Header.Set("Authorization", "Bearer 0123") }, 401},
		{"not a bearer", "/openapi.json", func(r *http.Request) { r.Header.Set("Authorization", "Basic 0123456789abcdef") }, 401},
		{"lower-case scheme", "/openapi.json", func(r *http.Request) { r.Header.Set("Authorization", "bearer 0123456789abcdef") }, 200},
		{"metrics want it too", "/metrics", func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		{"localhost", "/openapi.json", func(r *http.Request) { r.Host = "localhost:1" }, 200},
		{"IPv6", "/openapi.json", func(r *http.Request) { r.Host = "[::1]:8081" }, 200},
		{"rebound name", "/openapi.json", func(r *http.Request) { r.Host = "evil.example.com:8081" }, 403},
		{"name that begins well", "/openapi.json", func(r *http.Request) { r.Host = "127.0.0.1.evil.example.com" }, 403},
		{"no host", "/openapi.json", func(r *http.Request) { r.Host = "" }, 403},
		{"configured name", "/openapi.json", func(r *http.Request) { r.Host = "memory.EXAMPLE.com:8081" }, 200},
		{"configured name and port", "/openapi.json", func(r *http.Request) { r.Host = "other.example.com:9000" }, 200},
		{"configured name, another port", "/openapi.json", func(r *http.Request) { r.Host = "other.example.com:1" }, 403},
		{"own origin", "/openapi.json", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:8081") }, 200},
		{"other origin", "/openapi.json", func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:3000") }, 403},
		{"null origin", "/openapi.json", func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		{"probe by any name without a token", "/healthz", func(r *http.Request) { r.Host = "10.0.0.7"; r.Header.Del("Authorization") }, 200},
		{"readiness likewise", "/readyz", func(r *http.Request) { r.Host = "10.0.0.7"; r.Header.Del("Authorization") }, 200},
		{"store off", "/api/v1/memories", nil, 503},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := get(h, c.path, c.edit)
			if w.Code != c.want {
				t.Fatalf("status %d, want %d: %s", w.Code, c.want, w.Body)
			}
			if got := w.Header().Get("X-Content-Type-Options"); got != "nosniff" {
				t.Errorf("X-Content-Type-Options %q", got)
			}
			if c.want >= 400 && w.Header().Get("Content-Type") != "application/problem+json" {
				t.Errorf("Content-Type %q of a problem", w.Header().Get("Content-Type"))
			}
		})
	}
}

func TestWrongTokensAreSlowedDown(t *testing.T) {
	now := time.Unix(1e9, 0)
	h := guarded(t, Config{Token: "0123456789abcdef", Now: func() time.Time { return now }})
	bad := func(r *http.Request) { r.Header.Set("Authorization", "Bearer guess") }
	for i := range maxFails {
		if w := get(h, "/openapi.json", bad); w.Code != 401 {
			t.Fatalf("guess %d: status %d", i, w.Code)
		}
	}
	w := get(h, "/openapi.json", nil)
	if w.Code != 429 || w.Header().Get("Retry-After") == "" {
		t.Fatalf("after %d guesses: status %d, Retry-After %q; a right guess must not get through either", maxFails, w.Code, w.Header().Get("Retry-After"))
	}
	other := func(r *http.Request) { r.RemoteAddr = "198.51.100.9:1" }
	if w := get(h, "/openapi.json", other); w.Code != 200 {
		t.Fatalf("another peer: status %d", w.Code)
	}
	now = now.Add(2 * time.Second)
	if w := get(h, "/openapi.json", nil); w.Code != 200 {
		t.Fatalf("two seconds later: status %d", w.Code)
	}
}

func TestLimiterForgetsPeers(t *testing.T) {
	now := time.Unix(1e9, 0)
	l := NewLimiter(func() time.Time { return now })
	for i := range 3 * maxPeers {
		l.Failed(string(rune(i)))
		if len(l.clear) > maxPeers {
			t.Fatalf("%d peers are remembered", len(l.clear))
		}
	}
}

func TestOwnerNeedsNoToken(t *testing.T) {
	h := New(Config{Token: "0123456789abcdef", Store: offStore{}, Ready: steady(true, "off", "")}).OwnerHandler()
	w := get(h, "/openapi.json", func(r *http.Request) { r.Header.Del("Authorization"); r.Host = "hindsight" })
	if w.Code != 200 {
		t.Fatalf("status %d", w.Code)
	}
}
