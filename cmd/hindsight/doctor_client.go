package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
)

// checkClient says which base URL applications need, and whether the proxy
// answers there, and how its memory is.
func checkClient(ctx context.Context, cfg Config) check {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	base, transport := dialable(cfg.Listen), http.DefaultTransport
	if cfg.Listener.CertFile != "" {
		base = "https://" + strings.TrimPrefix(base, "http://")
		// The certificate is for the name that clients use. Nothing secret is
		// said or believed here.
		transport = &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	}
	c := check{"client", checkOK, "applications use " + base + "/v1 as their base URL (OPENAI_BASE_URL)", ""}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/hindsight/readyz", nil)
	if err != nil {
		return check{"client", checkFail, err.Error(), "Correct HINDSIGHT_LISTEN."}
	}
	resp, err := transport.RoundTrip(req)
	var dial *net.OpError
	if errors.As(err, &dial) {
		c.Found += "; nothing listens there now"
		c.Next = "Start it with: hindsight serve"
		return c
	}
	if err != nil {
		c.Result, c.Next = checkWarn, fmt.Sprintf("What listens there doesn't answer (%v); is it Hindsight?", err)
		return c
	}
	defer func() { _ = resp.Body.Close() }() // what matters was read
	var state struct {
		Ready  *bool
		Memory string
		Reason string
	}
	err = json.NewDecoder(io.LimitReader(resp.Body, 1<<16)).Decode(&state)
	switch {
	case err != nil || state.Ready == nil:
		c.Result, c.Next = checkWarn, fmt.Sprintf("What listens there isn't Hindsight (status %d); choose another port with HINDSIGHT_LISTEN.", resp.StatusCode)
	case !*state.Ready:
		c.Result, c.Next = checkWarn, "Hindsight there is starting or stopping; try again."
	case state.Memory == "on":
		c.Found += "; Hindsight answers there, memory is on"
	default:
		c.Result = checkWarn
		c.Found += fmt.Sprintf("; Hindsight answers there, memory is %s (%s)", state.Memory, state.Reason)
		c.Next = "Mend what the reason names; requests are forwarded meanwhile."
	}
	return c
}
