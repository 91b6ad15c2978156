package kill

import (
	"testing"

	"hindsight/internal/mutant"
)

// The power-loss build and the faults fit the source as it is; `make power` builds
// them.
func TestBuildsFitTheSource(t *testing.T) {
	if testing.Short() {
		t.Skip("copies two modules")
	}
	if err := mutant.Fit(t.Context(), Power()...); err != nil {
		t.Error(err)
	}
	for name, edits := range Faults() {
		if err := mutant.Fit(t.Context(), edits...); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
