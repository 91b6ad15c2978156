package main

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
)

// snapshot is a directory's files, as a process that was killed left them or one
// that stopped. Zeros at a file's end are room in a log.
type snapshot map[string]savedFile

type savedFile struct {
	data []byte
	size int64
}

func snap(t *testing.T, dir string) snapshot {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := snapshot{}
	for _, e := range list {
		if !e.Type().IsRegular() {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		s[e.Name()] = savedFile{bytes.TrimRight(b, "\x00"), int64(len(b))}
	}
	return s
}

// put makes a directory of the files.
func (s snapshot) put(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, f := range s {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, f.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, f.size); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// named are the names with an ending, in order.
func (s snapshot) named(ending string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(s)) {
		if strings.HasSuffix(name, ending) {
			names = append(names, name)
		}
	}
	return names
}

// spoiled is the same but for the last file with an ending, which spoil changes;
// nil takes it away.
func (s snapshot) spoiled(t *testing.T, ending string, spoil func(b []byte) []byte) snapshot {
	t.Helper()
	names := s.named(ending)
	if len(names) == 0 {
		t.Fatalf("there is no %s among %v", ending, slices.Sorted(maps.Keys(s)))
	}
	name, out := names[len(names)-1], maps.Clone(s)
	if spoil == nil {
		delete(out, name)
		return out
	}
	f := s[name]
	b := spoil(bytes.Clone(f.data))
	size := f.size
	if len(b) != len(f.data) { // cut off
		size = int64(len(b))
	}
	out[name] = savedFile{b, size}
	return out
}

// cutTo leaves a part of a file, garbledAt changes bytes at one place of it.
func cutTo(part float64) func([]byte) []byte {
	return func(b []byte) []byte { return b[:int(part*float64(len(b)))] }
}

func garbledAt(part float64) func([]byte) []byte {
	return func(b []byte) []byte {
		at := int(part * float64(len(b)))
		for i := at; i < min(at+16, len(b)); i++ {
			b[i] ^= 0xa5
		}
		return b
	}
}

const restoreFirst = "hindsight restore"

// Whatever is wrong with the files of the directory: requests are forwarded, and
// either what is left is served or memory is off and says why; doctor says what is
// wrong and what to do.
func TestDamagedDirectory(t *testing.T) {
	t.Parallel()
	for name, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if encrypted && testing.Short() {
				t.Skip("the plain one is enough for a short test")
			}
			damagedDirectory(t, encrypted)
		})
	}
}

// fault is one fault. Where words is empty memory is on, with what is kept.
type fault struct {
	files  snapshot
	words  string // of the reason for which memory is off
	kept   int    // of the two memories, where it is on
	doctor string // what it says before the start; empty: nothing is wrong
	next   string
	lost   string // what it says afterwards
}

