package main

import (
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"strings"
	"testing"
)

// reviewed has the webhook review a pod, and returns the steps of its patch by
// their paths. Documents of the API server's own types are in deploy/check.
func reviewed(t *testing.T, pod string) (steps map[string]string, warnings []string) {
	t.Helper()
	h := reviews(injector{image: "hindsight:v1"}, slog.New(slog.DiscardHandler))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("POST", "/inject", strings.NewReader(
		`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u1","kind":{"version":"v1","kind":"Pod"},"object":`+pod+`}}`)))
	var a struct {
		Response struct {
			UID      string
			Allowed  bool
			Patch    []byte
			Warnings []string
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || a.Response.UID != "u1" || !a.Response.Allowed {
		t.Fatalf("%v: %s", err, w.Body)
	}
	steps = map[string]string{}
	if a.Response.Patch != nil {
		var ops []struct {
			Op, Path string
			Value    json.RawMessage
		}
		if err := json.Unmarshal(a.Response.Patch, &ops); err != nil {
			t.Fatal(err)
		}
		for _, op := range ops {
			steps[op.Op+" "+op.Path] += string(op.Value)
		}
	}
	return steps, a.Response.Warnings
}

func TestSidecarIsInjected(t *testing.T) {
	t.Parallel()
	steps, warnings := reviewed(t, `{"metadata":{"annotations":{"hindsight/inject":"true"}},"spec":{"containers":[
		{"name":"app","env":[{"name":"A","value":"b"},{"name":"LLM_API_BASE","value":"https://model.example/v1"}]}]}}`)
	if len(warnings) > 0 {
		t.Error(warnings)
	}
	for step, want := range map[string]string{
		"add /metadata/labels":             `{"hindsight/sidecar":"true"}`,
		"replace /spec/containers/0/env/1": `"http://127.0.0.1:18080/v1"`,
		"add /spec/containers/0/env/-":     `"OPENAI_BASE_URL"`,
		"add /spec/initContainers":         `"LLM_API_BASE","value":"https://model.example/v1"`,
		"add /spec/volumes":                `"hindsight-data"`,
		"add /spec/volumes/-":              `"hindsight-identity"`,
	} {
		if !strings.Contains(steps[step], want) {
			t.Errorf("%s: %q", step, steps[step])
		}
	}
}

func TestSidecarIsNotInjected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ pod, warning string }{
		"nobody asks":        {`{"metadata":{},"spec":{"containers":[{"name":"app"}]}}`, ""},
		"it is there":        {`{"metadata":{"annotations":{"hindsight/inject":"true"}},"spec":{"containers":[{"name":"hindsight"}]}}`, ""},
		"no model API":       {`{"metadata":{"annotations":{"hindsight/inject":"true"}},"spec":{"containers":[{"name":"app"}]}}`, "--llm-api-base"},
		"an unclear wish":    {`{"metadata":{"annotations":{"hindsight/inject":"on"}},"spec":{"containers":[{"name":"app"}]}}`, `"true"`},
		"a pod that is none": {`{"spec":7}`, "read the pod"},
	} {
		steps, warnings := reviewed(t, c.pod)
		if len(steps) > 0 || (c.warning == "") != (len(warnings) == 0) || c.warning != "" && !strings.Contains(warnings[0], c.warning) {
			t.Errorf("%s: %v %q", name, steps, warnings)
		}
	}
}
