package check

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	admission "k8s.io/api/admission/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	kjson "sigs.k8s.io/json"
)

// trusts checks that a certificate with its key is one that who knows the
// authority believes for a name.
func trusts(t *testing.T, authority, cert, key []byte, name string) *x509.CertPool {
	t.Helper()
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		t.Fatalf("the authority isn't PEM: %q", authority)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{DNSName: name, Roots: pool}); err != nil {
		t.Fatal(err)
	}
	return pool
}

// hook is a running webhook, asked as the API server does it.
type hook struct {
	t      *testing.T
	url    string
	client *http.Client
	dir    string
}

const serviceName = "hindsight-webhook.prod.svc"

// certificate writes a fresh certificate, by the script that ships, and returns
// who trusts it.
func (h *hook) certificate() *x509.CertPool {
	h.t.Helper()
	out, err := exec.Command(filepath.Join(root, "deploy/kubernetes/webhook-certificate.sh"), "prod").Output()
	if err != nil {
		h.t.Fatal(err)
	}
	o, err := decode(out)
	if err != nil {
		h.t.Fatal(err)
	}
	secret := o.(*core.Secret)
	pool := trusts(h.t, secret.Data["ca.crt"], secret.Data["tls.crt"], secret.Data["tls.key"], serviceName)
	for _, name := range []string{"tls.key", "tls.crt"} { // the certificate's file last: its change is what is seen
		if err := os.WriteFile(filepath.Join(h.dir, name), secret.Data[name], 0o600); err != nil {
			h.t.Fatal(err)
		}
	}
	return pool
}

func (h *hook) trust(pool *x509.CertPool) {
	h.client = &http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
		DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: pool, ServerName: serviceName},
	}}
}

func startHook(t *testing.T, args ...string) *hook {
	t.Helper()
	at := freeAddress(t)
	h := &hook{t: t, url: "https://" + at, dir: t.TempDir()}
	h.trust(h.certificate())
	cmd := exec.Command(binary(t), append([]string{"inject-sidecar", "--listen", at, "--image", "hindsight:latest",
		"--tls-cert-file", filepath.Join(h.dir, "tls.crt"), "--tls-key-file", filepath.Join(h.dir, "tls.key")}, args...)...)
	start(t, cmd)
	until(t, "the webhook answers", h.healthy)
	return h
}

