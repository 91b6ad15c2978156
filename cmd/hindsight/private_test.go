package main

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nobody but the owner can read what the process writes, also in a directory that was
// there and open to all, and in the files that Badger makes.
func TestFilesAreTheOwnersAlone(t *testing.T) {
	leftToWhole(t)
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s := serveProcess(t, "HINDSIGHT_DATA_DIR="+dir, "HINDSIGHT_TENANT=acme", "HINDSIGHT_EMBEDDER=none", "HINDSIGHT_ADMIN_TOKEN=private-files-token")
	s.until("memory is on", func() bool { return strings.Contains(s.call(http.MethodGet, s.admin+"/readyz", ""), `"memory":"on"`) })
	s.call(http.MethodPost, s.admin+"/api/v1/memories", `{"scope":"user:ann","type":"user_fact","text":"My boat is called Zanzibar."}`, "Authorization: Bearer private-files-token")
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %s", d.Name(), info.Mode())
		}
		n++
		return err
	})
	if err != nil || n < 5 {
		t.Fatalf("%d files, %v", n, err)
	}
}