func damagedDirectory(t *testing.T, encrypted bool) {
	var env []string
	if encrypted {
		key := filepath.Join(t.TempDir(), "encryption.key")
		if err := os.WriteFile(key, bytes.Repeat([]byte("k"), 32), 0o600); err != nil {
			t.Fatal(err)
		}
		env = append(env, "HINDSIGHT_ENCRYPTION_KEY_FILE="+key)
	}
	w := newWorld(t, env...)
	dir := w.env["HINDSIGHT_DATA_DIR"]
	w.remember("local", `"text":"The user's cat is called Mitzi.","type":"user_fact"`)
	w.restart() // what was written lies in a table now
	w.remember("local", `"text":"The user's boat is called Marlin.","type":"user_fact"`)
	w.remember("bob", `"text":"The user's dog is called Rex.","type":"user_fact"`)
	w.flush()
	killed := snap(t, dir)
	w.stop()
	stopped := snap(t, dir)
	if len(stopped.named(".sst")) != 2 || len(killed.named(".mem")) != 1 {
		t.Fatalf("the files are %v and %v", slices.Sorted(maps.Keys(stopped)), slices.Sorted(maps.Keys(killed)))
	}

	table := func(spoil func([]byte) []byte, words string) fault {
		return fault{stopped.spoiled(t, ".sst", spoil), words, 0, "000002.sst", restoreFirst, ""}
	}
	whole := func(s snapshot, ending string, spoil func([]byte) []byte) fault {
		return fault{files: s.spoiled(t, ending, spoil), kept: 2}
	}
	faults := map[string]fault{
		"nothing, stopped":         {files: stopped, kept: 2},
		"nothing, killed":          {files: killed, kept: 2},
		"table cut off":            table(cutTo(0.6), "can't be read"),
		"table emptied":            table(cutTo(0), "it is cut off"),
		"table garbled in a block": table(garbledAt(0.1), "its block 0"),
		"table garbled at its end": table(garbledAt(0.99), "000002.sst"),
		"table missing":            table(nil, "000002.sst is missing"),
		"manifest cut off":         {stopped.spoiled(t, "MANIFEST", cutTo(0.9)), "MANIFEST is cut off and doesn't name 000002.sst", 0, "doesn't name 000002.sst", restoreFirst, ""},
		"manifest garbled":         {stopped.spoiled(t, "MANIFEST", garbledAt(0.9)), restoreFirst, 0, "checksum mismatch", restoreFirst, ""},
		"manifest missing":         {stopped.spoiled(t, "MANIFEST", nil), "its MANIFEST is missing", 0, "its MANIFEST is missing", restoreFirst, ""},
		"log cut off":              {files: killed.spoiled(t, ".mem", cutTo(0.3)), kept: 1, doctor: "00001.mem", next: "estore a backup", lost: "00001.mem"},
		"log garbled":              {files: killed.spoiled(t, ".mem", garbledAt(0.3)), kept: 1, doctor: "00001.mem", next: "estore a backup", lost: "00001.mem"},
		"log missing":              {files: killed.spoiled(t, ".mem", nil), kept: 1, doctor: "its log (*.mem) is missing", next: "estore a backup", lost: "its log (*.mem) is missing"},
		"log empty beside a table": func() fault {
			d := fault{files: maps.Clone(stopped), kept: 2} // a kill between emptying and removing
			d.files["00003.mem"] = savedFile{}
			return d
		}(),
		"value log cut off":      whole(stopped, ".vlog", cutTo(0.5)),
		"value log emptied":      whole(stopped, ".vlog", cutTo(0)),
		"value log garbled":      whole(killed, ".vlog", garbledAt(0)),
		"value log missing":      whole(killed, ".vlog", nil),
		"DISCARD cut off":        whole(stopped, "DISCARD", func([]byte) []byte { return []byte{1, 2, 3} }),
		"DISCARD missing":        whole(killed, "DISCARD", nil),
		"key registry garbled":   whole(stopped, "KEYREGISTRY", garbledAt(0.7)),
		"key registry cut off":   whole(killed, "KEYREGISTRY", cutTo(0.5)),
		"key registry missing":   whole(stopped, "KEYREGISTRY", nil),
		"identity key cut off":   {stopped.spoiled(t, "identity.key", cutTo(0.5)), "identity.key", 0, "identity.key", "ut the right one back", ""},
		"identity key missing":   {stopped.spoiled(t, "identity.key", nil), "identity.key", 0, "identity.key", "ut it back", ""},
		"another identity key":   {stopped.spoiled(t, "identity.key", func([]byte) []byte { return bytes.Repeat([]byte("ab"), 32) }), "isn't the one", 0, "isn't the one", "ut the right one back", ""},
		"other program's files":  {snapshot{"thesis.tex": {[]byte("x"), 1}}, "thesis.tex", 0, "thesis.tex", "HINDSIGHT_DATA_DIR", ""},
		"other program's Badger": {snap(t, badgerOf(t, 0, nil)), "belongs to another program", 0, "belongs to another program", "HINDSIGHT_DATA_DIR", ""},
		"a future format": {snap(t, badgerOf(t, 0x4853, map[string]string{"v": `{"format":99,"identity_key":"x"}`})),
			"format 99", 0, "format 99", "newer hindsight", ""},
	}
	if encrypted { // what differs
		maps.DeleteFunc(faults, func(name string, _ fault) bool {
			return name != "nothing, killed" && name != "table garbled in a block" && name != "log garbled"
		})
		maps.Copy(faults, map[string]fault{
			"scopes' keys missing":             {stopped.spoiled(t, "scopes.keys", nil), "scopes.keys is missing", 0, "scopes.keys is missing", "ut it back", ""},
			"scopes' keys cut off":             {stopped.spoiled(t, "scopes.keys", cutTo(0.5)), "read a scope's key", 0, "read a scope's key", "the newest copy of", ""},
			"scopes' keys garbled at the head": {stopped.spoiled(t, "scopes.keys", garbledAt(0)), "isn't a file of scope keys", 0, "isn't a file of scope keys", "back from a backup", ""},
			"a scope's key garbled":            {files: stopped.spoiled(t, "scopes.keys", garbledAt(0.9)), kept: 2, doctor: "1 of the scopes can't be read", next: "the newest copy of"},
		})
	}
	for _, name := range slices.Sorted(maps.Keys(faults)) {
		if testing.Short() && name != "table cut off" && name != "log garbled" {
			continue
		}
		t.Run(name, func(t *testing.T) { w.t = t; faults[name].show(w) })
	}
	w.t = t
}

