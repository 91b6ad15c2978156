package badgerdb

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hindsight/store"
)

// keyFile writes an encryption key of n bytes.
func keyFile(t testing.TB, fill byte, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "encryption.key")
	if err := os.WriteFile(path, bytes.Repeat([]byte{fill}, n), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// onDisk lists the files of a directory that hold a text as it is.
func onDisk(t testing.TB, dir, text string) (in []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(text)) {
			in = append(in, filepath.Base(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// lived fills a store with what a user leaves: a memory with a revision, a
// conversation, a block in the ledger, why it was chosen, a tombstone.
func lived(t *testing.T, s *Store, o store.Owner, secret string) store.Memory {
	t.Helper()
	m, _, err := s.PutMemory(t.Context(), store.Memory{Tenant: o.Tenant, Scope: o.Scope(), Type: store.UserFact, Text: "The code word is " + secret + "."})
	if err != nil {
		t.Fatal(err)
	}
	m, err = s.EditMemory(t.Context(), m.ID, func(m *store.Memory) error { m.Text += " Still " + secret + "."; return nil })
	if err != nil {
		t.Fatal(err)
	}
	gone, _, err := s.PutMemory(t.Context(), store.Memory{Tenant: o.Tenant, Scope: o.Scope(), Type: store.UserFact, Text: "Once it was " + secret + "-old."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.ForgetMemory(t.Context(), gone.ID); err != nil {
		t.Fatal(err)
	}
	at := s.now()
	s.Finish(said(o, "s-"+o.User, store.ExchangeID("s-"+o.User, "1"), "My code word is "+secret+".", at))
	s.SaveLedger([]store.LedgerEntry{{Owner: o, Session: "s-" + o.User, Key: store.Hash{1}, Text: "note: " + secret, Created: at, LastUsed: at}})
	s.SaveWhy(store.Why{Exchange: store.ExchangeID("s-"+o.User, "1"), Session: "s-" + o.User, Owner: o, Query: "what about " + secret})
	flush(t, s)
	return m
}

func text(t *testing.T, s *Store, id string) string {
	t.Helper()
	m, err := s.Memory(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return m.Text
}

func TestNothingOfAScopeLiesOpenInAnEncryptedDirectory(t *testing.T) {
	t.Parallel()
	for _, n := range []int{16, 24, 32} {
		cfg := Config{Dir: t.TempDir(), EncryptionKeyFile: keyFile(t, 7, n)}
		s := open(t, cfg)
		m := lived(t, s.Store, store.Owner{Tenant: "tenantname", User: "username"}, "heliotrope")
		if err := s.squeeze(s.h); err != nil {
			t.Fatal(err)
		}
		s.stop()
		for _, word := range []string{"heliotrope", "username", "tenantname", "code word"} {
			if in := onDisk(t, cfg.Dir, word); in != nil {
				t.Errorf("key of %d bytes: %q lies open in %v", n, word, in)
			}
		}
		s = open(t, cfg)
		if got := text(t, s.Store, m.ID); got != m.Text {
			t.Errorf("after a restart the memory says %q", got)
		}
		list, err := s.Exchanges(t.Context(), store.Owner{Tenant: "tenantname", User: "username"}, "s-username", 0, 9)
		if err != nil || len(list) != 1 || !strings.Contains(list[0].Events[0].Text, "heliotrope") {
			t.Errorf("Exchanges = %v, %v", list, err)
		}
		s.stop()
	}
}

func TestTheWrongEncryptionKeyTurnsMemoryOff(t *testing.T) {
	t.Parallel()
	right := keyFile(t, 1, 32)
	dir := t.TempDir()
	s := open(t, Config{Dir: dir, EncryptionKeyFile: right})
	m := lived(t, s.Store, ann, "saffron")
	s.stop()
	ring := filepath.Join(dir, ScopeKeysName)
	hidden := ring + ".away"
	for name, c := range map[string]struct {
		cfg    Config
		hide   bool
		reason string
	}{
		"none":                {cfg: Config{}, reason: "HINDSIGHT_ENCRYPTION_KEY_FILE"},
		"another":             {cfg: Config{EncryptionKeyFile: keyFile(t, 2, 32)}, reason: "isn't the one"},
		"two others":          {cfg: Config{EncryptionKeyFile: keyFile(t, 2, 32), OldEncryptionKeyFile: keyFile(t, 3, 32)}, reason: "isn't the one"},
		"no keyring":          {cfg: Config{EncryptionKeyFile: right}, hide: true, reason: "missing"},
		"a file of 5 bytes":   {cfg: Config{EncryptionKeyFile: keyFile(t, 1, 5)}, reason: "16"},
		"a file that's away":  {cfg: Config{EncryptionKeyFile: filepath.Join(dir, "nowhere")}, reason: "key file"},
		"an old one of 5 too": {cfg: Config{EncryptionKeyFile: right, OldEncryptionKeyFile: keyFile(t, 1, 5)}, reason: "old encryption key"},
	} {
		if c.hide {
			if err := os.Rename(ring, hidden); err != nil {
				t.Fatal(err)
			}
		}
		c.cfg.Dir = dir
		r := start(t, c.cfg)
		_ = r.Ready(t.Context())
		if on, reason := r.State(); on || !strings.Contains(reason, c.reason) {
			t.Errorf("%s: on %v, reason %q; want %q in it", name, on, reason, c.reason)
		}
		r.stop()
		if c.hide {
			if err := os.Rename(hidden, ring); err != nil {
				t.Fatal(err)
			}
		}
	}
	s = open(t, Config{Dir: dir, EncryptionKeyFile: right})
	if got := text(t, s.Store, m.ID); got != m.Text {
		t.Errorf("after all that the memory says %q", got)
	}
}

func TestADirectoryBecomesEncrypted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	m := lived(t, s.Store, ann, "bergamot")
	s.stop()
	if onDisk(t, dir, "bergamot") == nil {
		t.Fatal("the text isn't on disk before either: the test proves nothing")
	}
	cfg := Config{Dir: dir, EncryptionKeyFile: keyFile(t, 1, 32)}
	s = open(t, cfg)
	until(t, "what was there before to be sealed", func() bool {
		b, err := s.rawFormat()
		return err == nil && bytes.Contains(b, []byte(encryptedWholly))
	})
	s.stop()
	if in := onDisk(t, dir, "bergamot"); in != nil {
		t.Errorf("the text still lies open in %v", in)
	}
	s = open(t, cfg)
	if got := text(t, s.Store, m.ID); got != m.Text {
		t.Errorf("afterwards the memory says %q", got)
	}
}

func (s *Store) rawFormat() (b []byte, err error) {
	err = s.view(func(v view) error { b, err = v.raw([]byte{famFormat}); return err })
	return b, err
}

func TestTheEncryptionKeyRotates(t *testing.T) {
	t.Parallel()
	dir, first, second := t.TempDir(), keyFile(t, 1, 32), keyFile(t, 2, 16)
	s := open(t, Config{Dir: dir, EncryptionKeyFile: first})
	m := lived(t, s.Store, ann, "tamarind")
	lived(t, s.Store, bob, "sumac")
	if _, err := s.EraseScope(t.Context(), bob.Tenant, bob.Scope()); err != nil {
		t.Fatal(err)
	}
	s.stop()
	for range 2 { // the old key may stay in the settings
		s = open(t, Config{Dir: dir, EncryptionKeyFile: second, OldEncryptionKeyFile: first})
		if got := text(t, s.Store, m.ID); got != m.Text {
			t.Errorf("under the new key the memory says %q", got)
		}
		s.stop()
	}
	s = start(t, Config{Dir: dir, EncryptionKeyFile: first})
	_ = s.Ready(t.Context())
	if on, _ := s.State(); on {
		t.Error("the old key still opens it")
	}
	s.stop()
	open(t, Config{Dir: dir, EncryptionKeyFile: second})
}

// copyDir copies a closed store's files but the keyring: that is what a backup
// of before holds.
func copyDir(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	list, err := os.ReadDir(from)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if !e.Type().IsRegular() || e.Name() == ScopeKeysName {
			continue
		}
		b, err := os.ReadFile(filepath.Join(from, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(to, e.Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func TestErasingAScopeMakesYesterdaysBackupUnreadable(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir(), EncryptionKeyFile: keyFile(t, 1, 32)}
	s := open(t, cfg)
	goes, stays := lived(t, s.Store, ann, "cardamom"), lived(t, s.Store, bob, "fenugreek")
	s.stop()
	backup := copyDir(t, cfg.Dir)
	s = open(t, cfg)
	if _, err := s.EraseScope(t.Context(), ann.Tenant, ann.Scope()); err != nil {
		t.Fatal(err)
	}
	again := lived(t, s.Store, ann, "juniper") // the scope may go on
	s.stop()

	ring, err := os.ReadFile(filepath.Join(cfg.Dir, ScopeKeysName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(backup, ScopeKeysName), ring, 0o600); err != nil {
		t.Fatal(err)
	}
	old := start(t, Config{Dir: backup, EncryptionKeyFile: cfg.EncryptionKeyFile})
	_ = old.Ready(t.Context())
	if m, err := old.Memory(t.Context(), goes.ID); err == nil {
		t.Errorf("the backup still says %q", m.Text)
	}
	if on, reason := old.State(); on {
		if got := text(t, old.Store, stays.ID); got != stays.Text {
			t.Errorf("the other user's memory says %q", got)
		}
	} else {
		t.Errorf("the backup doesn't open: %s", reason)
	}
	s = open(t, cfg)
	if got := text(t, s.Store, again.ID); got != again.Text {
		t.Errorf("what was learned since says %q", got)
	}
}

func TestAFailedChangeLeavesNoKeyBehind(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir(), EncryptionKeyFile: keyFile(t, 1, 32)}
	s := open(t, cfg)
	no := errors.New("no")
	at := s.h.at("acme", ann.Scope())
	err := s.change(func(tx *tx) error {
		if err := tx.putPlain(join(famText, at[:], make([]byte, hashLen)), []byte("x"), 0, 0); err != nil {
			return err
		}
		if _, err := tx.row(join(famText, at[:], make([]byte, hashLen))); err != nil {
			return err
		}
		if _, err := tx.dataKey(at); err != nil {
			return err
		}
		return no
	})
	if !errors.Is(err, no) {
		t.Fatal(err)
	}
	m := lived(t, s.Store, ann, "sorrel")
	s.stop()
	s = open(t, cfg)
	if got := text(t, s.Store, m.ID); got != m.Text {
		t.Errorf("after a restart the memory says %q", got)
	}
}

// A process that is killed between taking a key's row away and overwriting the
// key leaves a note of it.
func TestAnOpeningFinishesDestroyingKeys(t *testing.T) {
	t.Parallel()
	cfg := Config{Dir: t.TempDir(), EncryptionKeyFile: keyFile(t, 1, 32)}
	s := open(t, cfg)
	lived(t, s.Store, ann, "lovage")
	at := s.h.at(ann.Tenant, ann.Scope())
	var slot int64
	err := s.change(func(tx *tx) (err error) {
		if slot, err = tx.slot(at); err != nil {
			return err
		}
		return tx.set(doomedKey(slot), at[:], 0, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = open(t, cfg)
	if _, err := s.h.keys.read(at, slot); !errors.Is(err, errKeyDestroyed) {
		t.Errorf("the key: %v", err)
	}
	if err := s.view(func(v view) error { _, err := v.row(doomedKey(slot)); return err }); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the note of it: %v", err)
	}
}

func TestRetentionSurvivesEncrypting(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, Config{Dir: dir})
	lived(t, s.Store, ann, "anise")
	key := func(v view) (at uint64, n int) {
		for r := range v.rows([]byte{famLedger}, nil) {
			at, n = r.item.ExpiresAt(), n+1
		}
		return at, n
	}
	var before, after uint64
	var rows int
	if err := s.view(func(v view) error { before, _ = key(v); return nil }); err != nil {
		t.Fatal(err)
	}
	s.stop()
	s = open(t, Config{Dir: dir, EncryptionKeyFile: keyFile(t, 1, 32)})
	until(t, "what was there before to be sealed", func() bool {
		b, err := s.rawFormat()
		return err == nil && bytes.Contains(b, []byte(encryptedWholly))
	})
	if err := s.view(func(v view) error { after, rows = key(v); return nil }); err != nil {
		t.Fatal(err)
	}
	if d := time.Duration(int64(after)-int64(before)) * time.Second; rows != 1 || d < -5*time.Second || d > 5*time.Second {
		t.Errorf("%d ledger entries, the retention moved by %v", rows, d)
	}
}
