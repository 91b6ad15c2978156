package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
)

const rulesFile = "deploy/prometheus/rules/hindsight.yml"

// exported are the metrics of two real servers that have had some traffic, and
// each one's labels: one keeps its memories itself, the other's Weaviate is away.
func exported(t *testing.T) map[string]map[string]bool {
	t.Helper()
	key := filepath.Join(t.TempDir(), "identity.key")
	if err := os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	out := exportedBy(t, []string{"hindsight_reflect_memories_total", "hindsight_reflect_verdicts_total", "hindsight_prefix_total", "hindsight_reflect_dropped_total"})
	maps.Copy(out, exportedBy(t, []string{"hindsight_fleet_recalls_total"}, "VECTOR_DB_URL=http://127.0.0.1:1", "HINDSIGHT_IDENTITY_KEY_FILE="+key))
	out["up"] = map[string]bool{"instance": true, "job": true} // Prometheus makes it
	return out
}

// exportedBy waits until all of some metrics are there; what has no label yet
// isn't exported at the start.
func exportedBy(t *testing.T, wait []string, env ...string) map[string]map[string]bool {
	t.Helper()
	proxy, metrics := freeAddress(t), freeAddress(t)
	cmd := exec.Command(binary(t), "serve")
	cmd.Env = append(env,
		"LLM_API_BASE="+scripted(t), "LLM_API_KEY=sk-reflection", "HINDSIGHT_DATA_DIR="+t.TempDir(), "HINDSIGHT_SESSION_IDLE=1s", "HINDSIGHT_TENANT=default", "HINDSIGHT_DEFAULT_USER=ann",
		"HINDSIGHT_LISTEN="+proxy, "HINDSIGHT_ADMIN_LISTEN="+freeAddress(t), "HINDSIGHT_METRICS_LISTEN="+metrics)
	p := start(t, cmd)
	until(t, "ready", func() bool {
		_, body := get(t, "http://"+proxy+"/hindsight/readyz")
		return strings.Contains(string(body), `"ready":true`) && !strings.Contains(string(body), `"memory":"off"`)
	})
	chat := func(messages string) string {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+proxy+"/v1/chat/completions",
			strings.NewReader(`{"model":"scripted-1","messages":[`+messages+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer sk-1")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatalf("%v\n%s", err, p.output())
		}
		defer resp.Body.Close()
		var a struct {
			Choices []struct{ Message json.RawMessage }
		}
		if err := json.NewDecoder(resp.Body).Decode(&a); err != nil || len(a.Choices) == 0 {
			return ""
		}
		return string(a.Choices[0].Message)
	}
	chat(`{"role":"user","content":"Please remember that the staging database listens on port 5433."}`)
	var families map[string]*dto.MetricFamily
	scraped := func(name string) bool {
		code, body := get(t, "http://"+metrics+"/metrics")
		dec := expfmt.NewTextParser(model.LegacyValidation)
		var err error
		if families, err = dec.TextToMetricFamilies(bytes.NewReader(body)); err != nil || code != http.StatusOK {
			t.Fatalf("%d %v", code, err)
		}
		return families[name] != nil
	}
	until(t, wait[0], func() bool { return scraped(wait[0]) })
	// A conversation that gets a note, and carries it on.
	question := `{"role":"user","content":"Which port does the staging database listen on?"}`
	chat(question + "," + chat(question) + `,{"role":"user","content":"Thank you, and the user name there?"}`)
	chat(`{"role":"user","content":"What is the weather on the moon?"}`)
	chat(`{"role":`)
	until(t, strings.Join(wait, ", "), func() bool {
		scraped("")
		return !slices.ContainsFunc(wait, func(name string) bool { return families[name] == nil })
	})
	out := map[string]map[string]bool{}
	for name, f := range families {
		has := map[string]bool{"instance": true, "job": true} // Prometheus adds them
		for _, m := range f.Metric {
			for _, l := range m.Label {
				has[l.GetName()] = true
			}
		}
		out[name] = has
		if f.GetType() == dto.MetricType_HISTOGRAM {
			out[name+"_sum"], out[name+"_count"] = has, has
			out[name+"_bucket"] = maps.Clone(has)
			out[name+"_bucket"]["le"] = true
			delete(out, name)
		}
	}
	return out
}

// unknown are the metrics and labels of an expression that aren't exported.
func unknown(expr string, known map[string]map[string]bool) ([]string, error) {
	e, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
	if err != nil {
		return nil, err
	}
	var out []string
	grouped := map[string]bool{}
	all := map[string]bool{}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			has, ok := known[n.Name]
			if !ok {
				out = append(out, n.Name)
				return nil
			}
			maps.Copy(all, has)
			for _, m := range n.LabelMatchers {
				if m.Name != labels.MetricName && !has[m.Name] {
					out = append(out, fmt.Sprintf("%s{%s}", n.Name, m.Name))
				}
			}
		case *parser.AggregateExpr:
			for _, l := range n.Grouping {
				grouped[l] = true
			}
		}
		return nil
	})
	for l := range grouped {
		if !all[l] {
			out = append(out, "by ("+l+")")
		}
	}
	return out, nil
}