// show starts the product over the damaged files.
func (d fault) show(w *world) {
	t := w.t
	dir := d.files.put(t)
	w.env["HINDSIGHT_DATA_DIR"] = dir
	s := &shell{t, maps.Clone(w.env)}
	s.env["HINDSIGHT_LISTEN"] = "127.0.0.1:1"
	code := 0
	if d.doctor != "" {
		code = 1
	}
	said := diagnose(t, s, code)["data"]
	if d.doctor == "" && said.Result != checkOK || !strings.Contains(said.Found, d.doctor) || !strings.Contains(said.Next, d.next) {
		t.Errorf("doctor: %+v, want %q and %q", said, d.doctor, d.next)
	}
	w.env["MEMORY"] = "on"
	if d.words != "" {
		w.env["MEMORY"] = "off"
	}
	from := time.Now()
	w.start()
	if d.words != "" {
		w.bystander(from, d.words)
		w.stop()
		for name, f := range d.files { // it can still be saved
			if filepath.Ext(name) == ".vlog" {
				continue // it holds nothing, and Badger makes another at each opening
			}
			if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(bytes.TrimRight(b, "\x00"), bytes.TrimRight(f.data, "\x00")) {
				t.Errorf("%s isn't as it was (%v)", name, err)
			}
		}
		return
	}
	if r := w.send(`{"model":"scripted-1","messages":[{"role":"user","content":"Hello there."}]}`); r.status != http.StatusOK {
		t.Errorf("forwarding: %d", r.status)
	}
	if got := w.memories("local"); len(got) != d.kept {
		t.Errorf("%d memories are there, want %d: %v", len(got), d.kept, got)
	}
	w.restart() // and it opens again
	if got := w.memories("local"); len(got) != d.kept {
		t.Errorf("%d memories are there after a restart, want %d", len(got), d.kept)
	}
	w.stop()
	if d.lost == "" {
		return
	}
	said = diagnose(t, s, 0)["data"]
	if said.Result != checkWarn || !strings.Contains(said.Found, d.lost) || !strings.Contains(said.Next, restoreFirst) {
		t.Errorf("doctor afterwards: %+v, want %q", said, d.lost)
	}
}

// badgerOf makes a directory of Badger's with some rows.
func badgerOf(t *testing.T, magic uint16, rows map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithMemTableSize(8 << 20).WithExternalMagic(magic))
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(txn *badger.Txn) error {
		for k, v := range rows {
			if err := txn.Set([]byte(k), []byte(v)); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}
