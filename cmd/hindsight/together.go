package main

import (
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
)

// together checks what only shows when settings are looked at side by side.
func (d decoder) together(s *settings, c Config, serve bool) {
	if serve && s.LLMAPIBase.raw == "" {
		*d.ps = append(*d.ps, problem{Field: "LLM_API_BASE", Wrong: "isn't set", Next: "Set it to your model API's base URL, such as https://api.openai.com/v1."})
	}
	if u := c.Upstream.Base; serve && u != nil && sameListener(u.Host, u.Scheme, c.Listen) {
		d.ps.add(s.LLMAPIBase, "is Hindsight's own address ("+c.Listen+")", "Set it to the model API; the application's base URL is the one that points here.")
	}
	for _, pair := range [][2]setting{{s.Listen, s.AdminListen}, {s.Listen, s.MetricsListen}, {s.AdminListen, s.MetricsListen}} {
		if pair[0].raw == pair[1].raw && pair[0].raw != "" && !strings.HasSuffix(pair[0].raw, ":0") {
			d.ps.add(pair[1], "is the same address as "+pair[0].label(), "Choose another port.")
		}
	}
	d.certificate(s.TLSCertFile, s.TLSKeyFile, c.Listener.CertFile, c.Listener.KeyFile)
	if serve { // a command needs no key to trust the certificate
		d.certificate(s.AdminTLSCert, s.AdminTLSKey, c.Admin.CertFile, c.Admin.KeyFile)
	}
	if s.OldEncryptionKeyFile.raw != "" && s.EncryptionKeyFile.raw == "" {
		d.ps.add(s.OldEncryptionKeyFile, "is given without "+s.EncryptionKeyFile.label(), "Name the new key too; encryption can't be taken away from a directory.")
	}
	switch served := c.Embedder != "builtin" && c.Embedder != "none"; {
	case c.Embedder == "":
		d.ps.add(s.Embedder, "is empty", "Set it to builtin, none, or the name of a served model.")
	case served && s.EmbeddingBase.raw == "":
		d.ps.add(s.Embedder, "is a model's name, and HINDSIGHT_EMBEDDING_API_BASE isn't set", "Set that to where the model is served, or choose builtin or none.")
	case !served && s.EmbeddingBase.raw != "":
		d.ps.add(s.EmbeddingBase, "is given, and the embedder is "+c.Embedder, "Set HINDSIGHT_EMBEDDER to the model's name, or leave it out.")
	}
	if c.Auth.Mode == "keys" {
		if len(c.Auth.Keys) == 0 && s.AuthKeys.raw == "" {
			d.ps.add(s.AuthMode, "needs auth.keys, which is empty", "Add a key, or set auth.mode to passthrough.")
		}
		if c.Upstream.Key == "" && s.LLMAPIKey.raw == "" {
			d.ps.add(s.AuthMode, "needs LLM_API_KEY, which isn't set", "Set the upstream's key: callers don't bring one.")
		}
	}
}

// certificate checks that a listener's certificate and key are a pair.
func (d decoder) certificate(cert, key setting, certFile, keyFile string) {
	switch {
	case cert.raw == "" && key.raw != "":
		d.ps.add(key, "is given without "+cert.label(), "Name the certificate too, or leave both out.")
	case cert.raw != "" && key.raw == "":
		d.ps.add(cert, "is given without "+key.label(), "Name the key too, or leave both out.")
	case certFile != "" && keyFile != "":
		if _, err := tls.LoadX509KeyPair(certFile, keyFile); err != nil {
			d.ps.add(cert, "makes no pair with "+key.label()+": "+err.Error(), "Give a certificate and its own key, both PEM and without a passphrase.")
		}
	}
}

// alone says whether only programs of this machine can reach the listener, and
// this machine is not a container, whose loopback other containers may share.
func alone(listen string, env environ) bool {
	return loopback(listen) && env.get("KUBERNETES_SERVICE_HOST") == "" && env.pid != 1
}

// loopback says whether an address is of this machine alone.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// sameListener says whether a URL's host is where the proxy itself listens.
func sameListener(host, scheme, listen string) bool {
	if _, _, err := net.SplitHostPort(host); err != nil {
		port := "80"
		if scheme == "https" {
			port = "443"
		}
		host = net.JoinHostPort(strings.Trim(host, "[]"), port)
	}
	_, theirs, _ := net.SplitHostPort(host)
	_, ours, _ := net.SplitHostPort(listen)
	return theirs == ours && ours != "0" && loopback(host)
}
