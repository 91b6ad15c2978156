// Command soaker runs the endurance harness on a built binary and prints what it
// found. It exits 1 when something grew or counters don't add up. With -leak it
// builds a binary that loses a goroutine in every hundredth request, and exits 1
// when that isn't found.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"hindsight/internal/mutant"
	"hindsight/internal/soak"
)

func main() {
	binary := flag.String("binary", "bin/hindsight", "the binary to run; -leak builds its own")
	leak := flag.Bool("leak", false, "build with a leak that must be found")
	long := flag.Duration("for", 20*time.Minute, "how long")
	workers := flag.Int("workers", 8, "clients at a time")
	seed := flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of what happens to requests")
	flag.Parse()
	cfg := soak.Config{For: *long, Workers: *workers, Seed: *seed, Weaviate: os.Getenv("HINDSIGHT_TEST_WEAVIATE"), Log: os.Stderr}
	if err := run(cfg, *binary, *leak); err != nil {
		fmt.Fprintln(os.Stderr, "soaker:", err)
		os.Exit(1)
	}
}

func run(cfg soak.Config, binary string, leak bool) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if binary, err = filepath.Abs(binary); err != nil {
		return err
	}
	if leak {
		binary = filepath.Join(dir, "hindsight")
		if err := mutant.Build(ctx, binary, soak.Leak()...); err != nil {
			return err
		}
	}
	cfg.Command, cfg.Dir = []string{binary}, filepath.Join(dir, "data")
	rep, err := soak.Run(ctx, cfg)
	out, _ := json.MarshalIndent(rep, "", "  ") // plain fields only
	fmt.Println(string(out))
	switch {
	case err != nil:
		return err
	case !leak && len(rep.Faults) > 0:
		return fmt.Errorf("%d faults with seed %d", len(rep.Faults), cfg.Seed)
	case leak && !soak.Found(rep):
		return fmt.Errorf("the leak wasn't found with seed %d", cfg.Seed)
	case leak:
		fmt.Fprintln(os.Stderr, "the leak was found, as it must be")
	}
	return nil
}