func (h *hook) healthy() bool {
	resp, err := h.client.Get(h.url + "/healthz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// review has a pod reviewed; the document is that of the API server's own type,
// the answer is decoded strictly, and the patch applied.
func (h *hook) review(pod *core.Pod) (*core.Pod, *admission.AdmissionResponse) {
	h.t.Helper()
	raw, err := json.Marshal(pod)
	if err != nil {
		h.t.Fatal(err)
	}
	body, err := json.Marshal(admission.AdmissionReview{
		TypeMeta: meta.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Request: &admission.AdmissionRequest{
			UID: "705ab4f5-6393-11e8-b7cc-42010a800002", Kind: meta.GroupVersionKind{Version: "v1", Kind: "Pod"},
			Resource: meta.GroupVersionResource{Version: "v1", Resource: "pods"}, Namespace: "prod", Operation: admission.Create,
			Object: runtime.RawExtension{Raw: raw}, Options: runtime.RawExtension{Raw: []byte(`{"apiVersion":"meta.k8s.io/v1","kind":"CreateOptions"}`)},
		},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	resp, err := h.client.Post(h.url+"/inject?timeout=5s", "application/json", bytes.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" {
		h.t.Fatalf("%s %v %s", resp.Status, err, got)
	}
	var answer admission.AdmissionReview
	if strict, err := kjson.UnmarshalStrict(got, &answer); err != nil || len(strict) > 0 {
		h.t.Fatalf("%v %v: %s", err, strict, got)
	}
	a := answer.Response
	if answer.APIVersion != "admission.k8s.io/v1" || answer.Kind != "AdmissionReview" || answer.Request != nil || a == nil || a.UID != types.UID("705ab4f5-6393-11e8-b7cc-42010a800002") || !a.Allowed {
		h.t.Fatalf("%s", got)
	}
	if a.Patch == nil {
		if a.PatchType != nil {
			h.t.Errorf("a patch type without a patch: %s", got)
		}
		return pod.DeepCopy(), a
	}
	if a.PatchType == nil || *a.PatchType != admission.PatchTypeJSONPatch {
		h.t.Errorf("the patch is of type %v", a.PatchType)
	}
	patch, err := jsonpatch.DecodePatch(a.Patch)
	if err != nil {
		h.t.Fatal(err)
	}
	patched, err := patch.Apply(raw)
	if err != nil {
		h.t.Fatalf("%v: %s", err, a.Patch)
	}
	var out core.Pod
	if strict, err := kjson.UnmarshalStrict(patched, &out); err != nil || len(strict) > 0 {
		h.t.Fatalf("%v %v: %s", err, strict, patched)
	}
	return &out, a
}

func annotated(values ...string) *core.Pod {
	p := &core.Pod{
		TypeMeta:   meta.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: meta.ObjectMeta{GenerateName: "app-", Namespace: "prod", Annotations: map[string]string{"hindsight/inject": "true"}},
		Spec:       core.PodSpec{Containers: []core.Container{{Name: "app", Image: "app:1"}}},
	}
	for i := 0; i < len(values); i += 2 {
		p.Annotations["hindsight/"+values[i]] = values[i+1]
	}
	return p
}

func values(c core.Container) map[string]string {
	out := map[string]string{}
	for _, e := range c.Env {
		out[e.Name] = e.Value
	}
	return out
}

func TestWebhook(t *testing.T) {
	h := startHook(t, "--llm-api-base", "https://default.example/v1")
	t.Run("a pod with nothing", func(t *testing.T) {
		got, _ := h.review(annotated())
		if len(got.Spec.InitContainers) != 1 || got.Labels["hindsight/sidecar"] != "true" || len(got.Spec.Volumes) != 2 {
			t.Fatalf("%+v", got)
		}
		side := got.Spec.InitContainers[0]
		if side.Name != "hindsight" || side.Image != "hindsight:latest" || side.RestartPolicy == nil || *side.RestartPolicy != core.ContainerRestartPolicyAlways {
			t.Errorf("%+v", side)
		}
		if env := values(side); env["LLM_API_BASE"] != "https://default.example/v1" || env["HINDSIGHT_DRAIN_GRACE"] != "20s" {
			t.Errorf("%v", env)
		}
		want := map[string]string{"LLM_API_BASE": "http://127.0.0.1:18080/v1", "OPENAI_BASE_URL": "http://127.0.0.1:18080/v1", "ANTHROPIC_BASE_URL": "http://127.0.0.1:18080"}
		if d := cmp.Diff(want, values(got.Spec.Containers[0])); d != "" {
			t.Error(d)
		}
	})
	t.Run("it is done once", func(t *testing.T) {
		once, _ := h.review(annotated())
		if again, a := h.review(once); a.Patch != nil || len(a.Warnings) > 0 {
			t.Errorf("%s %+v", a.Patch, again)
		}
	})
	t.Run("what the application called becomes the upstream", func(t *testing.T) {
		p := annotated("tenant", "acme")
		grace := int64(120)
		p.Labels = map[string]string{"a": "b"}
		p.Spec.TerminationGracePeriodSeconds = &grace
		p.Spec.InitContainers = []core.Container{{Name: "first", Image: "i:1"}}
		p.Spec.Volumes = []core.Volume{{Name: "v"}}
		key := core.EnvVar{Name: "OPENAI_API_KEY", ValueFrom: &core.EnvVarSource{SecretKeyRef: &core.SecretKeySelector{LocalObjectReference: core.LocalObjectReference{Name: "k"}, Key: "key"}}}
		base := core.EnvVar{Name: "OPENAI_BASE_URL", ValueFrom: &core.EnvVarSource{ConfigMapKeyRef: &core.ConfigMapKeySelector{LocalObjectReference: core.LocalObjectReference{Name: "c"}, Key: "base"}}}
		p.Spec.Containers[0].Env = []core.EnvVar{key, base, {Name: "ANTHROPIC_BASE_URL", Value: "https://claude.example"}}
		got, _ := h.review(p)
		if names := []string{got.Spec.InitContainers[0].Name, got.Spec.InitContainers[1].Name}; !slices.Equal(names, []string{"first", "hindsight"}) || got.Labels["a"] != "b" || len(got.Spec.Volumes) != 3 {
			t.Fatalf("%+v", got)
		}
		env := got.Spec.InitContainers[1].Env
		base.Name = "LLM_API_BASE"
		want := []core.EnvVar{{Name: "HINDSIGHT_DRAIN_GRACE", Value: "110s"}, {Name: "HINDSIGHT_TENANT", Value: "acme"}, base, {Name: "LLM_API_BASE_ANTHROPIC", Value: "https://claude.example"}}
		if d := cmp.Diff(want, env[len(env)-4:]); d != "" {
			t.Error(d)
		}
		app := got.Spec.Containers[0].Env
		wantApp := []core.EnvVar{key, {Name: "OPENAI_BASE_URL", Value: "http://127.0.0.1:18080/v1"}, {Name: "ANTHROPIC_BASE_URL", Value: "http://127.0.0.1:18080"}, {Name: "LLM_API_BASE", Value: "http://127.0.0.1:18080/v1"}}
		if d := cmp.Diff(wantApp, app); d != "" {
			t.Error(d)
		}
	})
	t.Run("the annotations decide", func(t *testing.T) {
		p := annotated("llm-api-base", "https://other.example/v1", "containers", "two", "volume", "kept")
		p.Spec.Containers = append(p.Spec.Containers, core.Container{Name: "two", Image: "b:1", Env: []core.EnvVar{{Name: "LLM_API_BASE", Value: "https://mine.example"}}})
		p.Spec.Volumes = []core.Volume{{Name: "kept"}}
		got, _ := h.review(p)
		side := got.Spec.InitContainers[0]
		if values(side)["LLM_API_BASE"] != "https://other.example/v1" || len(got.Spec.Containers[0].Env) != 0 || len(got.Spec.Containers[1].Env) != 3 {
			t.Errorf("%+v", got.Spec)
		}
		if side.VolumeMounts[0].Name != "kept" || len(got.Spec.Volumes) != 2 {
			t.Errorf("%+v %+v", side.VolumeMounts, got.Spec.Volumes)
		}
	})
	t.Run("pods that don't ask", func(t *testing.T) {
		none, off := annotated(), annotated("inject", "false")
		none.Annotations = nil
		for _, p := range []*core.Pod{none, off} {
			if _, a := h.review(p); a.Patch != nil || len(a.Warnings) > 0 {
				t.Errorf("%s %v", a.Patch, a.Warnings)
			}
		}
	})
	t.Run("what can't be is let in with a warning", func(t *testing.T) {
		composed := annotated()
		composed.Spec.Containers[0].Env = []core.EnvVar{{Name: "HOST", Value: "x"}, {Name: "LLM_API_BASE", Value: "https://$(HOST)/v1"}}
		for word, p := range map[string]*core.Pod{
			"inject": annotated("inject", "yes"), "containers": annotated("containers", "nobody"), "volume": annotated("volume", "none"), "other variables": composed,
		} {
			if _, a := h.review(p); a.Patch != nil || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], word) {
				t.Errorf("%s: %s %v", word, a.Patch, a.Warnings)
			}
		}
	})
	t.Run("what is no review", func(t *testing.T) {
		for _, body := range []string{"", "{", `{"kind":"AdmissionReview"}`, "[]", strings.Repeat(" ", 9<<20)} {
			resp, err := h.client.Post(h.url+"/inject", "application/json", strings.NewReader(body))
			if err != nil {
				continue // the connection was cut at the limit
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%.20q: %s", body, resp.Status)
			}
		}
	})
	t.Run("a new certificate is served", func(t *testing.T) {
		h.trust(h.certificate())
		until(t, "the new one", h.healthy)
	})
}

func TestWebhookWithoutAnUpstream(t *testing.T) {
	h := startHook(t)
	if _, a := h.review(annotated()); a.Patch != nil || len(a.Warnings) != 1 || !strings.Contains(a.Warnings[0], "hindsight/llm-api-base") {
		t.Errorf("%s %v", a.Patch, a.Warnings)
	}
}

func TestWebhookWantsACertificate(t *testing.T) {
	out, err := exec.Command(binary(t), "inject-sidecar", "--image", "x", "--tls-cert-file", "/none", "--tls-key-file", "/none").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "--tls-cert-file") {
		t.Errorf("%v %s", err, out)
	}
}

// TestSidecarsAreOne compares the sidecar of the plain manifest with those that
// the webhook and the library chart make for the same pod.
func TestSidecarsAreOne(t *testing.T) {
	var plain *apps.Deployment
	for _, o := range decodeAll(t, "sidecar.yaml", read(t, "deploy/kubernetes/sidecar.yaml")) {
		if d, ok := o.(*apps.Deployment); ok {
			plain = d
		}
	}
	bare := annotated("llm-api-base", "https://api.openai.com/v1")
	bare.Spec.Containers = []core.Container{*plain.Spec.Template.Spec.Containers[0].DeepCopy()}
	bare.Spec.Containers[0].Env = nil
	bare.Spec.TerminationGracePeriodSeconds = plain.Spec.Template.Spec.TerminationGracePeriodSeconds
	hooked, _ := startHook(t).review(bare)
	if d := cmp.Diff(plain.Spec.Template.Spec, hooked.Spec); d != "" {
		t.Errorf("the webhook's pod is another (-manifest +webhook):\n%s", d)
	}
	if d := cmp.Diff(plain.Spec.Template.Spec, application(t, "{}").Spec.Template.Spec); d != "" {
		t.Errorf("the chart's pod is another (-manifest +chart):\n%s", d)
	}
}
