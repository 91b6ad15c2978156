package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"hindsight/store/badgerdb"
)

// exportCmd is `hindsight export`.
type exportCmd struct {
	reach
	Scope    string `placeholder:"SCOPE" help:"One scope with its agents' parts, such as user:alice; all of the tenant's where left out."`
	Memories bool   `help:"Memories alone, without their older revisions and the conversations."`
	Output   string `short:"o" placeholder:"PATH" help:"Write to this file, which others can't read, instead of printing."`
}

// Run prints everything of a scope, one JSON object a line, with --json too.
func (c *exportCmd) Run(ctx context.Context, a *app) (err error) {
	cl, err := a.client(ctx, c.reach)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cl.close()) }()
	q := c.query()
	put(q, "scope", c.Scope)
	if !c.Memories {
		q.Set("everything", "true")
	}
	body, err := cl.stream(ctx, http.MethodGet, "/api/v1/export", q)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }() // it was read
	if c.Output == "" {
		_, err = copyLines(a.out, body, nil)
		return err
	}
	n, err := writeWhole(c.Output, func(w io.Writer) (int, error) {
		shown := a.long("lines", 0)
		defer shown.end()
		return copyLines(w, body, shown)
	})
	if err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"lines": n, "file": c.Output})
	}
	return a.say("Exported %s to %s.", number(n, "line", "lines"), c.Output)
}

// copyLines copies an export and counts its lines. The error says that it broke
// off.
func copyLines(w io.Writer, r io.Reader, shown *bar) (int, error) {
	in := bufio.NewReader(r)
	for n := 0; ; n++ {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return n, nil
		}
		if err != nil {
			return n, &failure{wrong: fmt.Sprintf("the export broke off after %d lines: %v", n, err), next: "Export again."}
		}
		if bytes.HasPrefix(line, []byte(`{"kind":"error"`)) {
			var said struct{ Detail string }
			_ = json.Unmarshal(line, &said) // without words it broke off all the same
			return n, &failure{wrong: said.Detail, next: "Export again."}
		}
		if _, err := w.Write(line); err != nil {
			return n, fmt.Errorf("write the export: %w", err)
		}
		shown.at(n + 1)
	}
}

// writeWhole writes a file by rename: it is there whole or not at all, and on the
// disk when this returns.
func writeWhole(path string, fill func(io.Writer) (int, error)) (n int, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*") // 0600
	if err != nil {
		return 0, &failure{wrong: fmt.Sprintf("%s can't be written: %s", path, cause(err)), next: "Choose another place with --output."}
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already after the rename
	w := bufio.NewWriter(f)
	if n, err = fill(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = badgerdb.SyncDir(filepath.Dir(path))
	}
	return n, err
}
