package z

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What a power loss leaves is what was synced: bytes by a file's sync, names and
// their absence by the directory's.
func TestOnlyWhatIsSyncedIsLeft(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	t.Setenv(SyncedFrom, from)
	t.Setenv(SyncedTo, to)
	path := func(name string) string { return filepath.Join(from, name) }
	left := func(want map[string]string) {
		t.Helper()
		got := map[string]string{}
		list, err := os.ReadDir(to)
		check(t, err)
		for _, e := range list {
			b, err := os.ReadFile(filepath.Join(to, e.Name()))
			check(t, err)
			got[e.Name()] = string(b)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("what is left: %s", d)
		}
	}
	dir, err := os.Open(from)
	check(t, err)
	defer dir.Close()
	log, err := os.Create(path("log"))
	check(t, err)
	defer log.Close()
	write := func(text string) {
		t.Helper()
		_, err := log.WriteString(text)
		check(t, err)
	}

	write("one ")
	check(t, SyncFile(log))
	write("two ")
	check(t, os.WriteFile(path("other"), []byte("12345"), 0o600))
	left(map[string]string{"log": "one "})

	check(t, SyncFile(dir)) // the name of the other, and none of its bytes
	left(map[string]string{"log": "one ", "other": "\x00\x00\x00\x00\x00"})

	check(t, SyncFile(log))
	check(t, os.Rename(path("log"), path("other")))
	check(t, os.Link(path("other"), path("linked")))
	left(map[string]string{"log": "one two ", "other": "\x00\x00\x00\x00\x00"})

	check(t, SyncFile(dir))
	left(map[string]string{"other": "one two ", "linked": "one two "})

	check(t, os.Remove(path("linked")))
	big := strings.Repeat("x", 600<<10)
	check(t, os.WriteFile(path("other"), []byte(big), 0o600))
	left(map[string]string{"other": "one two ", "linked": "one two "})

	other, err := os.Open(path("other"))
	check(t, err)
	defer other.Close()
	check(t, SyncFile(other))
	check(t, SyncFile(dir))
	left(map[string]string{"other": big})
}