func TestAlertsAndDashboardNameWhatIsExported(t *testing.T) {
	known := exported(t)
	named := map[string]bool{}
	look := func(where, expr string) {
		t.Helper()
		missing, err := unknown(expr, known)
		if err != nil {
			t.Errorf("%s: %v: %s", where, err, expr)
		}
		if len(missing) > 0 {
			t.Errorf("%s names what isn't exported: %v", where, missing)
		}
		for _, m := range regexp.MustCompile(`hindsight_[a-z_]+`).FindAllString(expr, -1) {
			named[m] = true
		}
	}
	rules, errs := rulefmt.Parse(read(t, rulesFile), false, model.LegacyValidation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(errs) > 0 {
		t.Fatalf("the rules: %v", errs)
	}
	seen := map[string]bool{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			look(r.Alert, r.Expr)
			if seen[r.Alert] || r.Alert == "" {
				t.Errorf("two alerts are called %q", r.Alert)
			}
			seen[r.Alert] = true
			if s := r.Labels["severity"]; s != "critical" && s != "warning" || r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
				t.Errorf("%s: severity %q, %v", r.Alert, s, r.Annotations)
			}
		}
	}
	var dash struct {
		UID        string
		Templating struct {
			List []struct {
				Name  string
				Query json.RawMessage
			}
		}
		Panels []struct {
			ID      int
			Title   string
			Type    string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(read(t, "deploy/grafana/dashboards/hindsight.json"), &dash); err != nil {
		t.Fatal(err)
	}
	vars := strings.NewReplacer("$__rate_interval", "5m", "$instance", ".*")
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range dash.Panels {
		if ids[p.ID] {
			t.Errorf("two panels have the id %d", p.ID)
		}
		ids[p.ID] = true
		for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				if other := taken[[2]int{x, y}]; other != "" || x > 23 {
					t.Fatalf("%s covers %s at %d,%d", p.Title, other, x, y)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %s shows nothing", p.Title)
		}
		for _, target := range p.Targets {
			look("the panel "+p.Title, vars.Replace(target.Expr))
		}
	}
	for _, v := range dash.Templating.List {
		for _, m := range regexp.MustCompile(`hindsight_[a-z_]+`).FindAllString(string(v.Query), -1) {
			if known[m] == nil {
				t.Errorf("the variable %s asks for %s", v.Name, m)
			}
		}
	}
	var unseen []string
	for name := range known {
		base := strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(name, "_bucket"), "_sum"), "_count")
		if strings.HasPrefix(name, "hindsight_") && !named[name] && !named[base+"_bucket"] {
			unseen = append(unseen, name)
		}
	}
	slices.Sort(unseen)
	t.Logf("%d metrics are named; exported and shown nowhere: %v", len(named), unseen)
}

// TestMonitoringFindsItsFiles holds the files of the compose profile together:
// each is where the other one looks for it.
func TestMonitoringFindsItsFiles(t *testing.T) {
	p := mustCompose(t, "monitoring")
	target := func(service, source string) string {
		t.Helper()
		for _, v := range p.Services[service].Volumes {
			if rel, err := filepath.Rel(p.WorkingDir, v.Source); err == nil && rel == source {
				return v.Target
			}
		}
		t.Errorf("%s doesn't mount %s", service, source)
		return "none"
	}
	mounted, dashboards := target("prometheus", "deploy/prometheus"), target("grafana", "deploy/grafana/dashboards")
	if target("grafana", "deploy/grafana/provisioning") != "/etc/grafana/provisioning" {
		t.Error("Grafana looks for its sources and dashboards elsewhere")
	}
	if c := p.Services["prometheus"].Command; !slices.Contains(c, "--config.file="+mounted+"/prometheus.yml") {
		t.Errorf("Prometheus reads %v", c)
	}
	for file, wants := range map[string][]string{
		"deploy/prometheus/prometheus.yml":                       {"- rules/*.yml", "hindsight:9464"},
		"deploy/grafana/provisioning/dashboards/hindsight.yml":   {"path: " + dashboards},
		"deploy/grafana/provisioning/datasources/prometheus.yml": {"url: http://prometheus:9090"},
	} {
		for _, want := range wants {
			if !strings.Contains(string(read(t, file)), want) {
				t.Errorf("%s has no %s", file, want)
			}
		}
	}
}
