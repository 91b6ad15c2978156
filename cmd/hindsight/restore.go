package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"hindsight/store/badgerdb"
)

// restoreCmd is `hindsight restore`.
type restoreCmd struct {
	Folder  string  `arg:"" help:"Where the backups lie."`
	DataDir setting `name:"data-dir" key:"data_dir" placeholder:"PATH" help:"The directory to make; it must not hold data."`
	Until   string  `placeholder:"FILE" help:"The last backup to take; the newest where left out."`
	Keys    string  `placeholder:"PATH" help:"Of an encrypted directory: the newest copy of its scope keys."`
	Check   bool    `help:"Read every byte of the backups, restore them to a place of their own, open that, and leave nothing behind."`
}

// restoreReport is the JSON form of what was done.
type restoreReport struct {
	Files    []string  `json:"files"`
	Dir      string    `json:"dir,omitempty"`
	Made     time.Time `json:"made"` // the last of them
	Tenants  int       `json:"tenants"`
	Memories int       `json:"memories"`
	Sessions int       `json:"sessions"`
}

func (r *restoreReport) holds() string {
	return fmt.Sprintf("%s and %s of %s", number(r.Memories, "memory", "memories"), number(r.Sessions, "session", "sessions"), number(r.Tenants, "tenant", "tenants"))
}

// Run restores and opens what it has restored: a directory that can't be opened
// isn't a backup.
func (c *restoreCmd) Run(ctx context.Context, a *app) error {
	files, head, err := c.files()
	if err != nil {
		return err
	}
	cfg, err := load(settings{DataDir: c.DataDir}, a.config, a.env, false)
	if err != nil {
		return err
	}
	keys, err := c.keys(cfg, head)
	if err != nil {
		return err
	}
	dir := cfg.Store.Dir
	if c.Check {
		if dir, err = os.MkdirTemp("", "hindsight-check-"); err != nil {
			return fmt.Errorf("make a place to restore to: %w", err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		cfg.Store.Dir = dir
	}
	if _, _, err := badgerdb.Restore(ctx, dir, files); err != nil {
		return &failure{wrong: err.Error(), next: "Choose other backups (--until), or another --data-dir."}
	}
	for name, from := range keys {
		if err := copyFile(from, filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("put %s beside the data: %w", name, err)
		}
	}
	r := restoreReport{Files: files, Made: head.Made}
	if !c.Check {
		r.Dir = dir
	}
	if err := a.count(ctx, cfg, &r); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	if c.Check {
		return a.say("The backups are whole: %s, the last of %s, hold %s.", number(len(files), "file", "files"), head.Made.Format(time.RFC3339), r.holds())
	}
	return a.say("Restored to %s as it was at %s: %s. What was forgotten since is there again.", dir, head.Made.Format(time.RFC3339), r.holds())
}

// files is the full backup to begin with and what follows it, and the last one's head.
func (c *restoreCmd) files() (chain []string, head badgerdb.BackupHead, err error) {
	list := backups(c.Folder)
	if c.Until != "" {
		i := slices.IndexFunc(list, func(p string) bool { return filepath.Base(p) == filepath.Base(c.Until) })
		if i < 0 {
			return nil, head, &failure{wrong: fmt.Sprintf("there is no backup %s in %s", c.Until, c.Folder), next: "Name one that lies there.", code: exitUsage}
		}
		list = list[:i+1]
	}
	chain, head, _, err = chainOf(list)
	switch {
	case len(list) == 0:
		return nil, head, &failure{wrong: "there are no backups in " + c.Folder, next: "Name the folder that `hindsight backup` wrote to.", code: exitUsage}
	case len(chain) == 0:
		return nil, head, &failure{wrong: fmt.Sprintf("the full backup in %s is missing or damaged: %v", c.Folder, err), next: "Choose an earlier one with --until."}
	case err != nil:
		return nil, head, &failure{wrong: err.Error(), next: fmt.Sprintf("Restore what is before it: --until %s.", filepath.Base(chain[len(chain)-1]))}
	}
	return chain, head, nil
}

// keys are the files to be put beside the restored data, by their names there.
func (c *restoreCmd) keys(cfg Config, head badgerdb.BackupHead) (map[string]string, error) {
	keys := map[string]string{}
	if cfg.Identity.KeyFile == "" {
		keys[badgerdb.IdentityKeyName] = filepath.Join(c.Folder, badgerdb.IdentityKeyName)
	}
	if head.Encryption != "" {
		if c.Keys == "" || cfg.Store.KeyFile == "" {
			return nil, &failure{wrong: "the backup is encrypted, and --keys or HINDSIGHT_ENCRYPTION_KEY_FILE isn't given", next: "Name the newest copy of scopes.keys with --keys, and the key file that it is under.", code: exitUsage}
		}
		keys[badgerdb.ScopeKeysName] = c.Keys
	}
	for name, from := range keys {
		if _, err := os.Stat(from); err != nil {
			return nil, &failure{wrong: fmt.Sprintf("%s can't be read from %s: %s", name, from, cause(err)), next: "Put it there; without it nothing of the backup can be used. (An identity key may also lie where HINDSIGHT_IDENTITY_KEY_FILE says.)"}
		}
	}
	return keys, nil
}

// count opens a directory and counts what it holds.
func (a *app) count(ctx context.Context, cfg Config, r *restoreReport) (err error) {
	st, shut, err := runStore(ctx, directoryOf(cfg))
	if err != nil {
		return unusable(cfg.Store.Dir, err)
	}
	defer func() { err = errors.Join(err, shut()) }()
	tenants, err := st.Tenants(ctx)
	if err != nil {
		return err
	}
	r.Tenants = len(tenants)
	for _, t := range tenants {
		for _, s := range t.Scopes {
			r.Sessions += s.Sessions
			for _, n := range s.Memories {
				r.Memories += n
			}
		}
	}
	return nil
}
