package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
)

// trusting is how a command reaches the management API over TCP. The certificate
// that is configured for it is trusted as it is, under whatever name it is reached;
// any other must be one for the name, by an authority of the system.
func trusting(cfg Config) (http.RoundTripper, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if cfg.Admin.CertFile == "" {
		return t, nil
	}
	own, err := leaf(cfg.Admin.CertFile)
	if err != nil {
		return nil, &failure{wrong: fmt.Sprintf("HINDSIGHT_ADMIN_TLS_CERT_FILE %s: %v", cfg.Admin.CertFile, err), next: "Name the server's certificate, PEM."}
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true, VerifyConnection: func(s tls.ConnectionState) error {
		if bytes.Equal(s.PeerCertificates[0].Raw, own) {
			return nil
		}
		opt := x509.VerifyOptions{DNSName: s.ServerName, Intermediates: x509.NewCertPool()}
		for _, c := range s.PeerCertificates[1:] {
			opt.Intermediates.AddCert(c)
		}
		_, err := s.PeerCertificates[0].Verify(opt)
		return err
	}}
	return t, nil
}

// untrusted says whether a connection broke off because of the server's
// certificate.
func untrusted(err error) bool {
	var verify *tls.CertificateVerificationError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	return errors.As(err, &verify) || errors.As(err, &unknown) || errors.As(err, &name) || errors.As(err, &invalid)
}

// leaf reads the first certificate of a file.
func leaf(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("can't be read: %s", cause(err))
	}
	for {
		var block *pem.Block
		if block, b = pem.Decode(b); block == nil {
			return nil, errors.New("holds no certificate")
		}
		if block.Type == "CERTIFICATE" {
			return block.Bytes, nil
		}
	}
}
