package badgerdb

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/prometheus/client_golang/prometheus"

	"hindsight/store"
)

// refused starts a store that must not open, and returns the reason.
func refused(t *testing.T, cfg Config) string {
	t.Helper()
	cfg.Retry = time.Hour
	s := start(t, cfg)
	err := s.Ready(t.Context())
	var off *store.Off
	if !errors.As(err, &off) {
		t.Fatalf("Ready = %v, want a *store.Off", err)
	}
	if strings.ContainsAny(off.Reason, "\n") {
		t.Errorf("the reason has more than one line: %q", off.Reason)
	}
	if _, err := s.Key(); !errors.As(err, &off) {
		t.Errorf("Key of a closed store: %v, want *store.Off", err)
	}
	if _, _, err := s.Memories(t.Context(), store.MemoryFilter{}); !errors.As(err, &off) {
		t.Errorf("Memories of a closed store: %v, want *store.Off", err)
	}
	if err := s.Flush(t.Context()); !errors.As(err, &off) {
		t.Errorf("Flush of a closed store: %v, want *store.Off", err)
	}
	s.stop()
	return off.Reason
}

func wantIn(t *testing.T, reason string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(reason, p) {
			t.Errorf("the reason %q doesn't say %q", reason, p)
		}
	}
}

func TestFirstStartMakesAPrivateDirectoryAndKey(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	s := open(t, Config{Dir: dir})
	key := must[store.IdentityKey](t)(s.Key())
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, IdentityKeyName): 0o600} {
		if fi := must[os.FileInfo](t)(os.Stat(path)); fi.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, fi.Mode().Perm(), want)
		}
	}
	s.stop()
	again := open(t, Config{Dir: dir})
	if k := must[store.IdentityKey](t)(again.Key()); k != key {
		t.Error("the key changed with a restart")
	}
}

func TestConfiguredKeyFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "k")
	cfg := Config{Dir: t.TempDir(), IdentityKeyFile: file}
	wantIn(t, refused(t, cfg), file, "doesn't exist")

	write := func(b []byte) {
		if err := os.WriteFile(file, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write([]byte("too short"))
	if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("New with a malformed key file: %v", err)
	}
	raw := []byte(strings.Repeat("k", 32))
	write(raw)
	first := open(t, cfg)
	key := must[store.IdentityKey](t)(first.Key())
	first.stop()
	write([]byte(hex.EncodeToString(raw) + "\n"))
	if k := must[store.IdentityKey](t)(open(t, cfg).Key()); k != key {
		t.Error("the same key in hexadecimal digits reads differently")
	}
}

func TestConfigErrorsAreNamedTogether(t *testing.T) {
	t.Parallel()
	_, err := New(Config{Retry: -1, QueueBytes: -1})
	for _, want := range []string{"data directory", "retry", "queue bytes"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want it to name %q", err, want)
		}
	}
}

func TestLostAndForeignKeysTurnMemoryOff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, IdentityKeyName)
	s := open(t, Config{Dir: dir})
	put(t, s.Store, written("tea"))
	s.stop()
	key := must[[]byte](t)(os.ReadFile(file))

	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	wantIn(t, refused(t, Config{Dir: dir}), file, "missing")
	if _, err := os.Stat(file); err == nil {
		t.Fatal("a new key was put beside old data")
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("x", 32)), 0o600); err != nil {
		t.Fatal(err)
	}
	wantIn(t, refused(t, Config{Dir: dir}), "isn't the one")

	if err := os.WriteFile(file, key, 0o600); err != nil {
		t.Fatal(err)
	}
	if list, _, err := open(t, Config{Dir: dir}).Memories(t.Context(), store.MemoryFilter{}); err != nil || len(list) != 1 {
		t.Fatalf("with the right key back: %d memories, %v", len(list), err)
	}
}

