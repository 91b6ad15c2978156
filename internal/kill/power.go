package kill

import (
	_ "embed"
	"errors"
	"fmt"
	"os"

	"hindsight/internal/kill/z"
	"hindsight/internal/mutant"
)

//go:embed z/synced.go
var copying string

// Power lists the changes of a binary whose power can fail: each sync of a file in
// its data directory, Badger's and ours, is kept in the copy that the harness
// lets it begin the next life with.
func Power() []mutant.Edit {
	const (
		badger    = "github.com/dgraph-io/badger/v4"
		ristretto = "github.com/dgraph-io/ristretto/v2"
		imports   = "import (\n"
		withZ     = imports + "\t\"" + ristretto + "/z\"\n"
		sync      = "k.file.Sync()"
		synced    = "z.SyncFile(k.file)"
		drawn     = "; err != nil {\n\t\treturn fmt.Errorf(\"sync the"
		destroyed = "; err != nil {\n\t\treturn fmt.Errorf(\"destroy"
	)
	return []mutant.Edit{
		{Module: ristretto, File: "z/synced.go", New: copying},
		{Module: ristretto, File: "z/file.go", Old: "return Msync(m.Data)", New: "if err := Msync(m.Data); err != nil {\n\t\treturn err\n\t}\n\treturn Synced(m.Fd)"},
		{Module: ristretto, File: "z/file.go", Old: "df.Sync()", New: "SyncFile(df)"},
		{Module: badger, File: "table/table.go", Old: "z.Msync(mf.Data)", New: "mf.Sync()"},
		{Module: badger, File: "dir_unix.go", Old: imports, New: withZ},
		{Module: badger, File: "dir_unix.go", Old: "f.Sync()", New: "z.SyncFile(f)"},
		{Module: badger, File: "manifest.go", Old: imports, New: withZ},
		{Module: badger, File: "manifest.go", Old: " f.Sync()", New: " z.SyncFile(f)"},
		{Module: badger, File: "manifest.go", Old: "fp.Sync()", New: "z.SyncFile(fp)"},
		{Module: badger, File: "key_registry.go", Old: imports, New: withZ},
		{ // it is opened so that each write is synced
			Module: badger, File: "key_registry.go", Old: "\t// In Windows the files",
			New: "\tif err := z.SyncFile(fp); err != nil {\n\t\treturn err\n\t}\n\t// In Windows the files",
		},
		{File: "store/badgerdb/identity.go", Old: imports, New: withZ},
		{File: "store/badgerdb/identity.go", Old: "f.Sync()", New: "z.SyncFile(f)"},
		{File: "store/badgerdb/identity.go", Old: "d.Sync()", New: "z.SyncFile(d)"},
		{File: "store/badgerdb/keyring.go", Old: imports, New: withZ},
		{File: "store/badgerdb/keyring.go", Old: " f.Sync()", New: " z.SyncFile(f)"},
		{File: "store/badgerdb/keyring.go", Old: sync + drawn, New: synced + drawn},
		{File: "store/badgerdb/keyring.go", Old: sync + destroyed, New: synced + destroyed},
	}
}

// lose drops what wasn't synced: the directory becomes what the copy holds.
func (cfg *Config) lose() error {
	if cfg.Synced == "" {
		return nil
	}
	err := errors.Join(os.RemoveAll(cfg.Dir), os.Rename(cfg.Synced, cfg.Dir))
	if err == nil {
		err = os.CopyFS(cfg.Synced, os.DirFS(cfg.Dir))
	}
	if err != nil {
		return fmt.Errorf("lose what isn't synced: %w", err)
	}
	return nil
}

// syncedTo makes the copy, and tells a child where it is.
func (cfg *Config) syncedTo() ([]string, error) {
	if cfg.Synced == "" {
		return nil, nil
	}
	for _, dir := range []string{cfg.Dir, cfg.Synced} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make the copy of what is synced: %w", err)
		}
	}
	return []string{z.SyncedTo + "=" + cfg.Synced}, nil
}
