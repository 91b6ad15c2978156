package check

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

func loadChart(t *testing.T, dir string) *chart.Chart {
	t.Helper()
	c, err := loader.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// render is `helm template`.
func render(t *testing.T, c *chart.Chart, values string) ([]any, error) {
	t.Helper()
	var v map[string]any
	if err := yaml.UnmarshalStrict([]byte(values), &v); err != nil {
		t.Fatal(err)
	}
	if err := chartutil.ProcessDependenciesWithMerge(c, v); err != nil {
		return nil, err
	}
	caps := chartutil.DefaultCapabilities.Copy()
	caps.KubeVersion = chartutil.KubeVersion{Version: "v1.30.0", Major: "1", Minor: "30"}
	all, err := chartutil.ToRenderValues(c, v, chartutil.ReleaseOptions{Name: "demo", Namespace: "prod", IsInstall: true}, caps)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(c, all)
	if err != nil {
		return nil, err
	}
	var out []any
	for name, f := range files {
		if strings.HasSuffix(name, ".yaml") {
			out = append(out, decodeAll(t, name, []byte(f))...)
		} else if strings.HasSuffix(name, "NOTES.txt") && strings.Contains(f, "<no value>") {
			t.Errorf("%s: %s", name, f)
		}
	}
	return out, nil
}

const chartDir = root + "/deploy/helm/hindsight"

func TestChartLint(t *testing.T) {
	for dir, values := range map[string]string{
		chartDir:                                "{webhook: {enabled: true}, weaviate: {enabled: true}, identity: {existingSecret: x}}",
		root + "/deploy/helm/hindsight-sidecar": "{}",
	} {
		var v map[string]any
		if err := yaml.Unmarshal([]byte(values), &v); err != nil {
			t.Fatal(err)
		}
		for _, m := range lint.All(dir, v, "prod", true).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", dir, m)
			}
		}
	}
}

func TestChart(t *testing.T) {
	for name, c := range map[string]struct {
		values string
		made   []string // controllers
		ours   int      // containers that are Hindsight
	}{
		"plain":              {"{}", []string{"demo-hindsight"}, 1},
		"every option":       {"{tenant: acme, config: {top_k: 3}, env: {HINDSIGHT_TZ: Asia/Shanghai}, llm: {apiBaseAnthropic: 'https://api.anthropic.com'}, metrics: {serviceMonitor: {enabled: true, labels: {release: prometheus}}}, image: {pullSecrets: [{name: r}]}, nodeSelector: {a: b}, tolerations: [{key: k}], affinity: {nodeAffinity: {}}, persistence: {storageClass: fast}, networkPolicy: {from: [{namespaceSelector: {}}]}}", []string{"demo-hindsight"}, 1},
		"a fleet":            {"{replicas: 3, weaviate: {enabled: true, replicas: 3, storageClass: fast}, identity: {existingSecret: hindsight-identity}}", []string{"demo-hindsight", "demo-hindsight-weaviate"}, 1},
		"another's Weaviate": {"{weaviate: {url: 'http://w:8080'}, identity: {existingSecret: hindsight-identity}}", []string{"demo-hindsight"}, 1},
		"the webhook alone":  {"{enabled: false, webhook: {enabled: true}}", []string{"demo-hindsight-webhook"}, 1},
		"all":                {"{webhook: {enabled: true, existingSecret: tls, caBundle: PEM}, weaviate: {enabled: true}, identity: {existingSecret: x}}", []string{"demo-hindsight", "demo-hindsight-weaviate", "demo-hindsight-webhook"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			objects, err := render(t, loadChart(t, chartDir), c.values)
			if err != nil {
				t.Fatal(err)
			}
			hang(t, objects)
			promised(t, objects)
			if n := runs(t, objects); n != c.ours {
				t.Errorf("%d containers are Hindsight, want %d", n, c.ours)
			}
			var made []string
			for n := range templates(objects) {
				made = append(made, n)
			}
			slices.Sort(made)
			if !slices.Equal(made, c.made) {
				t.Errorf("it makes %v, want %v", made, c.made)
			}
			if strings.Contains(c.values, "weaviate: {enabled") {
				closed(t, objects)
			}
		})
	}
}

