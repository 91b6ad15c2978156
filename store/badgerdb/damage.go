package badgerdb

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"
	"github.com/dgraph-io/badger/v4/table"
)

// DamageName is the file in the data directory that says what an opening found to
// be lost, one line each, until somebody takes it away.
const DamageName = "hindsight-damage.log"

// Badger trusts its files. A table that is cut off ends the process, a block that
// can't be read ends a merge or an iteration as if nothing followed, a log is cut
// where it can't be read, and a table that a cut-off manifest doesn't name is
// removed. So all of them are read before Badger opens them.

// findings is what is wrong with a directory's files.
type findings struct {
	bad     []string // with these it can't be opened
	lost    []string // it can; this isn't in it
	useless []string // files that hold nothing and that Badger stumbles over
}

func (f *findings) none() bool { return len(f.bad)+len(f.lost)+len(f.useless) == 0 }

// checkedTable is a table that was read and found good.
type checkedTable struct {
	size    int64
	time    time.Time
	version uint64 // the highest in it
}

// inspect looks at a directory's files before they are opened. What is lost is
// said and counted; what can't be opened is a *store.Off. Files of a directory
// that another process holds change meanwhile: what is found there counts for
// nothing, and opening says who holds it.
func (s *Store) inspect() error {
	found, err := s.look()
	if err != nil || found.none() {
		return err
	}
	unlock, ok := lockDir(s.cfg.Dir)
	if !ok {
		return nil
	}
	defer unlock()
	if found, err = s.look(); err != nil {
		return err
	}
	if n := len(found.bad); n > 0 {
		more := ""
		if n > 1 {
			more = fmt.Sprintf(", and %d more", n-1)
		}
		return off("the data in %s is damaged: %s%s: %s", s.cfg.Dir, found.bad[0], more, mendDamage)
	}
	for _, name := range found.useless {
		if err := os.Remove(filepath.Join(s.cfg.Dir, name)); err != nil {
			return err
		}
		s.log.Info("remove a file that holds nothing and can't be read", "file", name)
	}
	if s.examining {
		return lostError(found.lost)
	}
	return s.noteLost(found.lost)
}

// mendDamage is the next step where a directory is damaged.
const mendDamage = "restore a backup (hindsight restore FOLDER --data-dir NEW), or move the directory away to begin anew"

// lostError says what an opening would leave behind.
func lostError(lost []string) error {
	if len(lost) == 0 {
		return nil
	}
	return off("%s: hindsight serve opens what is left; restore a backup where something is missing", strings.Join(lost, "; "))
}

// noteLost says, counts and notes what is lost.
func (s *Store) noteLost(lost []string) error {
	if len(lost) == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(s.cfg.Dir, DamageName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	for _, what := range lost {
		s.metrics.lost.Inc()
		s.log.Error("data was lost", "what", what, "next", "restore a backup where something is missing")
		if err == nil {
			_, err = fmt.Fprintf(f, "%s %s\n", s.now().Format(time.RFC3339), what)
		}
	}
	if f != nil {
		err = errors.Join(err, f.Sync(), f.Close())
	}
	return err
}

// look reads a directory's files. The error is that of a manifest which can't be
// read or isn't ours.
func (s *Store) look() (found findings, err error) {
	dir := s.cfg.Dir
	list, err := os.ReadDir(dir)
	if err != nil {
		return found, err
	}
	m, cut, err := s.readManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return found, nil // it becomes a directory of ours
	}
	if err != nil {
		return found, s.explain(err)
	}
	newest := uint64(0)
	for _, id := range slices.Sorted(maps.Keys(m.Tables)) {
		version, err := s.tableVersion(table.NewFilename(id, dir), m.Tables[id].Compression)
		if err != nil {
			found.bad = append(found.bad, err.Error())
		}
		newest = max(newest, version)
	}
	var unnamed []string
	logs, died, opened := 0, false, false
	for _, e := range list {
		name := e.Name()
		path := filepath.Join(dir, name)
		switch {
		case name == "LOCK":
			died = true // a process that ends takes it away
		case name == "DISCARD":
			opened = true // it is made behind the log
		case filepath.Ext(name) == ".mem":
			logs++
			l, err := readLog(path)
			if err != nil {
				return found, err
			}
			newest = max(newest, l.version)
			if l.lost > 0 {
				found.lost = append(found.lost, fmt.Sprintf("%s: %d bytes of the log can't be read, and what was committed with them is lost", name, l.lost))
			}
		case filepath.Ext(name) == ".sst":
			if id, ok := table.ParseFileID(name); ok {
				if _, named := m.Tables[id]; !named {
					unnamed = append(unnamed, name)
				}
			}
		}
		if holdsNothing(path) {
			found.useless = append(found.useless, name)
		}
	}
	if died && opened && logs == 0 {
		found.lost = append(found.lost, "the process was killed and its log (*.mem) is missing: what was committed last may be lost")
	}
	if cut {
		for _, name := range unnamed {
			if version, err := s.tableVersion(filepath.Join(dir, name), options.Snappy); err == nil && version > newest {
				found.bad = append(found.bad, fmt.Sprintf("MANIFEST is cut off and doesn't name %s", name))
			}
		}
	}
	return found, nil
}

// readManifest reads which tables there are, and whether the file ends amid a
// change.
func (s *Store) readManifest() (m badger.Manifest, cut bool, err error) {
	f, err := os.Open(filepath.Join(s.cfg.Dir, badger.ManifestFilename))
	if err != nil {
		return m, false, err
	}
	defer func() { _ = f.Close() }() // it was read
	fi, err := f.Stat()
	if err != nil {
		return m, false, err
	}
	m, whole, err := badger.ReplayManifestFile(f, magic, badgerOptions(s.cfg.Dir, s))
	return m, whole < fi.Size(), err
}
