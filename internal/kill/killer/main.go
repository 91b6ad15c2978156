// Command killer runs the kill harness on a built binary and prints what it
// found. It exits 1 when anything was lost or doubled.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"hindsight/internal/kill"
)

func main() {
	binary := flag.String("binary", "bin/hindsight", "the binary to kill")
	rounds := flag.Int("rounds", 5, "how many kills")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the random moments")
	workers := flag.Int("workers", 8, "conversations at a time")
	flag.Parse()
	if err := run(*binary, *rounds, *seed, *workers); err != nil {
		fmt.Fprintln(os.Stderr, "killer:", err)
		os.Exit(1)
	}
}

func run(binary string, rounds int, seed uint64, workers int) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	path, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "kill")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	keyless, err := kill.Keyless(ctx, kill.Config{Command: []string{path}, Dir: filepath.Join(dir, "keyless"), Log: os.Stderr})
	if err != nil {
		return fmt.Errorf("killed without a key: %w", err)
	}
	fmt.Fprintf(os.Stderr, "seed %d\n", seed)
	life, err := kill.Life(ctx, kill.Config{
		Command: []string{path}, Dir: filepath.Join(dir, "life"), Rounds: rounds, Seed: seed,
		Least: 200 * time.Millisecond, Most: time.Second, Log: os.Stderr,
	})
	if err != nil {
		return fmt.Errorf("killed while memories merge: %w", err)
	}
	fmt.Fprintf(os.Stderr, "life: %d of %d groups are one memory, %d corrections\n", life.Merged, life.Groups, life.Corrections)
	rep, err := kill.Run(ctx, kill.Config{
		Command: []string{path}, Dir: filepath.Join(dir, "rounds"), Rounds: rounds, Seed: seed, Workers: workers,
		Least: 500 * time.Millisecond, Most: 3 * time.Second, Log: os.Stderr,
	})
	rep.Faults = append(append(rep.Faults, keyless...), life.Faults...)
	out, _ := json.MarshalIndent(rep, "", "  ") // plain fields only
	fmt.Println(string(out))
	if err != nil {
		return err
	}
	if len(rep.Faults) > 0 {
		return fmt.Errorf("%d faults with seed %d", len(rep.Faults), seed)
	}
	return nil
}
