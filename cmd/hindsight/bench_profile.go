package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"hindsight/internal/bench"
)

// profiles says where time and memory go: each load that several connections
// send, and the requests held open, once more to a process that watches itself.
// These figures are no part of the comparison.
func (cmd *benchProxyCmd) profiles(ctx context.Context, b *benchStack, loads []bench.Load, r *benchReport) error {
	for _, c := range b.contestants {
		if !c.records {
			continue
		}
		for _, l := range loads {
			if l.Conns == 1 {
				continue
			}
			dir, err := cmd.profiled(ctx, b, r, func(p *benchProcess) error {
				b.shown.doing("profile of %s, %s", l.Name, c.name)
				var numbers atomic.Int64
				_, err := bench.Drive(ctx, c.target(p), l, &numbers)
				return err
			})
			if err != nil {
				return err
			}
			if err := r.profile("time", l.Name, c.name, filepath.Join(dir, profileTime), "cpu"); err != nil {
				return err
			}
			if err := r.profile("allocated", l.Name, c.name, filepath.Join(dir, profileAll), "alloc_space"); err != nil {
				return err
			}
		}
		if !cmd.Full {
			continue
		}
		dir, err := cmd.profiled(ctx, b, r, func(p *benchProcess) error {
			b.shown.doing("profile of %d requests held, %s", cmd.Held, c.name)
			_, err := bench.Hold(ctx, c.target(p), b.upstream.url, cmd.Held, bench.Histories(150_000, 60))
			return err
		})
		if err != nil {
			return err
		}
		if err := r.profile("held", fmt.Sprintf("%d requests of 150 KB held open", cmd.Held), c.name, filepath.Join(dir, profileHeap), "inuse_space"); err != nil {
			return err
		}
	}
	return nil
}

// profiled starts a server that profiles itself, has it driven and stops it. Its
// profiles are in the directory that it returns.
func (cmd *benchProxyCmd) profiled(ctx context.Context, b *benchStack, r *benchReport, drive func(*benchProcess) error) (string, error) {
	dir := filepath.Join(cmd.Profile, fmt.Sprintf("%02d", len(r.Profiles)+1))
	p, err := b.serve(ctx, "--profile", dir)
	if err != nil {
		return "", err
	}
	defer p.stop() // writes the rest of the profile
	return dir, drive(p)
}

func (r *benchReport) profile(what, load, target, path, kind string) error {
	shares, err := bench.ReadProfile(path, kind)
	if err != nil {
		return err
	}
	r.Profiles = append(r.Profiles, bench.Profile{What: what, Load: load, Target: target, Shares: shares})
	return nil
}
