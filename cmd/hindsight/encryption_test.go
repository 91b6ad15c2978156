package main

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A conversation, what it taught and who it was with lie nowhere open in an
// encrypted directory; without the key requests are forwarded, and memory says
// what it misses.
func TestAnEncryptedDirectoryNeedsItsKey(t *testing.T) {
	t.Parallel()
	key := filepath.Join(t.TempDir(), "encryption.key")
	if err := os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "HINDSIGHT_ENCRYPTION_KEY_FILE="+key)
	w.remember("heliodora", `"text":"My locker is zanzibar 4711.","type":"user_fact"`)
	r := w.send(`{"model":"m","messages":[{"role":"user","content":"Which locker is mine? I say xylophone."}]}`, "Hindsight-User: heliodora")
	if !strings.Contains(string(w.last().body), "zanzibar") {
		t.Fatalf("nothing was injected: %s", r.header.Get("Hindsight-Status"))
	}
	w.flush()
	w.restart() // what was written is in the files
	if got := w.memories("heliodora"); len(got) != 1 || !strings.Contains(got[0].Text, "zanzibar") {
		t.Errorf("after a restart there is %v", got)
	}
	w.stop()
	err := filepath.WalkDir(w.env["HINDSIGHT_DATA_DIR"], func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, word := range []string{"zanzibar", "xylophone", "heliodora", "sk-reflection"} {
			if bytes.Contains(b, []byte(word)) {
				t.Errorf("%q lies open in %s", word, filepath.Base(path))
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}

	delete(w.env, "HINDSIGHT_ENCRYPTION_KEY_FILE")
	w.env["MEMORY"] = "off"
	w.start()
	w.until("the reason to name what is missing", func() bool {
		var ready struct{ Reason string }
		w.decode(w.admin(http.MethodGet, "/readyz", ""), &ready)
		return strings.Contains(ready.Reason, "HINDSIGHT_ENCRYPTION_KEY_FILE")
	})
	r = w.send(`{"model":"m","messages":[{"role":"user","content":"Which locker is mine?"}]}`, "Hindsight-User: heliodora")
	if r.status != http.StatusOK || strings.Contains(string(w.last().body), "zanzibar") {
		t.Errorf("without the key: %d, upstream got %s", r.status, w.last().body)
	}
}
