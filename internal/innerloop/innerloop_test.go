package innerloop

import (
	"os"
	"path/filepath"
	"testing"
)

var own string // the developer's own

func TestMain(m *testing.M) {
	own = os.Getenv("TMPDIR")
	os.Exit(Tests{m}.Run())
}

// Short tests have their directories in memory where there is room, whole ones on
// the disk.
func TestWhereFilesLie(t *testing.T) {
	if own != "" {
		t.Skip("TMPDIR is set")
	}
	in := filepath.Dir(filepath.Dir(t.TempDir()))
	if want := testing.Short() && roomy(); (in == memory) != want {
		t.Errorf("short: %v, room: %v, and the files lie in %s", testing.Short(), roomy(), in)
	}
}
