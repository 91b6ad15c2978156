package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"
)

// injectCmd is `hindsight inject-sidecar`: a mutating webhook of Kubernetes that
// puts Hindsight into the pods that ask for it by an annotation, and points
// their containers at it.
type injectCmd struct {
	Listen   string `default:":8443" placeholder:"ADDRESS" help:"Where the API server's reviews come."`
	CertFile string `name:"tls-cert-file" required:"" placeholder:"PATH" help:"The webhook's certificate (PEM); read again when it changes."`
	KeyFile  string `name:"tls-key-file" required:"" placeholder:"PATH" help:"Its key (PEM)."`
	Image    string `required:"" placeholder:"IMAGE" help:"The image of the sidecar."`
	Upstream string `name:"llm-api-base" placeholder:"URL" help:"The model API of pods that name none themselves."`
}

// maxReview bounds a review: an object of the API server has 3 MiB at most, and
// a review may hold it twice.
const maxReview = 8 << 20

// Run answers reviews until ctx ends.
func (c *injectCmd) Run(ctx context.Context, a *app) error {
	if u, err := url.Parse(c.Upstream); c.Upstream != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
		return &failure{wrong: fmt.Sprintf("--llm-api-base %q isn't a URL", c.Upstream), next: "Write it like https://api.openai.com/v1.", code: exitUsage}
	}
	pair := &keyPair{cert: c.CertFile, key: c.KeyFile}
	if _, err := pair.get(nil); err != nil {
		return &failure{wrong: err.Error(), next: "Give a certificate and its own key with --tls-cert-file and --tls-key-file, both PEM.", code: exitUsage}
	}
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return &failure{wrong: fmt.Sprintf("--listen %s can't be listened on: %s", c.Listen, cause(err)), next: "Stop what listens there, or choose another port."}
	}
	log := slog.New(slog.NewJSONHandler(a.err, nil))
	log.Info("answering reviews", "address", ln.Addr().String(), "image", c.Image)
	srv := &http.Server{
		Handler: reviews(injector{image: c.Image, upstream: c.Upstream}, log), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		TLSConfig: &tls.Config{GetCertificate: pair.get, MinVersion: tls.VersionTLS12},
		ErrorLog:  slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.ServeTLS(ln, "", "") }()
	select {
	case err := <-ended:
		return fmt.Errorf("answer reviews: %w", err)
	case <-ctx.Done():
	}
	// Its own time: ctx has ended.
	late, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := srv.Shutdown(late); err != nil {
		return fmt.Errorf("let reviews end: %w", err)
	}
	if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("answer reviews: %w", err)
	}
	return nil
}

// reviews is the webhook's handler.
func reviews(in injector, log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /inject", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxReview))
		if err != nil {
			http.Error(w, "the review can't be read: "+err.Error(), http.StatusBadRequest)
			return
		}
		var review admissionReview
		if err := json.Unmarshal(body, &review); err != nil || review.Request == nil {
			http.Error(w, "the body isn't an AdmissionReview with a request", http.StatusBadRequest)
			return
		}
		done := in.review(review.Request)
		log.Info("reviewed", "namespace", review.Request.Namespace, "pod", review.Request.podName(), "injected", done.Patch != nil, "warnings", done.Warnings)
		review.Request, review.Response = nil, done
		w.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(w).Encode(review); err != nil {
			log.Warn("a review's answer wasn't taken", "error", err)
		}
	})
	return mux
}

// keyPair is a certificate in two files, which are replaced while it is used.
type keyPair struct {
	cert, key string

	mu     sync.Mutex
	loaded *tls.Certificate
	at     time.Time // when the certificate's file was changed
}

// get is for tls.Config. A new pair that can't be read leaves the old one in
// use: its two files aren't replaced at the same moment.
func (p *keyPair) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fi, err := os.Stat(p.cert)
	if err == nil && p.loaded != nil && fi.ModTime().Equal(p.at) {
		return p.loaded, nil
	}
	if err == nil {
		var pair tls.Certificate
		if pair, err = tls.LoadX509KeyPair(p.cert, p.key); err == nil {
			p.loaded, p.at = &pair, fi.ModTime()
		}
	}
	if p.loaded == nil {
		return nil, fmt.Errorf("read the webhook's certificate: %w", err)
	}
	return p.loaded, nil
}
