package check

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
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
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]int{}
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
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
