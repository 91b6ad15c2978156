package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"hindsight/internal/bench"
	"hindsight/store"
	"hindsight/store/badgerdb"
)

// benchEraseCmd is `hindsight bench erase`.
type benchEraseCmd struct {
	Memories int    `default:"100000" help:"Memories in the scope."`
	Embedder string `default:"none" enum:"none,builtin" help:"none: without vectors; builtin: with them."`
	Rounds   int    `default:"3" help:"How often a directory of each kind is filled and erased, in turn."`
}

// eraseRow is how long erasures took in directories of one kind.
type eraseRow struct {
	Directory string          `json:"directory"`
	Erased    []time.Duration `json:"answered_ns"` // until the receipt was there
	Swept     []time.Duration `json:"swept_ns"`    // until the bytes had left the files
}

// Run fills directories, serves them and erases their scope.
func (c *benchEraseCmd) Run(ctx context.Context, a *app) error {
	if c.Memories < 1 || c.Rounds < 1 {
		return &failure{wrong: "--memories and --rounds: want 1 or more", code: exitUsage}
	}
	rows := []eraseRow{{Directory: "plain"}, {Directory: "encrypted"}}
	for range c.Rounds {
		for i := range rows {
			if err := c.round(ctx, a, &rows[i]); err != nil {
				return fmt.Errorf("%s: %w", rows[i].Directory, err)
			}
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"machine": bench.Machine(), "memories": c.Memories, "embedder": c.Embedder, "rows": rows})
	}
	if err := a.say("%s; one scope of %d memories, embedder %s; DELETE over HTTP, median (range) of %d", bench.Machine(), c.Memories, c.Embedder, c.Rounds); err != nil {
		return err
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Directory, seconds(r.Erased), seconds(r.Swept)})
	}
	return a.printTable([]string{"directory", "receipt after", "out of the files after"}, -1, cells)
}

// round fills one directory and erases it.
func (c *benchEraseCmd) round(ctx context.Context, a *app, row *eraseRow) (err error) {
	dir, err := os.MkdirTemp("", "hindsight-bench")
	if err != nil {
		return fmt.Errorf("make a directory for the benchmark: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	on := badgerdb.Config{Dir: filepath.Join(dir, "data")}
	if row.Directory == "encrypted" {
		if on.EncryptionKeyFile, err = benchKey(dir); err != nil {
			return err
		}
	}
	if err := a.fillOneScope(ctx, on, c.Memories, c.Embedder); err != nil {
		return err
	}
	cl, stop, err := startAPI(ctx, a, on, c.Embedder)
	if err != nil {
		return err
	}
	defer stop()
	path := erasedPath("bench", string(store.UserScope(scopeUser(0))))
	var rec store.Receipt
	began := time.Now()
	if _, err := cl.do(ctx, http.MethodDelete, path, nil, nil, &rec); err != nil {
		return err
	}
	row.Erased = append(row.Erased, time.Since(began))
	if rec.Memories != c.Memories {
		return fmt.Errorf("the receipt counts %d memories, want %d", rec.Memories, c.Memories)
	}
	for rec.State != store.ErasureDone {
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return err
		}
		if _, err := cl.do(ctx, http.MethodGet, path+"/erasure", nil, nil, &rec); err != nil {
			return err
		}
	}
	row.Swept = append(row.Swept, time.Since(began))
	return nil
}

// benchKey writes an encryption key.
func benchKey(dir string) (string, error) {
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return "", fmt.Errorf("draw a key for the benchmark: %w", err)
	}
	path := filepath.Join(dir, "encryption.key")
	if err := os.WriteFile(path, key, 0o600); err != nil {
		return "", fmt.Errorf("write a key for the benchmark: %w", err)
	}
	return path, nil
}

// seconds is the spread of some times.
func seconds(all []time.Duration) string {
	in := make([]float64, len(all))
	for i, d := range all {
		in[i] = d.Seconds()
	}
	s := bench.SpreadOf(in)
	return fmt.Sprintf("%.2f s (%.2f to %.2f)", s.Median, s.Min, s.Max)
}
