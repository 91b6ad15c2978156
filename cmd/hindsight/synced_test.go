//go:build disk

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What the kernel is asked for by a backup: the file is synced before it gets its
// name, and the folder after it has.
func TestABackupIsSyncedBeforeItCounts(t *testing.T) {
	dir, folder, log := t.TempDir(), filepath.Join(t.TempDir(), "backups"), filepath.Join(t.TempDir(), "calls")
	s := &shell{t, map[string]string{"HINDSIGHT_DATA_DIR": dir, "HINDSIGHT_EMBEDDER": "none"}}
	s.must("memories", "add", "The gate code is 5577.", "--scope", "user:ann", "--type", "user_fact")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "hindsight") // what the test binary is under that name
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("strace", "-f", "-y", "-e", "trace=fsync,rename,renameat,renameat2", "-o", log, link, "backup", folder)
	cmd.Env = append(os.Environ(), "HINDSIGHT_DATA_DIR="+dir, "HINDSIGHT_EMBEDDER=none")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	calls, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	name := regexp.QuoteMeta(folder)
	var steps []string
	for _, line := range strings.Split(string(calls), "\n") {
		for what, is := range map[string]string{
			"sync the file":   `fsync\(\d+<` + name + `/[^>]*\.backup\.\d+>`,
			"name it":         `rename.*"` + name + `/[^"]*\.backup\.\d+".*\.backup"`,
			"sync the folder": `fsync\(\d+<` + name + `>`,
		} {
			if regexp.MustCompile(is).MatchString(line) {
				steps = append(steps, what)
			}
		}
	}
	if got := strings.Join(steps, ", "); !strings.HasPrefix(got, "sync the file, name it, sync the folder") {
		t.Errorf("the calls are: %s\n%s", got, calls)
	}
}
