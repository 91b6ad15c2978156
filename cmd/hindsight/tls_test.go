package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
