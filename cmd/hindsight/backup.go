package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"hindsight/store/badgerdb"
)

// The names of backups begin with their time, so that they lie in order.
const (
	backupTime = "20060102T150405.000Z"
	fullBackup = "-full.backup"
	moreBackup = "-more.backup"
)

// backupCmd is `hindsight backup`.
type backupCmd struct {
	reach
	Folder string `arg:"" help:"Where the backups lie. What is new since the last one there is added; the first is a full one."`
	Full   bool   `help:"Make a full one."`
	Keys   string `placeholder:"PATH" help:"Of an encrypted directory: replace this copy of its scope keys by the newest. Keep it apart from the backups, and no older one."`
}

// backupReport is the JSON form of what was done.
type backupReport struct {
	File     string `json:"file"`
	Full     bool   `json:"full"`
	Bytes    int64  `json:"bytes"`
	Rows     int    `json:"rows"`
	Identity bool   `json:"identity_key"` // a copy lies beside it
	Keys     string `json:"keys,omitempty"`
}

// Run writes one backup and reads it again before it counts.
func (c *backupCmd) Run(ctx context.Context, a *app) (err error) {
	if err := os.MkdirAll(c.Folder, 0o700); err != nil {
		return &failure{wrong: fmt.Sprintf("%s can't be made: %s", c.Folder, cause(err)), next: "Choose another place."}
	}
	cl, err := a.client(ctx, c.reach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.close()) }()
	r := backupReport{Full: true}
	q := c.query()
	switch chain, head, end, err := chainOf(backups(c.Folder)); {
	case c.Full:
	case err != nil:
		fmt.Fprintf(a.err, "%v: making a full backup.\n", err)
	case len(chain) > 0:
		r.Full = false
		q.Set("since", strconv.FormatUint(end.Until, 10))
		q.Set("directory", head.Directory)
	}
	q.Del("tenant") // a backup is of all
	body, err := cl.stream(ctx, http.MethodGet, "/api/v1/backup", q)
	var f *failure
	if errors.As(err, &f) && !r.Full && f.status == http.StatusConflict {
		fmt.Fprintln(a.err, "The data directory isn't the one of the last backup: making a full backup.")
		r.Full = true
		body, err = cl.stream(ctx, http.MethodGet, "/api/v1/backup", nil)
	}
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was read
	r.File = filepath.Join(c.Folder, time.Now().UTC().Format(backupTime)+moreBackup)
	if r.Full {
		r.File = strings.TrimSuffix(r.File, moreBackup) + fullBackup
	}
	end, err := a.keep(r.File, body, &r.Bytes)
	if err != nil {
		return err
	}
	r.Rows = end.Rows
	if r.Identity, r.Keys, err = c.copyKeys(a); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(r)
	}
	kind := "what is new"
	if r.Full {
		kind = "everything"
	}
	err = a.say("Backed up %s to %s: %d rows, %s.", kind, r.File, r.Rows, humanize.IBytes(uint64(r.Bytes)))
	if !r.Identity {
		err = errors.Join(err, a.say("The identity key isn't in %s: keep a copy of it, nothing can be restored without it.", c.Folder))
	}
	return err
}

// keep writes a backup by rename, when it has been read again and is whole.
func (a *app) keep(path string, body io.Reader, n *int64) (end badgerdb.BackupEnd, err error) {
	_, err = writeWhole(path, func(w io.Writer) (int, error) {
		shown := a.long("bytes", 0)
		defer shown.end()
		check, pipe := io.Pipe()
		read := make(chan error, 1)
		go func() {
			var err error
			_, end, err = badgerdb.ReadBackup(bufio.NewReader(check))
			check.CloseWithError(err)
			read <- err
		}()
		var err error
		*n, err = io.Copy(io.MultiWriter(w, pipe), body)
		pipe.CloseWithError(err) // nil: EOF
		return 0, errors.Join(err, <-read)
	})
	if err != nil {
		var f *failure
		if errors.As(err, &f) {
			return end, err
		}
		return end, &failure{wrong: fmt.Sprintf("the backup broke off: %v", err), next: "Look at the server's log, and back up again."}
	}
	return end, nil
}

// copyKeys puts a copy of the identity key beside the backups, where the data
// directory is on this machine and the key lies in it, and replaces the copy of
// the scopes' keys that --keys names.
func (c *backupCmd) copyKeys(a *app) (identity bool, keys string, err error) {
	cfg, err := load(settings{DataDir: c.DataDir}, a.config, a.env, false)
	if err != nil || c.Admin != "" {
		return false, "", err
	}
	err = copyFile(filepath.Join(cfg.Store.Dir, badgerdb.IdentityKeyName), filepath.Join(c.Folder, badgerdb.IdentityKeyName))
	identity = err == nil
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // configured elsewhere
	}
	if err != nil || c.Keys == "" {
		return identity, "", err
	}
	if err := copyFile(filepath.Join(cfg.Store.Dir, badgerdb.ScopeKeysName), c.Keys); err != nil {
		return identity, "", &failure{wrong: fmt.Sprintf("the scopes' keys can't be copied: %s", cause(err)), next: "Leave --keys out where the directory isn't encrypted."}
	}
	return identity, c.Keys, nil
}

// copyFile replaces a file that nobody else may read.
func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	_, err = writeWhole(to, func(w io.Writer) (int, error) { return w.Write(b) })
	return err
}

// backups lists a folder's, in order.
func backups(folder string) []string {
	list, _ := filepath.Glob(filepath.Join(folder, "*.backup")) // the pattern is good
	slices.Sort(list)
	return list
}

// chainOf is the last full backup of a list with those that follow it, as far as
// they can be read and fit, and what the last of them says. The error says which
// is the first of the list's that is left out, and why.
func chainOf(list []string) (chain []string, head badgerdb.BackupHead, end badgerdb.BackupEnd, err error) {
	first := max(0, len(list)-1)
	for first > 0 && !strings.HasSuffix(list[first], fullBackup) {
		first--
	}
	n, head, end, err := badgerdb.Follow(list[first:])
	return list[first : first+n], head, end, err
}
