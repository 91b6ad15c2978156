// Command killer runs the kill harness on a built binary and prints what it
// found. It exits 1 when anything was lost or doubled.
//
// With -power it builds a binary whose power can fail, and each kill drops what
// wasn't synced. With -encrypted the directory is. With -fault it builds one that breaks a promise, and exits 1
// when the harness doesn't find it.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"hindsight/internal/kill"
	"hindsight/internal/mutant"
)

type options struct {
	binary, fault string
	power         bool
	encrypted     bool
	rounds        int
	seed          uint64
	workers       int
}

func main() {
	var o options
	known := slices.Sorted(maps.Keys(kill.Faults()))
	flag.StringVar(&o.binary, "binary", "bin/hindsight", "the binary to kill; -power and -fault build their own")
	flag.BoolVar(&o.power, "power", false, "let the power fail: what isn't synced is lost")
	flag.BoolVar(&o.encrypted, "encrypted", false, "encrypt the data directory")
	flag.StringVar(&o.fault, "fault", "", "build with a fault that must be found: "+strings.Join(known, ", "))
	flag.IntVar(&o.rounds, "rounds", 20, "how many kills")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()), "seed of the random moments")
	flag.IntVar(&o.workers, "workers", 6, "conversations at a time")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "killer:", err)
		os.Exit(1)
	}
}

func (o *options) run() (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "kill")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	binary, err := o.build(ctx, dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "seed %d\n", o.seed)
	cfg := kill.Config{
		Command: []string{binary}, Dir: filepath.Join(dir, "data"), Rounds: o.rounds, Seed: o.seed, Workers: o.workers,
		Least: 500 * time.Millisecond, Most: 3 * time.Second, Weaviate: os.Getenv("HINDSIGHT_TEST_WEAVIATE"), Log: os.Stderr,
	}
	if o.power {
		cfg.Synced = filepath.Join(dir, "synced")
	}
	if o.encrypted {
		key := filepath.Join(dir, "key")
		if err := os.WriteFile(key, bytes.Repeat([]byte{'k'}, 32), 0o600); err != nil {
			return err
		}
		cfg.Env = []string{"HINDSIGHT_ENCRYPTION_KEY_FILE=" + key}
	}
	var keyless []string
	if !o.power && o.fault == "" {
		keyless, err = kill.Keyless(ctx, kill.Config{Command: cfg.Command, Dir: filepath.Join(dir, "keyless"), Log: os.Stderr})
		if err != nil {
			return fmt.Errorf("killed without a key: %w", err)
		}
	}
	rep, err := kill.Run(ctx, cfg)
	rep.Faults = append(rep.Faults, keyless...)
	out, _ := json.MarshalIndent(rep, "", "  ") // plain fields only
	fmt.Println(string(out))
	return o.verdict(rep, err)
}

// verdict is the error of a run: faults, or none where one was built in.
func (o *options) verdict(rep *kill.Report, err error) error {
	n := len(rep.Faults)
	switch {
	case o.fault == "" && err != nil:
		return err
	case o.fault == "" && n > 0:
		return fmt.Errorf("%d faults with seed %d", n, o.seed)
	case o.fault != "" && n == 0:
		return errors.Join(fmt.Errorf("the fault %q wasn't found with seed %d", o.fault, o.seed), err)
	case o.fault != "":
		fmt.Fprintf(os.Stderr, "the fault %q was found, as it must be: %d things don't hold\n", o.fault, n)
	}
	return nil
}

// build is the path of the binary to kill.
func (o *options) build(ctx context.Context, dir string) (string, error) {
	if !o.power && o.fault == "" {
		return filepath.Abs(o.binary)
	}
	var edits []mutant.Edit
	if o.power {
		edits = kill.Power()
	}
	if o.fault != "" {
		more, ok := kill.Faults()[o.fault]
		if !ok {
			return "", fmt.Errorf("no fault is named %q", o.fault)
		}
		edits = append(edits, more...)
	}
	binary := filepath.Join(dir, "hindsight")
	return binary, mutant.Build(ctx, binary, edits...)
}
