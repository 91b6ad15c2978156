package mutant

import (
	"strings"
	"testing"
)

// A change that no longer fits the source is an error, not a build without it.
func TestAnEditMustFitOnce(t *testing.T) {
	for _, e := range []Edit{
		{File: "store/job.go", Old: "no such line", New: ""},
		{File: "store/job.go", Old: "string", New: ""},
		{Module: "github.com/google/go-cmp", File: "cmp/compare.go", Old: "no such line", New: ""},
	} {
		err := Fit(t.Context(), e)
		if err == nil || !strings.Contains(err.Error(), "times, not once") || !strings.Contains(err.Error(), e.File) {
			t.Errorf("%s %q: %v", e.File, e.Old, err)
		}
	}
}
