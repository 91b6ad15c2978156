package check

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"helm.sh/helm/v3/pkg/strvals"
	core "k8s.io/api/core/v1"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

var (
	yamlBlock = regexp.MustCompile("(?ms)^ *```yaml\n(.*?)^ *```")
	topKey    = regexp.MustCompile(`(?m)^ *(\w+):`)
)

// TestYAMLOfDocuments reads what the pages show of Kubernetes and Compose into
// the programs' own types: a part of a pod, a part of a container, a project.
func TestYAMLOfDocuments(t *testing.T) {
	read := map[string]int{}
	for page, b := range pages(t) {
		for _, m := range yamlBlock.FindAllSubmatch(b, -1) {
			key := topKey.FindSubmatch(m[1])
			if key == nil {
				t.Errorf("%s: a block without a key", page)
				continue
			}
			var into any
			switch kind := string(key[1]); kind {
			case "metadata", "spec":
				into = &core.PodTemplateSpec{}
			case "lifecycle":
				into = &core.Container{}
			case "services":
				loadCompose(t, page, m[1])
			default:
				continue // Hindsight's own, or another program's
			}
			read[string(key[1])]++
			if into == nil {
				continue
			}
			raw, err := yaml.YAMLToJSONStrict(m[1])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if strict, err := kjson.UnmarshalStrict(raw, into); err != nil || len(strict) > 0 {
				t.Errorf("%s: %v %v in\n%s", page, err, strict, m[1])
			}
		}
	}
	for _, kind := range []string{"metadata", "spec", "lifecycle", "services"} {
		if read[kind] == 0 {
			t.Errorf("no block begins with %s: was one lost?", kind)
		}
	}
}

// pages are the documents' texts.
func pages(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		if out[file], err = os.ReadFile(file); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// TestInstallsOfDocuments renders the charts that the pages install with what they
// set there, and finds the manifests that they apply.
func TestInstallsOfDocuments(t *testing.T) {
	installed, applied := 0, 0
	for page, b := range pages(t) {
		for line := range strings.Lines(strings.ReplaceAll(string(b), "\\\n", " ")) {
			words := strings.Fields(line)
			switch {
			case len(words) > 3 && words[0] == "helm" && words[1] == "install":
				installed++
				values := map[string]any{}
				for i, w := range words[:len(words)-1] {
					if w != "--set" {
						continue
					}
					if err := strvals.ParseInto(words[i+1], values); err != nil {
						t.Errorf("%s: %v in %s", page, err, line)
					}
				}
				set, err := yaml.Marshal(values)
				if err != nil {
					t.Fatal(err)
				}
				if objects, err := render(t, loadChart(t, filepath.Join(root, words[3])), string(set)); err != nil || len(objects) == 0 {
					t.Errorf("%s: %d objects, %v from %s", page, len(objects), err, line)
				}
			case len(words) > 3 && words[0] == "kubectl" && words[1] == "apply" && words[2] == "-f":
				applied++
				if _, err := os.Stat(filepath.Join(root, words[3])); err != nil {
					t.Errorf("%s: %v", page, err)
				}
			}
		}
	}
	if installed == 0 || applied == 0 {
		t.Errorf("%d charts are installed and %d manifests applied: were the lines lost?", installed, applied)
	}
}

// loadCompose loads a page's services as a project of their own.
func loadCompose(t *testing.T, page string, block []byte) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "compose.yaml")
	if err := os.WriteFile(file, block, 0o600); err != nil {
		t.Fatal(err)
	}
	o, err := cli.NewProjectOptions([]string{file}, cli.WithName("page"), cli.WithEnv([]string{"OPENAI_API_KEY=sk-test"}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.LoadProject(t.Context()); err != nil {
		t.Errorf("%s: %v", page, err)
	}
}
