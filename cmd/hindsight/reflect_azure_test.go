package main

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"

	"hindsight/internal/fakellm"
)

const (
	azureKey        = "azure-callers-own-0123456789"
	azureDeployment = "/openai/deployments/judge/chat/completions?api-version=2024-10-21"
	azureV1         = "/openai/v1/chat/completions"
)

// azureUpstream is strict as Azure is: it knows one path, and asks for api-key.
type azureUpstream struct {
	mu    sync.Mutex
	path  string // that it knows
	asked []string
}

// reflections are how reflection was asked: the status and the key.
func (a *azureUpstream) reflections() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return strings.Join(a.asked, ", ")
}

// newAzure starts the product in front of such an upstream, whose base goes on
// with prefix.
func newAzure(t *testing.T, path, prefix string, env ...string) (*world, *azureUpstream) {
	a := &azureUpstream{path: path}
	return newWorldOf(t, func(w *world) {
		w.env["LLM_API_BASE"] = strings.TrimSuffix(w.env["LLM_API_BASE"], "/v1") + prefix
		w.env["LLM_API_KEY"], w.env["HINDSIGHT_REFLECT_MODEL"] = "", ""
		for _, e := range env {
			name, value, _ := strings.Cut(e, "=")
			w.env[name] = value
		}
		w.answer = func(rw http.ResponseWriter, r *http.Request, body []byte) bool {
			status, key := 0, r.Header.Get("Api-Key")
			switch {
			case r.URL.RequestURI() != a.path:
				status = http.StatusNotFound
			case key == "":
				status = http.StatusUnauthorized
			}
			if bytes.Contains(body, []byte("hindsight_memories")) {
				a.mu.Lock()
				a.asked = append(a.asked, strings.TrimSpace(http.StatusText(status)+" "+key))
				a.mu.Unlock()
			}
			if status != 0 {
				http.Error(rw, `{"error":{"code":"404","message":"Resource not found"}}`, status)
				return true
			}
			r.URL.Path = "/v1/chat/completions" // where the scripted model has it
			return false
		}
	}), a
}

// azureSay says something as Azure's clients do, and returns the session.
func azureSay(w *world, path, model, text string) string {
	w.t.Helper()
	r, err := w.post(path, `{`+model+`"messages":[{"role":"user","content":"`+text+`"}]}`, "Api-Key: "+azureKey, "Authorization: ")
	if err != nil || r.status != http.StatusOK || r.session() == "" {
		w.t.Fatalf("%v %d %s", err, r.status, r.body)
	}
	return r.session()
}

// What was said at Azure is reflected at the same deployment, with api-version and
// the header that Azure takes.
func TestAzureIsReflectedWhereItWasAsked(t *testing.T) {
	t.Parallel()
	const named = `"model":"` + fakellm.Model + `",`
	for name, c := range map[string]struct {
		path, prefix, asks, model string
		env                       []string
		key                       string
	}{
		"a deployment":               {azureDeployment, "", azureDeployment, named, nil, azureKey},
		"a deployment names a model": {azureDeployment, "/openai", azureDeployment, "", nil, azureKey},
		"the base has the prefix":    {azureDeployment, "/openai", strings.TrimPrefix(azureDeployment, "/openai"), named, nil, azureKey},
		"v1":                         {azureV1, "", azureV1, named, nil, azureKey},
		"v1, a preview":              {azureV1 + "?api-version=preview", "/openai/v1", "/v1/chat/completions?api-version=preview", named, nil, azureKey},
		"a key of its own":           {azureDeployment, "", azureDeployment, named, []string{"LLM_API_KEY=azure-ours"}, "azure-ours"},
	} {
		t.Run(name, func(t *testing.T) {
			oneInThree(t)
			t.Parallel()
			w, azure := newAzure(t, c.path, c.prefix, c.env...)
			kept, dropped := w.close(azureSay(w, c.asks, c.model, "I live in Lyon."))
			if len(kept) != 1 || azure.reflections() != c.key {
				t.Errorf("kept %q, dropped %+v, asked: %s", texts(kept), dropped, azure.reflections())
			}
		})
	}
}

// A model that is named for reflection is a deployment at Azure.
func TestAzureReflectsByAnotherDeployment(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w, azure := newAzure(t, azureDeployment, "", "HINDSIGHT_REFLECT_MODEL=other")
	session := azureSay(w, azureDeployment, "", "I live in Lyon.")
	azure.mu.Lock()
	azure.path = strings.Replace(azureDeployment, "judge", "other", 1)
	azure.mu.Unlock()
	if kept, _ := w.close(session); len(kept) != 1 || azure.reflections() != azureKey {
		t.Errorf("kept %q, asked: %s", texts(kept), azure.reflections())
	}
}

// After a restart the job waits for the caller's key, which isn't on disk, and
// then goes to the deployment that the session's record names.
func TestAzureWaitsForItsKey(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w, azure := newAzure(t, azureDeployment, "")
	session := azureSay(w, azureDeployment, "", "My badge is B4411.")
	w.flush()
	w.restart()
	w.admin(http.MethodPost, "/api/v1/sessions/"+session+"/close", "")
	w.until("the job waits for a key", func() bool { return w.reflections("waiting_for_key") == 1 })
	if azure.reflections() != "" {
		t.Errorf("asked: %s", azure.reflections())
	}
	azureSay(w, azureDeployment, "", "How high is Mount Everest?")
	w.until("the job is done", func() bool { return w.reflections("waiting_for_key") == 0 && len(w.memories("local")) == 1 })
	if azure.reflections() != azureKey {
		t.Errorf("asked: %s", azure.reflections())
	}
	w.stop()
	if where := inFiles(t, w.env["HINDSIGHT_DATA_DIR"], azureKey); where != "" {
		t.Errorf("%s holds the credential", where)
	}
}

// An endpoint of reflection's own is asked instead, whatever the session's path.
func TestAzureLeavesReflectionToItsOwnEndpoint(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	w, azure := newAzure(t, azureDeployment, "")
	var other callers
	w.env["HINDSIGHT_REFLECT_API_BASE"] = other.serve(t)
	w.env["HINDSIGHT_REFLECT_API_KEY"] = "sk-other"
	w.restart()
	kept, _ := w.close(azureSay(w, azureDeployment, "", "I live in Lyon."))
	if len(kept) != 1 || azure.reflections() != "" || other.all() != "Bearer sk-other" {
		t.Errorf("kept %q, asked: %s, and the other with %s", texts(kept), azure.reflections(), other.all())
	}
}
