package documents

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	namedTest = regexp.MustCompile("`(Test[A-Z]\\w*)`")
	testFunc  = regexp.MustCompile(`(?m)^func (Test\w+)\(`)
)

// TestNamedTestsAreThere finds each test that a page of docs names as its proof.
func TestNamedTestsAreThere(t *testing.T) {
	there := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, m := range testFunc.FindAllSubmatch(b, -1) {
			there[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, doc := range all(t) {
		b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(doc.Path)))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedTest.FindAllSubmatch(b, -1) {
			if named++; !there[string(m[1])] {
				t.Errorf("%s names %s, which isn't there", doc.Path, m[1])
			}
		}
	}
	if named < 50 {
		t.Errorf("the pages name %d tests", named)
	}
}
