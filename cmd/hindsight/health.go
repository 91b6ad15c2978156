package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"hindsight/store"
)

// healthCmd is `hindsight health`: the health check of a container whose image
// holds nothing but this binary.
type healthCmd struct {
	Listen  setting       `name:"listen" key:"listen" def:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Where the proxy listens."`
	Timeout time.Duration `name:"timeout" default:"3s" placeholder:"TIME" help:"How long it may take to answer."`
}

// Run asks the proxy of this machine whether it can forward requests, and fails
// where it can't. Memory's state is shown and decides nothing.
func (c *healthCmd) Run(ctx context.Context, a *app) error {
	cfg, err := load(settings{Listen: c.Listen}, a.config, a.env, false)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	at := clientBase(cfg)
	h, err := askHealth(ctx, at)
	if err != nil {
		return &failure{
			wrong: fmt.Sprintf("the proxy at %s can't be asked: %s", at, cause(err)),
			next:  "Start `hindsight serve`, or name its address with --listen or HINDSIGHT_LISTEN.",
		}
	}
	if a.json {
		err = a.printJSON(h)
	} else if h.Ready {
		err = a.say("%s", strings.TrimSpace(printable("ready; memory "+h.Memory+" "+h.Reason)))
	}
	if err == nil && !h.Ready {
		err = &failure{wrong: "the proxy at " + at + " is starting or draining"}
	}
	return err
}

// readiness is the body of readyz.
type readiness struct {
	Ready  bool   `json:"ready"`
	Memory string `json:"memory"`
	Reason string `json:"reason"`
}

// notOurs is the error of askHealth where something else answers.
type notOurs struct{ status int }

func (e notOurs) Error() string {
	return fmt.Sprintf("what listens there isn't Hindsight (status %d)", e.status)
}

// clientBase is the proxy's address as seen from this machine.
func clientBase(cfg Config) string {
	return scheme(cfg.Listener.CertFile) + dialable(cfg.Listen)
}

// askHealth reads readyz.
func askHealth(ctx context.Context, base string) (h readiness, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/"+store.Product+"/readyz", nil)
	if err != nil {
		return h, fmt.Errorf("make the request: %w", err)
	}
	// The certificate is for the name that clients use. Nothing secret is said
	// or believed here.
	transport := &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return h, err
	}
	defer func() { _ = resp.Body.Close() }() // what matters was read
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&h); err != nil || h.Memory == "" {
		return h, notOurs{resp.StatusCode}
	}
	return h, nil
}
