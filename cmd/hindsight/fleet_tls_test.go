//go:build weaviate

package main

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hindsight/internal/weaviatetest"
)

// ingress ends TLS in front of a server: one address for HTTP and gRPC, under a
// certificate that only its file vouches for.
func ingress(t *testing.T, server *weaviatetest.Server) (addr, authority string) {
	t.Helper()
	to := func(host string, plain *http.Transport) http.Handler {
		u := &url.URL{Scheme: "http", Host: host}
		return &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: plain, FlushInterval: -1}
	}
	h2 := new(http.Protocols)
	h2.SetUnencryptedHTTP2(true)
	rest, calls := to(strings.TrimPrefix(server.URL, "http://"), &http.Transport{}), to(server.GRPC, &http.Transport{Protocols: h2})
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			calls.ServeHTTP(w, r)
		} else {
			rest.ServeHTTP(w, r)
		}
	}))
	up.EnableHTTP2 = true
	up.StartTLS()
	t.Cleanup(up.Close)
	authority = filepath.Join(t.TempDir(), "ca.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: up.Certificate().Raw})
	if err := os.WriteFile(authority, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return up.Listener.Addr().String(), authority
}

// Weaviate behind TLS, which wants a key: without the authority or with another key
// a sidecar and doctor say what to set, with both the memory is shared.
func TestFleetOverTLSWithAKey(t *testing.T) {
	server := weaviatetest.New(t,
		"AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED=false", "AUTHENTICATION_APIKEY_ENABLED=true",
		"AUTHENTICATION_APIKEY_ALLOWED_KEYS=the-fleets-key,a-readers-key", "AUTHENTICATION_APIKEY_USERS=fleet,reader",
		"AUTHORIZATION_ADMINLIST_ENABLED=true", "AUTHORIZATION_ADMINLIST_USERS=fleet", "AUTHORIZATION_ADMINLIST_READONLY_USERS=reader",
	)
	addr, authority := ingress(t, server)
	p := newPods(t, server, "VECTOR_DB_URL=https://"+addr, "HINDSIGHT_WEAVIATE_GRPC="+addr, "HINDSIGHT_SESSION_IDLE=2s")
	const key = "WEAVIATE_API_KEY=the-fleets-key"
	trusted := "SSL_CERT_FILE=" + authority
	for _, x := range []struct {
		name, says string
		doctor     string // how its line begins: it only reads
		env        []string
	}{
		{"no authority", "SSL_CERT_FILE", "fail", []string{key}},
		{"no key", "WEAVIATE_API_KEY", "fail", []string{trusted}},
		{"another key", "WEAVIATE_API_KEY", "fail", []string{trusted, "WEAVIATE_API_KEY=another"}},
		{"a key that may only read", "WEAVIATE_API_KEY", "ok", []string{trusted, "WEAVIATE_API_KEY=a-readers-key"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := p.launch(x.env...)
			s.until("it says what to set", func() bool { return strings.Contains(s.get("/readyz"), x.says) })
			ready := s.get("/readyz")
			t.Log(ready)
			if !strings.Contains(ready, `"memory":"degraded"`) || strings.Contains(ready, "the-fleets-key") {
				t.Error(ready)
			}
			if c := (&caller{user: "ann", turns: []string{"Hello."}}); !c.turn(s.url()) {
				t.Error("a request isn't forwarded")
			}
			s.end(os.Kill)
			out, _ := product(t, s.env, "doctor").Output() // it fails for what it finds
			told := lineWith(string(out), " weaviate ")
			t.Log(told)
			if !strings.HasPrefix(told, x.doctor) || x.doctor == "fail" && !strings.Contains(told, x.says) {
				t.Errorf("doctor says nothing of %s:\n%s", x.says, out)
			}
		})
	}
	a := p.start(trusted, key)
	if c := (&caller{user: "ann", turns: []string{"Hello. My project is zeta-nine."}}); !c.turn(a.url()) {
		t.Fatal("a request isn't answered")
	}
	a.learns("ann", "The user's project is zeta-nine.")
	p.start(trusted, key).learns("ann", "The user's project is zeta-nine.")
}

// lineWith is the line of a text that holds some words.
func lineWith(text, words string) string {
	for l := range strings.Lines(text) {
		if strings.Contains(l, words) {
			return l
		}
	}
	return ""
}