func TestHeldLockNamesTheOwnerAndIsRetried(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, Config{Dir: dir})
	second := start(t, Config{Dir: dir, Retry: 10 * time.Millisecond})
	var off *store.Off
	if err := second.Ready(t.Context()); !errors.As(err, &off) || !off.Held {
		t.Fatalf("a second owner: %+v", err)
	}
	wantIn(t, off.Reason, "another hindsight owns", dir, "pid")
	first.stop()
	until(t, "the second to take over", func() bool { on, _ := second.State(); return on })
}

func TestForeignDirectoriesAreLeftAlone(t *testing.T) {
	t.Parallel()
	garbage := func(name, content string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, fill := range map[string]func(*testing.T, string){
		"photos":           garbage("photo.jpg", "x"),
		"garbage manifest": garbage("MANIFEST", strings.Repeat("garbage", 100)),
		"empty manifest":   garbage("MANIFEST", ""),
		"stray table":      garbage("000001.sst", "not a table"),
		"other badger": func(t *testing.T, dir string) {
			db := must[*badger.DB](t)(badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20)))
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir)
			wantIn(t, refused(t, Config{Dir: dir}), dir)
			if _, err := os.Stat(filepath.Join(dir, IdentityKeyName)); err == nil {
				t.Error("an identity key was made in it")
			}
		})
	}
	t.Run("a file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "f")
		garbage("f", "x")(t, filepath.Dir(path))
		wantIn(t, refused(t, Config{Dir: path}), "HINDSIGHT_DATA_DIR")
	})
}

func TestFilesThatMayLieBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, n := range []string{"admin-token", "hindsight.yaml", ".keep", "socket"} {
		if err := os.WriteFile(filepath.Join(dir, n), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, Config{Dir: dir})
}

// rewrite changes the format record of a closed directory.
func rewrite(t *testing.T, dir string, change func(txn *badger.Txn) error) {
	t.Helper()
	s := must[*Store](t)(New(Config{Dir: dir}))
	db := must[*badger.DB](t)(badger.Open(badgerOptions(dir, s)))
	if err := errors.Join(db.Update(change), db.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestOtherFormatsAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	key := must[store.IdentityKey](t)(s.Key())
	s.stop()
	for n, want := range map[int]string{format + 1: "newer hindsight", format - 1: "migrate"} {
		rewrite(t, dir, func(txn *badger.Txn) error {
			b, err := json.Marshal(formatRecord{Format: n, Fingerprint: key.Fingerprint()})
			return errors.Join(err, txn.Set([]byte{famFormat}, b))
		})
		wantIn(t, refused(t, Config{Dir: dir}), want)
	}
	rewrite(t, dir, func(txn *badger.Txn) error {
		return errors.Join(txn.Delete([]byte{famFormat}), txn.Set([]byte("x"), []byte("y")))
	})
	wantIn(t, refused(t, Config{Dir: dir}), "format record")
}

func TestFullDiskAtStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	space := uint64(1 << 20)
	cfg := Config{Dir: dir, Free: func(string) (uint64, error) { return space, nil }}
	wantIn(t, refused(t, cfg), "1 MiB", "128 MiB", "make room")
	if _, err := os.Stat(filepath.Join(dir, "MANIFEST")); err == nil {
		t.Error("Badger wrote to a full disk")
	}
}

func TestClosedStoreCountsDrops(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	s := must[*Store](t)(New(Config{Dir: t.TempDir(), Reg: reg}))
	s.Finish(said(ann, "s", "x", "hi", time.Now()))
	s.SaveWhy(store.Why{Exchange: "x"})
	if n := metric(t, reg, "hindsight_journal_dropped_total", itemFinish, dropOff); n != 1 {
		t.Errorf("%v exchanges dropped, want 1", n)
	}
	if on, reason := s.State(); on || reason != "starting" {
		t.Errorf("State before Run = %v, %q", on, reason)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Errorf("Run with an ended context: %v", err)
	}
}
