// Package bench compares the proxy with calling the upstream directly, with Go's
// own reverse proxy and with nginx: interleaved rounds in one run on one
// machine, so that ratios hold even where absolute times don't. It speaks raw
// HTTP/1.1 over kept-alive connections, to cost little itself.
//
// [Compare] measures requests, [Streams] a chunk's way through, [Hold] memory.
package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Target is something to send requests to.
type Target struct {
	Name   string
	URL    string // of the chat completions endpoint
	Header http.Header
	PID    int // of the process whose CPU time counts; 0: none
}

// Load is one kind of traffic.
type Load struct {
	Name   string
	Script func() Script // of one connection
	Header http.Header   // added to the target's
	Conns  int
	For    time.Duration
}

// Result is what one target did under one load in one round.
type Result struct {
	Requests int
	Failed   int
	Injected int // requests whose answer says so
	P50, P99 time.Duration
	PerSec   float64
	CPU      time.Duration // of the target's process, for each request
}

// trailing is what a target gets to end its own work in, so that it counts as
// its own and doesn't disturb the next.
const trailing = 200 * time.Millisecond

// Drive sends the load to the target and measures it. Requests are numbered by
// the counter.
func Drive(ctx context.Context, t Target, l Load, numbers *atomic.Int64) (Result, error) {
	driving, cancel := context.WithTimeout(ctx, l.For)
	defer cancel()
	parts := make([]part, l.Conns)
	var wg sync.WaitGroup
	before, start := CPU(t.PID), time.Now()
	for i := range parts {
		wg.Go(func() { parts[i].drive(driving, t, l, numbers) })
	}
	wg.Wait()
	wall := time.Since(start)
	select {
	case <-time.After(trailing):
	case <-ctx.Done():
		return Result{}, ctx.Err()
	}
	used := CPU(t.PID) - before
	r, err := sum(parts, wall, used)
	if err != nil {
		return r, fmt.Errorf("drive %s: %w", t.Name, err)
	}
	if r.Requests == 0 {
		return r, fmt.Errorf("drive %s: no request was answered in %s", t.Name, l.For)
	}
	return r, nil
}

// sum makes one result of what the connections did meanwhile; its times are zero
// where no request was answered. The error is a connection's.
func sum(parts []part, wall, used time.Duration) (r Result, err error) {
	var all []time.Duration
	for _, p := range parts {
		if p.err != nil {
			return r, p.err
		}
		all = append(all, p.took...)
		r.Failed += p.failed
		r.Injected += p.injected
	}
	if len(all) == 0 {
		return r, nil
	}
	slices.Sort(all)
	r.Requests = len(all)
	r.P50, r.P99 = all[len(all)/2], all[len(all)*99/100]
	r.PerSec = float64(len(all)) / wall.Seconds()
	r.CPU = used / time.Duration(len(all))
	return r, nil
}

// mostFailed is how many broken exchanges of a connection are counted and gone
// on from.
const mostFailed = 20

// part is what one connection did.
type part struct {
	took             []time.Duration
	failed, injected int
	err              error
}

func (p *part) drive(ctx context.Context, t Target, l Load, numbers *atomic.Int64) {
	c, err := dial(ctx, t, l.Header)
	if err != nil {
		p.err = err
		return
	}
	defer func() {
		if c != nil {
			c.close()
		}
	}()
	next := l.Script()
	var answer []byte
	for ctx.Err() == nil {
		body := next(int(numbers.Add(1)), answer)
		start := time.Now()
		got, err := c.ask(body)
		if err != nil {
			// A proxy that breaks a connection now and then is counted for it.
			c.close()
			if p.failed++; p.failed > mostFailed {
				p.err = err
				return
			}
			if c, err = dial(ctx, t, l.Header); err != nil {
				if ctx.Err() == nil {
					p.err = err
				}
				return
			}
			continue
		}
		p.took = append(p.took, time.Since(start))
		answer = got.body
		if got.status != http.StatusOK {
			p.failed++
		}
		if got.header.Get("Hindsight-Status") == "injected" {
			p.injected++
		}
	}
}
