// Package soak runs the real binary for a long time under what happens to a
// server: clients that leave, upstreams that fail, Weaviate that goes and comes,
// users who come and are erased. [Run] reports what grew and which counters don't
// add up.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"hindsight/internal/kill"
	"hindsight/internal/weaviateserver"
)

// Config says what is run and for how long.
type Config struct {
	Command  []string // the binary and what comes before "serve"'s own flags
	Dir      string   // an empty data directory
	For      time.Duration
	Workers  int
	Seed     uint64
	Weaviate string // the program of its server; empty: there is none
	Log      io.Writer
}

// Report says what was done and what didn't hold.
type Report struct {
	Seed      uint64         `json:"seed"`
	Seconds   float64        `json:"seconds"`
	Sent      map[string]int `json:"sent"`      // requests by what happened to them
	Forwarded int            `json:"forwarded"` // requests that the upstream has seen
	Refused   int            `json:"refused"`   // by Hindsight itself
	Requests  float64        `json:"requests"`  // as /metrics counts them
	Exchanges int            `json:"exchanges"` // that have to be recorded
	Journal   float64        `json:"journalled"`
	Dropped   float64        `json:"dropped"`
	Erased    int            `json:"erased"` // users
	Interrupt int            `json:"interruptions"`
	Slopes    []Slope        `json:"slopes"` // over the last half
	Faults    []string       `json:"faults"`
}

// long is from when on slopes are held to an hour's bound.
const long = 10 * time.Minute

// Run plays the load. The error is for the harness's own trouble.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	up, err := newUpstream()
	if err != nil {
		return nil, err
	}
	defer up.stop()
	child := kill.Config{Command: cfg.Command, Dir: cfg.Dir, Weaviate: cfg.Weaviate, Log: cfg.Log, Env: []string{
		"HINDSIGHT_MAX_BODY=256KiB", "HINDSIGHT_IDENTITY_TRUST_HEADERS=true",
	}}
	shared, err := kill.Share(&child)
	if err != nil {
		return nil, err
	}
	defer shared.End()
	c, err := kill.Start(ctx, child, up.base)
	if err != nil {
		return nil, err
	}
	defer c.Kill()
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = cfg.Workers
	l := &load{cfg: cfg, c: c, http: &http.Client{Transport: transport}, up: up, rep: &Report{Seed: cfg.Seed, Sent: map[string]int{}, Faults: []string{}}}
	if cfg.For >= long {
		if err := l.fill(ctx); err != nil {
			return l.rep, fmt.Errorf("fill what is held in memory: %w", err)
		}
	}
	begun := time.Now()
	busy, stop := context.WithTimeout(ctx, cfg.For)
	defer stop()
	var all sync.WaitGroup
	errs := make([]error, cfg.Workers+1)
	for w := range cfg.Workers {
		all.Go(func() { errs[w] = l.client(busy, w) })
	}
	var server *weaviateserver.Server
	if shared != nil {
		server = shared.Server
	}
	var samples []sample
	all.Go(func() { samples, errs[cfg.Workers] = l.periods(busy, server) })
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return l.rep, err
	}
	l.rep.Seconds = time.Since(begun).Seconds()
	if err := l.addUp(ctx); err != nil {
		return l.rep, err
	}
	l.rep.Slopes = slopes(samples)
	for _, s := range l.rep.Slopes {
		if why := s.grows(cfg.For); why != "" {
			l.rep.Faults = append(l.rep.Faults, why)
		}
	}
	return l.rep, nil
}

// periodsIn are those that the time is cut into. In each the clients rest once, and
// what the binary holds is measured; then Weaviate hangs for a while or, every other
// time in a long run, is gone.
func periodsIn(ran time.Duration) int {
	if ran >= long {
		return 24
	}
	return 12
}

func (l *load) periods(ctx context.Context, server *weaviateserver.Server) (all []sample, err error) {
	periods := periodsIn(l.cfg.For)
	half := l.cfg.For / time.Duration(periods) / 2
	const rest = 1500 * time.Millisecond
	begun := time.Now()
	var low least
	watching, stop := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer stop()
	watch.Go(func() { l.watch(watching, &low) })
	for n := range periods {
		pause(ctx, half-rest)
		l.resting.Lock() // waits for the requests that were begun
		l.http.CloseIdleConnections()
		pause(ctx, rest)
		s, err := l.sample(time.Since(begun))
		l.resting.Unlock()
		if err != nil {
			return all, err
		}
		low.take(&s)
		all = append(all, s)
		if server == nil {
			pause(ctx, half)
			continue
		}
		gone := n%2 == 1 && l.cfg.For >= long
		if gone {
			server.Kill()
		} else if err := server.Hang(); err != nil {
			return all, fmt.Errorf("hang Weaviate: %w", err)
		}
		pause(ctx, half)
		if err := back(server, gone); err != nil {
			return all, err
		}
		l.rep.Interrupt++
	}
	return all, nil
}

func back(server *weaviateserver.Server, gone bool) error {
	if gone {
		return server.Start()
	}
	return server.Continue()
}

// pause waits, and says whether there is time left.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
