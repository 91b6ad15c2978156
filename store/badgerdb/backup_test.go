package badgerdb

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hindsight/store"
)

// backUp writes a backup to a file.
func backUp(t *testing.T, s *Store, after string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "backup")
	since, directory := uint64(0), ""
	if after != "" {
		head, end, err := checkFile(after)
		if err != nil {
			t.Fatal(err)
		}
		since, directory = end.Until, head.Directory
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Backup(t.Context(), f, since, directory)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// restored opens what backups hold, with the keys of the directory they are of.
func restored(t *testing.T, of Config, files ...string) running {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	if _, _, err := Restore(t.Context(), dir, files); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{IdentityKeyName, ScopeKeysName} {
		b, err := os.ReadFile(filepath.Join(of.Dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	of.Dir = dir
	return open(t, of)
}

func TestABackupHoldsWhatWasThere(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]string{"plain": "", "Encrypted": keyFile(t, 1, 32)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := Config{Dir: t.TempDir(), EncryptionKeyFile: key}
			s := open(t, cfg)
			first := lived(t, s.Store, ann, "thyme")
			full := backUp(t, s.Store, "")
			second := lived(t, s.Store, bob, "oregano")
			if _, err := s.EraseMemory(t.Context(), first.ID); err != nil {
				t.Fatal(err)
			}
			if err := s.squeeze(s.h); err != nil { // what was deleted leaves no trace
				t.Fatal(err)
			}
			more := backUp(t, s.Store, full)
			last := backUp(t, s.Store, more)
			if a, b := fileSize(t, full), fileSize(t, last); b > a {
				t.Errorf("an incremental backup of nothing is %d bytes, the full one %d", b, a)
			}

			r := restored(t, cfg, full)
			if got := text(t, r.Store, first.ID); got != first.Text {
				t.Errorf("of the full one: %q", got)
			}
			r = restored(t, cfg, full, more, last)
			if _, err := r.Memory(t.Context(), first.ID); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("what was erased between two backups came back: %v", err)
			}
			if got := text(t, r.Store, second.ID); got != second.Text {
				t.Errorf("of all three: %q", got)
			}
			xs, err := r.Exchanges(t.Context(), bob, "s-bob", 0, 9)
			if err != nil || len(xs) != 1 || !strings.Contains(xs[0].Events[0].Text, "oregano") {
				t.Errorf("the conversation: %v, %v", xs, err)
			}
			if a, b := rows(t, s.Store), rows(t, r.Store); a != b+1 { // the directory's name
				t.Errorf("%d rows there, %d here", a, b)
			}
			// It is a directory of its own: what is written on doesn't mix.
			if err := r.Backup(t.Context(), &bytes.Buffer{}, 1, dirName(t, s.Store)); !errors.Is(err, store.ErrStale) {
				t.Errorf("an incremental backup after another directory's: %v", err)
			}
			lived(t, r.Store, ann, "chervil")
		})
	}
}

func fileSize(t *testing.T, path string) int64 {
	t.Helper()
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return fi.Size()
}

func rows(t *testing.T, s *Store) (n int) {
	t.Helper()
	if err := s.view(func(v view) error {
		for r := range v.rows(nil, nil) {
			if !bytes.Equal(r.item.Key(), passing()) { // a squeeze may be at work
				n++
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// A backup that is made while the memtable is written out has nothing of it.
func TestABackupHoldsNothingThatPasses(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	s := open(t, cfg)
	if err := s.change(func(tx *tx) error { return tx.set(passing(), nil, 0, 0) }); err != nil {
		t.Fatal(err)
	}
	r := restored(t, cfg, backUp(t, s.Store, ""))
	if err := r.view(func(v view) error { _, err := v.row(passing()); return err }); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
}

func dirName(t *testing.T, s *Store) string {
	t.Helper()
	name, err := s.Directory(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// A backup in which any byte is another, or that ends early, is refused, and the
// directory isn't begun.
func TestADamagedBackupIsRefused(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	lived(t, s.Store, ann, "thyme")
	full := backUp(t, s.Store, "")
	more := backUp(t, s.Store, full)
	good, err := os.ReadFile(full)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name string, files ...string) {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "restored")
		if _, _, err := Restore(t.Context(), dir, files); err == nil {
			t.Errorf("%s was restored", name)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s left a directory behind", name)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad")
	write := func(b []byte) {
		if err := os.WriteFile(bad, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := 0; i < len(good); i += 1 + len(good)/97 {
		b := bytes.Clone(good)
		b[i] ^= 0x10
		write(b)
		refused("a backup with another byte "+string(rune('0'+i%10)), bad)
		write(good[:i])
		refused("a backup that ends early", bad)
	}
	refused("an incremental one alone", more)
	refused("two full ones", full, full)
	refused("nothing")
}

// What can't be restored doesn't count, nor what comes after it.
func TestBackupsAreCountedAsFarAsTheyFollow(t *testing.T) {
	t.Parallel()
	s := open(t, Config{Dir: t.TempDir()})
	lived(t, s.Store, ann, "thyme")
	full := backUp(t, s.Store, "")
	lived(t, s.Store, ann, "oregano")
	more := backUp(t, s.Store, full)
	lived(t, s.Store, ann, "chervil")
	last := backUp(t, s.Store, more)
	other := backUp(t, open(t, Config{Dir: t.TempDir()}).Store, "")
	cut := filepath.Join(t.TempDir(), "cut")
	b, err := os.ReadFile(more)
	if err == nil {
		err = os.WriteFile(cut, b[:len(b)-1], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		files []string
		want  int
	}{
		"none":                         {nil, 0},
		"all":                          {[]string{full, more, last}, 3},
		"one is missing":               {[]string{full, last}, 1},
		"an incremental one alone":     {[]string{more, last}, 0},
		"one is cut off":               {[]string{full, cut, last}, 1},
		"one is gone":                  {[]string{full, more, filepath.Join(t.TempDir(), "none")}, 2},
		"another directory's is in it": {[]string{full, other, more}, 1},
	} {
		n, head, end, err := Follow(c.files)
		if n != c.want || (err == nil) != (n == len(c.files)) {
			t.Errorf("%s: %d, %v, want %d", name, n, err, c.want)
		}
		if n == 0 {
			continue
		}
		if h, e, err := checkFile(c.files[n-1]); err != nil || h != head || e != end {
			t.Errorf("%s: %+v, %+v, %v aren't the last one's", name, head, end, err)
		}
	}
}

func TestNothingIsRestoredOverData(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir()}
	s := open(t, cfg)
	m := lived(t, s.Store, ann, "thyme")
	full := backUp(t, s.Store, "")
	s.stop()
	if _, _, err := Restore(t.Context(), cfg.Dir, []string{full}); err == nil || !strings.Contains(err.Error(), "isn't empty") {
		t.Errorf("Restore = %v", err)
	}
	s = open(t, cfg)
	if got := text(t, s.Store, m.ID); got != m.Text {
		t.Errorf("afterwards: %q", got)
	}
}
