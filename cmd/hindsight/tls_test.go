package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pair writes a certificate for loopback and its key, and returns who trusts it.
func pair(t *testing.T) (certFile, keyFile string, trust *http.Transport) {
	t.Helper()
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	cert := srv.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{
		certFile: {Type: "CERTIFICATE", Bytes: cert.Certificate[0]},
		keyFile:  {Type: "PRIVATE KEY", Bytes: key},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return certFile, keyFile, &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
}

func TestListensWithTLS(t *testing.T) {
	t.Parallel()
	cert, key, trust := pair(t)
	w := newWorld(t, "HINDSIGHT_TLS_CERT_FILE="+cert, "HINDSIGHT_TLS_KEY_FILE="+key)
	w.remember("local", `"text":"The staging database listens on port 5433.","type":"user_fact"`)
	if !strings.HasPrefix(w.st.proxyURL(), "https://") {
		t.Fatalf("the proxy's address is %s", w.st.proxyURL())
	}
	defer trust.CloseIdleConnections()
	client := &http.Client{Transport: trust}
	resp, err := client.Post(w.st.proxyURL()+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"m","messages":[{"role":"user","content":"Which port does the staging database listen on?"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Hindsight-Status") != "injected" || !bytes.Contains(body, []byte("5433")) {
		t.Errorf("%d %v %s %v", resp.StatusCode, resp.Header, body, err)
	}
	cfg := w.st.cfg
	cfg.Listen = w.st.listeners.proxy.Addr().String()
	if c := checkClient(t.Context(), cfg); c.Result != checkOK || !strings.Contains(c.Found, "https://") {
		t.Errorf("doctor: %+v", c)
	}
}

// The management port speaks TLS to a browser, to agents and to the command line:
// a command trusts the certificate that it is configured with, and no other.
func TestManagementListensWithTLS(t *testing.T) {
	t.Parallel()
	cert, key, trust := pair(t)
	defer trust.CloseIdleConnections()
	w := newWorld(t, "HINDSIGHT_TENANT=acme", "HINDSIGHT_DEFAULT_USER=ann", "HINDSIGHT_ADMIN_TLS_CERT_FILE="+cert, "HINDSIGHT_ADMIN_TLS_KEY_FILE="+key)
	at := w.st.adminURL()
	if !strings.HasPrefix(at, "https://") || !strings.HasPrefix(w.st.consoleURL(), "https://") {
		t.Fatalf("addresses %s and %s", at, w.st.consoleURL())
	}
	for origin, want := range map[string]int{at: http.StatusOK, "http://" + strings.TrimPrefix(at, "https://"): http.StatusForbidden} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"/api/v1/tenants", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+w.st.token())
		req.Header.Set("Origin", origin)
		resp, err := trust.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("from a page of %s: %d", origin, resp.StatusCode)
		}
	}
	env := func(cert string) *shell {
		return &shell{t: t, env: map[string]string{
			"HINDSIGHT_DATA_DIR": t.TempDir() + "/none", "HINDSIGHT_ADMIN_TOKEN": w.st.token(),
			"HINDSIGHT_ADMIN_LISTEN": strings.TrimPrefix(at, "https://"), "HINDSIGHT_ADMIN_TLS_CERT_FILE": cert,
		}}
	}
	for name, c := range map[string]struct {
		s    *shell
		args []string
		want string
	}{
		"configured":     {env(cert), []string{"memories", "add", "The port is 5433.", "--type", "user_fact"}, ""},
		"named":          {env(cert), []string{"memories", "list", "--admin", strings.TrimPrefix(at, "https://")}, ""},
		"mcp test":       {env(cert), []string{"mcp", "test", "--url", at + "/mcp"}, ""},
		"no certificate": {env(""), []string{"memories", "list", "--admin", at}, "HINDSIGHT_ADMIN_TLS_CERT_FILE"},
		"not its":        {env(stranger(t)), []string{"memories", "list"}, "isn't trusted"},
		"plain":          {env(""), []string{"memories", "list"}, "listens with TLS"},
		"no file":        {env(key), []string{"memories", "list"}, "HINDSIGHT_ADMIN_TLS_CERT_FILE " + key + ": holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := c.s.run(c.args...)
			if (code == 0) != (c.want == "") || !strings.Contains(errs, c.want) {
				t.Errorf("%d: %s%s", code, out, errs)
			}
		})
	}
}

// stranger writes a certificate that nobody here has.
func stranger(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}}}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "stranger.pem")
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
