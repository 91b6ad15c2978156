package main

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hindsight/store/badgerdb"
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
	for _, word := range []string{"zanzibar", "xylophone", "heliodora", "sk-reflection"} {
		if in := filesHolding(t, w.env["HINDSIGHT_DATA_DIR"], word); in != nil {
			t.Errorf("%q lies open in %v", word, in)
		}
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

// After an erasure in an encrypted directory nothing of the scope can be read: not
// in its files, and not from yesterday's copy of them beside today's keys. Words are
// random and looked for as bytes.
func TestErasedNothingIsReadableInYesterdaysCopy(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts the product four times")
	}
	key := filepath.Join(t.TempDir(), "encryption.key")
	if err := os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "HINDSIGHT_ENCRYPTION_KEY_FILE="+key, "HINDSIGHT_TENANT=acme")
	memory, said, kept := "Quartz"+rand.Text(), "Zinnia"+rand.Text(), "Walnut"+rand.Text()
	w.remember("ann", `"text":"My locker is `+memory+`.","type":"user_fact"`)
	w.remember("bob", `"text":"My locker is `+kept+`.","type":"user_fact"`)
	talk := w.conversation("Hindsight-User: ann")
	if r := talk.say("Which locker is mine? I say " + said + "."); r.memory() != "injected" {
		t.Fatal(r.memory())
	}
	w.flush()
	w.stop()
	dir, yesterday := w.env["HINDSIGHT_DATA_DIR"], t.TempDir()
	if err := os.CopyFS(yesterday, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	nothing := func(when string) {
		t.Helper()
		if n := len(w.memories("ann")); n != 0 {
			t.Errorf("%s: %d memories", when, n)
		}
		if got := w.memories("bob"); len(got) != 1 || !strings.Contains(got[0].Text, kept) {
			t.Errorf("%s: another user has %q", when, texts(got))
		}
		if ids := w.sessions(); len(ids) != 0 {
			t.Errorf("%s: sessions %v", when, ids)
		}
		w.send(`{"model":"m","messages":[{"role":"user","content":"Which locker is mine?"}]}`, "Hindsight-User: ann")
		if bytes.Contains(w.last().body, []byte(memory)) {
			t.Errorf("%s: injected", when)
		}
	}
	w.start()
	w.admin(http.MethodDelete, "/api/v1/tenants/acme/scopes/user:ann", "")
	nothing("after the receipt")
	w.stop()
	for _, word := range []string{memory, said, kept} {
		if in := filesHolding(t, dir, word); in != nil {
			t.Errorf("%s lies open in %v", word, in)
		}
	}
	ring, err := os.ReadFile(filepath.Join(dir, badgerdb.ScopeKeysName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(yesterday, badgerdb.ScopeKeysName), ring, 0o600); err != nil {
		t.Fatal(err)
	}
	w.env["HINDSIGHT_DATA_DIR"] = yesterday
	w.start()
	nothing("yesterday's copy")
}

// filesHolding lists the files below a directory that hold a word.
func filesHolding(t *testing.T, dir, word string) (in []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // merged meanwhile
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if bytes.Contains(b, []byte(word)) {
			in = append(in, strings.TrimPrefix(path, dir))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
