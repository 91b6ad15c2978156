package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Backups are made while the server works, and of a directory that nobody
// holds; a restored directory serves.
func TestBackUpAndRestore(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var env []string
			folder, ring := filepath.Join(t.TempDir(), "backups"), filepath.Join(t.TempDir(), "scopes.keys")
			var with []string
			if encrypted {
				key := filepath.Join(t.TempDir(), "encryption.key")
				if err := os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
					t.Fatal(err)
				}
				env, with = append(env, "HINDSIGHT_ENCRYPTION_KEY_FILE="+key), []string{"--keys", ring}
			}
			w := newWorld(t, env...)
			sh := &shell{t, w.env}
			backup := func(args ...string) (r backupReport) {
				t.Helper()
				args = append(append([]string{"backup", folder, "--json"}, with...), args...)
				if err := json.Unmarshal([]byte(sh.must(args...)), &r); err != nil {
					t.Fatal(err)
				}
				return r
			}
			gone := w.remember("ann", `"text":"The gate code is 5577.","type":"user_fact"`)
			if r := backup(); !r.Full || r.Rows == 0 || !r.Identity {
				t.Errorf("the first backup: %+v", r)
			}
			w.remember("ann", `"text":"The boat is called Marlin.","type":"user_fact"`)
			w.admin("DELETE", "/api/v1/memories/"+gone.ID+"?erase=true", "")
			second := backup()
			if second.Full {
				t.Errorf("the second backup: %+v", second)
			}
			w.stop()
			if r := backup(); r.Full { // nobody holds the directory now
				t.Errorf("the third backup: %+v", r)
			}

			if out := sh.must(append([]string{"restore", folder, "--check"}, with...)...); !strings.Contains(out, "1 memory") {
				t.Errorf("the check says %q", out)
			}
			if code, _, errs := sh.run(append([]string{"restore", folder}, with...)...); code == 0 || !strings.Contains(errs, "isn't empty") {
				t.Errorf("restoring over data: %d, %s", code, errs)
			}
			w.env["HINDSIGHT_DATA_DIR"] = filepath.Join(t.TempDir(), "new")
			if encrypted {
				if code, _, errs := sh.run("restore", folder); code != exitUsage || !strings.Contains(errs, "--keys") {
					t.Errorf("without the scopes' keys: %d, %s", code, errs)
				}
			}
			sh.must(append([]string{"restore", folder}, with...)...)
			w.start()
			if got := w.memories("ann"); len(got) != 1 || !strings.Contains(got[0].Text, "Marlin") {
				t.Errorf("restored: %v", got)
			}
			w.stop()

			// Of a damaged folder what is whole can be restored.
			b, err := os.ReadFile(second.File)
			if err != nil {
				t.Fatal(err)
			}
			b[len(b)/2] ^= 1
			if err := os.WriteFile(second.File, b, 0o600); err != nil {
				t.Fatal(err)
			}
			w.env["HINDSIGHT_DATA_DIR"] = filepath.Join(t.TempDir(), "older")
			code, _, errs := sh.run(append([]string{"restore", folder}, with...)...)
			if code == 0 || !strings.Contains(errs, filepath.Base(second.File)) || !strings.Contains(errs, "--until") {
				t.Errorf("a damaged one: %d, %s", code, errs)
			}
			_, until, _ := strings.Cut(errs, "--until ")
			until, _, _ = strings.Cut(until, ".backup")
			if out := sh.must(append([]string{"restore", folder, "--until", until + ".backup"}, with...)...); !strings.Contains(out, "1 memory") {
				t.Errorf("the older one: %q", out)
			}
			w.env["HINDSIGHT_DATA_DIR"] = filepath.Join(filepath.Dir(w.env["HINDSIGHT_DATA_DIR"]), "older")
			if r := backup(); !r.Full {
				t.Errorf("after a damaged one comes %+v", r)
			}
		})
	}
}
