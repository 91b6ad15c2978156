package admin

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestDocumentDescribesEveryCall holds the contract's calls against the
// document, and each of them to a problem document for its errors.
func TestDocumentDescribesEveryCall(t *testing.T) {
	r := &rig{t: t, Handler: guarded(t, Config{Token: "0123456789abcdef"})}
	doc := r.must(200, "GET", "/openapi.json", "")
	if doc["openapi"] != "3.1.0" {
		t.Errorf("openapi %v", doc["openapi"])
	}
	paths := doc["paths"].(map[string]any)
	for _, call := range [][2]string{
		{"get", "/healthz"}, {"get", "/readyz"},
		{"get", "/api/v1/tenants"}, {"post", "/api/v1/tenants/link"}, {"delete", "/api/v1/tenants/{tenant}/scopes/{scope}"},
		{"get", "/api/v1/memories"}, {"post", "/api/v1/memories"}, {"post", "/api/v1/memories/search"},
		{"get", "/api/v1/memories/{id}"}, {"patch", "/api/v1/memories/{id}"}, {"delete", "/api/v1/memories/{id}"},
		{"post", "/api/v1/memories/{id}/restore"}, {"post", "/api/v1/memories/{id}/verify"},
		{"get", "/api/v1/sessions"}, {"get", "/api/v1/sessions/{id}"}, {"post", "/api/v1/sessions/{id}/close"}, {"post", "/api/v1/sessions/{id}/events"}, {"post", "/api/v1/sessions/{id}/preview"},
		{"get", "/api/v1/exchanges/{id}/why"}, {"get", "/api/v1/reflections"}, {"post", "/api/v1/reflections/{id}/retry"},
		{"get", "/api/v1/export"}, {"post", "/api/v1/import"}, {"post", "/api/v1/memories/consolidate"},
	} {
		item, _ := paths[call[1]].(map[string]any)
		op, _ := item[call[0]].(map[string]any)
		if op == nil {
			t.Errorf("%s %s isn't described", call[0], call[1])
			continue
		}
		responses := op["responses"].(map[string]any)
		problem, _ := responses["default"].(map[string]any)
		content, _ := problem["content"].(map[string]any)
		if content["application/problem+json"] == nil {
			t.Errorf("%s %s describes no problem", call[0], call[1])
		}
		for code, r := range responses {
			if r.(map[string]any)["content"] == nil {
				t.Errorf("%s %s: the answer %s has no body", call[0], call[1], code)
			}
			if !slices.Contains([]string{"200", "201", "202", "503", "default"}, code) {
				t.Errorf("%s %s answers %s", call[0], call[1], code)
			}
		}
	}
}

func TestHealth(t *testing.T) {
	draining := &rig{t: t, Handler: New(Config{Store: offStore{}, Token: "x", Ready: steady(false, "degraded", "words alone")}).Handler()}
	code, out := draining.do("GET", "/readyz", "")
	if code != 503 || out["ready"] != false || out["memory"] != "degraded" || out["reason"] != "words alone" {
		t.Errorf("draining: %d %v", code, out)
	}
	serving := &rig{t: t, Handler: New(Config{Store: offStore{}, Token: "x", Ready: steady(true, "off", "locked")}).Handler()}
	if code, out := serving.do("GET", "/readyz", ""); code != 200 || out["memory"] != "off" {
		t.Errorf("memory off: %d %v", code, out)
	}
}

func TestMetrics(t *testing.T) {
	reg := prometheus.NewRegistry()
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "hindsight_tests_total", Help: "Tests."})
	reg.MustRegister(c)
	c.Inc()
	h := guarded(t, Config{Token: "0123456789abcdef", Gatherer: reg})
	if w := get(h, "/metrics", nil); w.Code != 200 || !strings.Contains(w.Body.String(), "hindsight_tests_total 1") {
		t.Errorf("with a token: %d %s", w.Code, w.Body)
	}
	if w := get(Metrics(reg), "/metrics", func(r *http.Request) { r.Header.Del("Authorization") }); w.Code != 200 {
		t.Errorf("the listener of its own: %d", w.Code)
	}
}
