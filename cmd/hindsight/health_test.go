package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// askedHealth runs `hindsight health` at an address.
func askedHealth(t *testing.T, address string, env map[string]string, args ...string) (code int, out, said string) {
	t.Helper()
	var o, e bytes.Buffer
	a := &app{env: environ{get: func(n string) string {
		if n == "HINDSIGHT_LISTEN" {
			return address
		}
		return env[n]
	}, pid: 2, home: t.TempDir()}, out: &o, err: &e}
	code = run(t.Context(), a, append([]string{"health"}, args...))
	return code, o.String(), e.String()
}

func TestHealth(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	s := serveProcess(t)
	if code, out, said := askedHealth(t, s.proxy, nil); code != 0 || !strings.HasPrefix(out, "ready; memory ") {
		t.Errorf("serving: %d %q %q", code, out, said)
	}
	if code, out, _ := askedHealth(t, "127.0.0.1:1", nil, "--listen", s.proxy, "--json"); code != 0 || !strings.Contains(out, `"ready": true`) {
		t.Errorf("as JSON: %d %q", code, out)
	}
	br := s.stream()
	s.signal()
	s.draining()
	if code, out, said := askedHealth(t, s.proxy, nil); code != 1 || out != "" || !strings.Contains(said, s.proxy) {
		t.Errorf("draining: %d %q %q", code, out, said)
	}
	s.step <- struct{}{}
	_, _ = br.WriteTo(&bytes.Buffer{}) // until the stream has ended
	if err := s.exit(); err != nil {
		t.Error(err)
	}
	if code, _, said := askedHealth(t, s.proxy, nil); code != 1 || !strings.Contains(said, "hindsight serve") {
		t.Errorf("stopped: %d %q", code, said)
	}
}

func TestHealthWithTLS(t *testing.T) {
	t.Parallel()
	cert, key, _ := pair(t)
	w := newWorld(t, "HINDSIGHT_TLS_CERT_FILE="+cert, "HINDSIGHT_TLS_KEY_FILE="+key)
	if code, out, said := askedHealth(t, w.st.listeners.proxy.Addr().String(), w.env); code != 0 || !strings.Contains(out, "memory on") {
		t.Errorf("%d %q %q", code, out, said)
	}
}

func TestHealthOfStrangers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"another server": http.NotFound,
		"not ready": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, `{"ready":false,"memory":"off","reason":"x"}`, 503)
		},
	} {
		srv := httptest.NewServer(answer)
		code, out, said := askedHealth(t, strings.TrimPrefix(srv.URL, "http://"), nil)
		srv.Close()
		if code != 1 || out != "" || said == "" {
			t.Errorf("%s: %d %q %q", name, code, out, said)
		}
	}
}