func TestChartFleetSharesWhatItMust(t *testing.T) {
	objects, err := render(t, loadChart(t, chartDir), "{replicas: 3, weaviate: {enabled: true, replicas: 3}, identity: {existingSecret: hindsight-identity}}")
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{}
	for _, e := range templates(objects)["demo-hindsight"].Spec.Containers[0].Env {
		env[e.Name] = e.Value
	}
	if env["VECTOR_DB_URL"] != "http://demo-hindsight-weaviate:8080" || env["MEMORY_COLLECTION"] != "AgentMemory" || env["HINDSIGHT_IDENTITY_KEY_FILE"] != "/etc/hindsight/identity/identity.key" {
		t.Errorf("%v", env)
	}
	for _, e := range templates(objects)["demo-hindsight-weaviate"].Spec.Containers[0].Env {
		if e.Name == "RAFT_JOIN" && e.Value != "demo-hindsight-weaviate-0,demo-hindsight-weaviate-1,demo-hindsight-weaviate-2" {
			t.Errorf("RAFT_JOIN is %s", e.Value)
		}
	}
}

func TestChartRefuses(t *testing.T) {
	for values, want := range map[string]string{
		"{replicas: 2}":                                  "replicas",
		"{weaviate: {enabled: true}}":                    "identity.existingSecret",
		"{weaviate: {enabled: true, url: 'http://w:1'}}": "exclude",
		"{webhook: {existingSecret: x}}":                 "caBundle",
		"{llm: {apiBase: openai}}":                       "apiBase",
		"{replica: 2}":                                   "replica",
	} {
		if _, err := render(t, loadChart(t, chartDir), values); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// TestChartMakesACertificate looks at what the webhook serves with and what the
// API server is told to trust.
func TestChartMakesACertificate(t *testing.T) {
	objects, err := render(t, loadChart(t, chartDir), "{enabled: false, webhook: {enabled: true}}")
	if err != nil {
		t.Fatal(err)
	}
	var secret *core.Secret
	var hook *admissionregistration.MutatingWebhookConfiguration
	for _, o := range objects {
		switch o := o.(type) {
		case *core.Secret:
			secret = o
		case *admissionregistration.MutatingWebhookConfiguration:
			hook = o
		}
	}
	client := hook.Webhooks[0].ClientConfig
	trusts(t, client.CABundle, secret.Data["tls.crt"], secret.Data["tls.key"], client.Service.Name+"."+client.Service.Namespace+".svc")
}

// application renders a chart that uses the library chart.
func application(t *testing.T, values string) *apps.Deployment {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/app")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "charts", "hindsight-sidecar"), os.DirFS(root+"/deploy/helm/hindsight-sidecar")); err != nil {
		t.Fatal(err)
	}
	objects, err := render(t, loadChart(t, dir), values)
	if err != nil {
		t.Fatal(err)
	}
	hang(t, objects)
	promised(t, objects)
	if n := runs(t, objects); n != 1 {
		t.Errorf("%d containers are Hindsight", n)
	}
	return objects[0].(*apps.Deployment)
}

func TestSidecarChart(t *testing.T) {
	pod := application(t, "{hindsight: {tenant: acme, dataVolume: hindsight-identity, anthropicBase: 'https://api.anthropic.com', drainGrace: 20s, configName: mine, resources: {limits: {memory: 2Gi}, requests: {memory: 1Gi}}}}").Spec.Template.Spec
	side := pod.InitContainers[0]
	env := map[string]string{}
	for _, e := range side.Env {
		env[e.Name] = e.Value
	}
	if env["HINDSIGHT_TENANT"] != "acme" || env["LLM_API_BASE_ANTHROPIC"] != "https://api.anthropic.com" || env["HINDSIGHT_DRAIN_GRACE"] != "20s" ||
		side.EnvFrom[0].ConfigMapRef.Name != "mine" || side.Resources.Limits.Memory().String() != "2Gi" || len(pod.Volumes) != 1 || side.VolumeMounts[0].Name != "hindsight-identity" {
		t.Errorf("%+v", side)
	}
}
