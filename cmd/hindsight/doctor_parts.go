package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hindsight/proxy/admin"
)

// fewFiles is the limit on open files below which a busy proxy runs into it: a
// request takes two, the store some dozens.
const fewFiles = 4096

// checkReflection says what judges sessions, and asks an endpoint of its own.
func checkReflection(ctx context.Context, cfg Config) check {
	name, r := "reflection", cfg.Reflect
	if r.Model == "rules" {
		return check{name, checkOK, "by rules, without a model", ""}
	}
	model := r.Model
	if model == "" {
		model = "the session's own model"
	}
	switch {
	case r.Base != nil:
		return checkEndpoint(ctx, name, "HINDSIGHT_REFLECT_API_BASE", "HINDSIGHT_REFLECT_API_KEY", r.Base, r.Key, model)
	case r.Key != "" || cfg.Upstream.Key != "":
		return check{name, checkOK, "with " + model + " and a key of its own; conversations go to the upstream", ""}
	}
	return check{name, checkWarn, "without a key of its own: it uses the caller's, for ten minutes after their last request", "Set LLM_API_KEY, or HINDSIGHT_REFLECT_MODEL=rules for none."}
}

// checkEndpoint asks a model API that isn't the upstream for its models.
func checkEndpoint(ctx context.Context, name, setting, secret string, base *url.URL, key, model string) check {
	ctx, cancel := context.WithTimeout(ctx, doctorPatience)
	defer cancel()
	u := modelsURL(base)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u, nil)
	if err != nil {
		return check{name, checkFail, err.Error(), "Correct " + setting + "."}
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return check{name, checkFail, fmt.Sprintf("%s: GET %s: %v", model, u, err), "Start what serves it, or correct " + setting + "."}
	}
	_ = resp.Body.Close() // the head says it all
	found := fmt.Sprintf("with %s; GET %s answers %s", model, u, resp.Status)
	switch code := resp.StatusCode; {
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		return check{name, checkFail, found, "Set the right key in " + secret + "."}
	case code >= 500:
		return check{name, checkWarn, found, "The endpoint has a problem of its own; try again later."}
	}
	return check{name, checkOK, found + "; conversations go there", ""}
}

// checkEmbedder embeds a sentence in two languages.
func checkEmbedder(ctx context.Context, cfg Config) check {
	name := "embedder"
	ctx, cancel := context.WithTimeout(ctx, 2*doctorPatience)
	defer cancel()
	if cfg.Embedder == "none" {
		return check{name, checkOK, "none: memories are found by their words alone", ""}
	}
	next := "Check HINDSIGHT_EMBEDDER, HINDSIGHT_EMBEDDING_API_BASE and its key; until then memories are found by their words alone."
	m, err := newModel(cfg)
	if err != nil {
		return check{name, checkFail, fmt.Sprintf("%s: %v", cfg.Embedder, err), next}
	}
	began := time.Now()
	values, err := m.Embed(ctx, []string{"Where do I live?", "我住在哪里？"})
	if err != nil {
		return check{name, checkFail, fmt.Sprintf("%s: %v", cfg.Embedder, err), next}
	}
	return check{name, checkOK, fmt.Sprintf("%s: %d dimensions, two sentences in %v", cfg.Embedder, len(values[0]), time.Since(began).Round(time.Millisecond)), ""}
}

// checkFiles looks at the limit on open files.
func checkFiles(limit uint64) check {
	name := "open files"
	switch {
	case limit == 0:
		return check{name, checkOK, "the system names no limit", ""}
	case limit < fewFiles:
		return check{name, checkWarn, fmt.Sprintf("at most %d at a time: many requests at once run into that", limit), fmt.Sprintf("Raise it for the server: ulimit -n %d, or LimitNOFILE in its unit.", 16*fewFiles)}
	}
	return check{name, checkOK, fmt.Sprintf("at most %d at a time", limit), ""}
}

// checkSessions says when a scope is paused, and whether one is.
func checkSessions(ctx context.Context, cfg Config) check {
	name := "sessions"
	const advice = "Send Hindsight-Memory: off with load tests and evaluations."
	if cfg.Session.PerHour == 0 {
		return check{name, checkWarn, "a scope may gain any number in an hour: a load test would be reflected on", advice}
	}
	c := check{name, checkOK, fmt.Sprintf("a scope that gains over %d in an hour is paused", cfg.Session.PerHour), advice}
	cl, err := ownerClient(ctx, cfg.Store.Dir)
	if err != nil {
		return c // nobody is there to be asked
	}
	defer func() { _ = cl.close() }()
	var s admin.Stats
	q := url.Values{}
	put(q, "tenant", cfg.Identity.tenantName())
	if _, err := cl.do(ctx, http.MethodGet, "/api/v1/stats", q, nil, &s); err == nil && len(s.Paused) > 0 {
		var scopes []string
		for _, sc := range s.Paused {
			scopes = append(scopes, string(sc))
		}
		c.Result = checkWarn
		c.Found += "; paused now: " + strings.Join(scopes, ", ")
		c.Next = advice + " The pause ends when fewer sessions come, or with a higher HINDSIGHT_SESSION_PER_HOUR."
	}
	return c
}
